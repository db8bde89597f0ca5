// SPDX-License-Identifier: Apache-2.0
// How often shared memory must be asked for what one access of a warp wants, by the arithmetic of a layout.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::bench {

// Passes that reading one position of every thread takes, over the fewest that its bytes could take: 1 is
// free of conflicts. Shared memory serves 32 banks of 4 bytes in a pass, and the threads of a warp 128 bytes
// at a time.
double predicted_passes(const kernels::ring_geometry& ring);

}  // namespace tilewalk::bench
