// SPDX-License-Identifier: Apache-2.0
// Rough cost of simulating a job, comparable between jobs on any device.
#pragma once

#include "engine/walk/job.h"

namespace tilewalk::run {

// Operations of one path of the job, including its way back.
double operations_of(const job& of);

}  // namespace tilewalk::run
