// SPDX-License-Identifier: Apache-2.0
// Accuracy goals, confidence levels and durations as people write them. Unreadable texts give no value.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tilewalk/run_settings.h"

namespace tilewalk::config {

// Reads a tolerance: "0.01", "1bp" or "100 total".
std::optional<accuracy> accuracy_of(std::string_view text);
// Reads a confidence level such as "0.99", below 1 and above 1/2: intervals of less mostly miss the truth.
std::optional<double> share_of(std::string_view text);
// Reads a duration, in seconds without a unit: "30", "30s", "5m" or "2h".
std::optional<std::chrono::duration<double>> duration_of(std::string_view text);

// Return the shortest text that reads back as the same value.
std::string text_of(const accuracy& of);
std::string text_of(double share);
std::string text_of(std::chrono::duration<double> time);

}  // namespace tilewalk::config
