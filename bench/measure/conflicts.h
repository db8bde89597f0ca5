// SPDX-License-Identifier: Apache-2.0
// The number of passes through shared memory that one access of a warp takes, by the arithmetic of a layout.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::bench {

// The passes that reading one position of every thread takes, divided by the fewest that its bytes could
// take: 1 is free of conflicts. Shared memory serves 32 banks of 4 bytes in a pass, and the threads of a warp
// 128 bytes at a time.
double predicted_passes(const kernels::ring_geometry& ring);

}  // namespace tilewalk::bench
