// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/bench/suites.h"

namespace tilewalk::bench::prefetch {

void run(gpu_bench& on, const request& asked, const sink& to);

}  // namespace tilewalk::bench::prefetch
