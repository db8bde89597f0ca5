// SPDX-License-Identifier: Apache-2.0
// Consecutive tiles of a run, and the fixed summation tree over all its tiles: at each level neighbours
// merge, and an odd last one moves up. A subtree is 2^k tiles from a multiple of 2^k on, or cut short by the
// run's end.
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
    // Tiles in the first child of a subtree: the largest power of two below `count`; 1 for a single tile.
    kernels::word64 first_half() const { return count < 2 ? 1 : std::bit_ceil(count) / 2; }
    bool is_subtree_of(kernels::word64 run_tiles) const {
        const kernels::word64 size = std::bit_ceil(std::max<kernels::word64>(count, 1));
        return count > 0 && end() <= run_tiles && first % size == 0 && (count == size || end() == run_tiles);
    }
};

// Tiles to walk: `asked`, or all tiles of the run if `asked` is empty.
inline tile_range asked_or_all(const tile_range& asked, kernels::word64 run_tiles) {
    return asked.count > 0 ? asked : tile_range{0, run_tiles};
}

// Appends the largest subtrees of `in` that lie within `range` and have at most `most` tiles, in order.
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

// Splits `asked`, in order, into ranges of whole parts and, where it covers a part only partly, subtrees of
// that part. A device that merges tiles into parts walks one of these ranges at a time.
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

// A run is split into parts: subtrees of equal size (the last may be smaller), the smallest of which there
// are at most 64. The spread of their means gives the standard error of a sum over many trades.
inline constexpr kernels::word64 most_parts = 64;
constexpr kernels::word64 part_tiles_of(kernels::word64 run_tiles) {
    return std::bit_ceil(std::max<kernels::word64>(1, (run_tiles + most_parts - 1) / most_parts));
}

}  // namespace tilewalk::run
