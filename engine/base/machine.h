// SPDX-License-Identifier: Apache-2.0
// The machine, its processor and today's date, for a run's manifest.
#pragma once

#include <string>

namespace tilewalk {

std::string processor_name();  // such as "AMD EPYC 9374F"; empty if unknown
std::string machine_name();    // such as "x86_64 Linux, AMD EPYC, 2 cores"
// Returns the date in UTC, such as 2026-01-31.
std::string today();

}  // namespace tilewalk
