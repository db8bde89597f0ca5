// SPDX-License-Identifier: Apache-2.0
// How exact a run is to be, as people write it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tilewalk/accuracy.h"

namespace tilewalk::config {

// Nothing if it can't be read. "0.01", "1bp", "100 total"
std::optional<accuracy> accuracy_of(std::string_view text);
// "0.99": above a half, since an interval that holds the truth less often than not is none.
std::optional<double> share_of(std::string_view text);
// "30", "30s", "5m", "2h"
std::optional<std::chrono::duration<double>> duration_of(std::string_view text);

// Texts that read back as the same value: "0.01", "1bp", "100 total"; "0.99"; "30s", "5m", "2h", the
// shortest.
std::string text_of(const accuracy& of);
std::string text_of(double share);
std::string text_of(std::chrono::duration<double> time);

}  // namespace tilewalk::config
