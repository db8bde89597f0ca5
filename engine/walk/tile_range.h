// SPDX-License-Identifier: Apache-2.0
// Neighbouring tiles of a run, and the one fixed tree over all its tiles: neighbours merge first, an odd last
// one is carried up. A subtree fills a power of two from one of its multiples on, or ends with the run.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/tile.h"

namespace tilewalk::run {

struct tile_range {
    kernels::word64 first = 0;
    kernels::word64 count = 0;
    friend bool operator==(const tile_range&, const tile_range&) = default;

    kernels::word64 end() const { return first + count; }
    // Size of the first child of a subtree: the largest power of two below `count`, and 1 for `count` < 2.
    kernels::word64 first_half() const { return count < 2 ? 1 : std::bit_ceil(count) / 2; }
    bool is_subtree_of(kernels::word64 run_tiles) const {
        const kernels::word64 size = std::bit_ceil(std::max<kernels::word64>(count, 1));
        return count > 0 && end() <= run_tiles && first % size == 0 && (count == size || end() == run_tiles);
    }
};

// An empty range stands for all tiles of the run.
inline tile_range asked_or_all(const tile_range& asked, kernels::word64 run_tiles) {
    return asked.count > 0 ? asked : tile_range{0, run_tiles};
}

// The largest subtrees of the subtree `in` within `range`, of at most `most` tiles, in order.
inline void cut(const tile_range& in, const tile_range& range, kernels::word64 most,
                std::vector<tile_range>& into) {
    if (in.end() <= range.first || range.end() <= in.first) return;
    if (in.count <= most && range.first <= in.first && in.end() <= range.end()) {
        into.push_back(in);
        return;
    }
    const kernels::word64 half = in.first_half();
    cut({in.first, half}, range, most, into);
    cut({in.first + half, in.count - half}, range, most, into);
}

// Cuts `asked` into runs of whole parts, and subtrees of parts that it covers only partly, in order. A device
// that merges tiles into parts walks one of them at a time.
inline std::vector<tile_range> parts_and_rests(const tile_range& asked, kernels::word64 run_tiles,
                                               kernels::word64 part_tiles) {
    std::vector<tile_range> subtrees, out;
    cut({0, run_tiles}, asked, part_tiles, subtrees);
    const auto are_parts = [&](const tile_range& r) {
        return r.first % part_tiles == 0 && (r.count % part_tiles == 0 || r.end() == run_tiles);
    };
    for (const tile_range& r : subtrees) {
        if (!out.empty() && out.back().end() == r.first && are_parts(out.back()) && are_parts(r))
            out.back().count += r.count;
        else
            out.push_back(r);
    }
    return out;
}

// Parts are the smallest equal subtrees of a run of which there are at most this many; the last may be
// smaller. Their spread gives the standard error of a sum over many trades.
inline constexpr kernels::word64 most_parts = 64;
constexpr kernels::word64 part_tiles_of(kernels::word64 run_tiles) {
    return std::bit_ceil(std::max<kernels::word64>(1, (run_tiles + most_parts - 1) / most_parts));
}

}  // namespace tilewalk::run
