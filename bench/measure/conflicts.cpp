// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/conflicts.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tilewalk::bench {

double predicted_passes(const kernels::ring_geometry& ring) {
    constexpr int banks = 32, bank_bytes = 4, warp = 32, bytes_at_once = banks * bank_bytes;
    const int at_once = std::min(warp, bytes_at_once / ring.piece_bytes);
    int passes = 0, groups = 0;
    for (int position = 0; position < ring.positions; ++position) {
        for (int first = 0; first < warp; first += at_once) {
            // All threads read different words, so each word takes a pass of its bank.
            std::array<int, banks> wanted{};
            for (int thread = first; thread < first + at_once; ++thread) {
                const std::size_t word = ring.offset(0, thread, position) / bank_bytes;
                for (std::size_t w = 0; w < static_cast<std::size_t>(ring.piece_bytes) / bank_bytes; ++w)
                    ++wanted[(word + w) % banks];
            }
            passes += *std::max_element(wanted.begin(), wanted.end());
            ++groups;
        }
    }
    return static_cast<double>(passes) / groups;
}

}  // namespace tilewalk::bench
