// SPDX-License-Identifier: Apache-2.0
// Kernels that were made ready or tuned ahead of runs, as tables: for people, and column by column.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tilewalk/columns.h"
#include "tilewalk/engine.h"

namespace tilewalk {

// Throws tilewalk::error (usage) for a name that is no architecture of a GPU, such as sm_90 or sm_90a;
// `said_as` is what the caller calls them.
void check_architectures(const std::vector<std::string>& names, const std::string& said_as);

// Longest times of timing one kernel, in seconds.
inline constexpr double default_tuning_seconds = 2, most_tuning_seconds = 3600;
constexpr bool is_tuning_time(double seconds) {
    return seconds > 0 && seconds <= most_tuning_seconds;
}
// "a number above 0, up to 3600"
std::string expected_tuning_time();

// A line or more for each kernel, and how many there are at the end.
std::string kernel_table(std::span<const warmed_kernel> kernels);
std::string kernel_table(std::span<const tuned_kernel> kernels);

// The kernels have to outlive these, as everything that a column_table is read from.
column_table kernel_columns(std::span<const warmed_kernel> kernels);
column_table kernel_columns(std::span<const tuned_kernel> kernels);

}  // namespace tilewalk
