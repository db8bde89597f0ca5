// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of a layout, by arithmetic.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::bench {

// The passes for reading one position of every thread, over the fewest that its bytes could take: 1 is free
// of conflicts. A pass serves 32 banks of 4 bytes; the threads of a warp are served 128 bytes at a time.
double predicted_passes(const kernels::ring_geometry& ring);

}  // namespace tilewalk::bench
