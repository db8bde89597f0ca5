// SPDX-License-Identifier: Apache-2.0
// Accuracy goals, confidence levels and durations as people write them. Unreadable texts give no value.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tilewalk/run_settings.h"

namespace tilewalk::config {

// "0.01", "1bp", "100 total"
std::optional<accuracy> accuracy_of(std::string_view text);
// "0.99": above 1/2 and below 1. An interval that misses the truth more often than not is useless.
std::optional<double> share_of(std::string_view text);
// "30", "30s", "5m", "2h"
std::optional<std::chrono::duration<double>> duration_of(std::string_view text);

// Shortest texts that read back as the same value.
std::string text_of(const accuracy& of);
std::string text_of(double share);
std::string text_of(std::chrono::duration<double> time);

}  // namespace tilewalk::config
