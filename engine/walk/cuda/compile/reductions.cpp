// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/reductions.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

// Shared memory for three sums of each warp, with the largest block's 8 warps; and for three sums of a block.
constexpr std::size_t sums_of_warps = 3 * 8 * sizeof(double), sums_of_block = 3 * sizeof(double);

// columns: name, summary, shared memory, keeps bits, merges tiles, stores payoffs
constexpr auto reduction_catalogue = std::to_array<reduction_entry>({
    {"tree", "one fixed tree over the lanes of a tile; a second kernel merges the tiles of a trade",  //
     sums_of_warps, true, false, false},
    {"last_block", "the same tree; the block that finishes a trade's last tile merges the tiles",  //
     sums_of_warps, true, true, false},
    {"warp_atomic", "a tree in each warp, then one atomic addition a warp, in the order of arrival",  //
     sums_of_block, false, false, false},
    {"atomic", "one atomic addition a thread, in the order of arrival",  //
     sums_of_block, false, false, false},
    {"store", "every payoff goes to memory, 8 bytes a path and trade, and CUB sums each tile from there",  //
     0, false, false, true},
});

}  // namespace

std::string reduction_entry::header() const {
    return fmt::format("kernels/reductions/{}.h", name);
}

std::span<const reduction_entry> reductions() {
    return reduction_catalogue;
}

void check(const reduction_entry& reduction, const device_properties& on) {
    if (!reduction.stores_payoffs || on.reduces_stored) return;
    std::vector<std::string> others;
    for (const reduction_entry& other : reduction_catalogue) {
        if (!other.stores_payoffs) others.emplace_back(other.name);
    }
    throw error(error_kind::usage,
                fmt::format("the reduction {} needs CUB, and Tilewalk was built where CMake found no nvcc to "
                            "compile it; there are {}, or a build with nvcc on the PATH",
                            config::shown(reduction.name), config::joined(others)));
}

const reduction_entry& reduction_named(std::string_view name) {
    const auto found = std::ranges::find(reduction_catalogue, name, &reduction_entry::name);
    if (found != reduction_catalogue.end()) return *found;
    std::vector<std::string> known;
    for (const reduction_entry& reduction : reduction_catalogue) known.emplace_back(reduction.name);
    throw error(error_kind::usage, fmt::format("there is no reduction {}{}", config::shown(name),
                                               config::alternatives(name, "there are", known)));
}

}  // namespace tilewalk::cuda
