// SPDX-License-Identifier: Apache-2.0
// Rough cost of simulating a job, comparable between jobs on any device.
#pragma once

#include "engine/walk/job.h"

namespace tilewalk::run {

// Operations that a core of a processor does in a second, as long as nothing was measured.
inline constexpr double typical_operations_a_second = 6e9;

// Operations of one path of the job, including its way back.
double operations_of(const job& of);

}  // namespace tilewalk::run
