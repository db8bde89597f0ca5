// SPDX-License-Identifier: Apache-2.0
// Shared-memory bank conflicts of a ring buffer's layout, computed from its addresses.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::bench {

// Passes for all threads to read one position of the ring, over the fewest that its bytes could take: 1 is
// free of conflicts. A pass serves 32 banks of 4 bytes; a warp is served 128 bytes at a time.
double predicted_passes(const kernels::ring_geometry& ring);

}  // namespace tilewalk::bench
