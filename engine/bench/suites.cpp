// SPDX-License-Identifier: Apache-2.0
#include "engine/bench/suites.h"

#include <algorithm>
#include <array>

#include "engine/bench/suites/auto_choice.h"
#include "engine/bench/suites/l2_hint.h"
#include "engine/bench/suites/prefetch.h"
#include "engine/bench/suites/tiles.h"
#include "engine/config/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

// In the order in which a performance engineer asks.
constexpr auto catalogue = std::to_array<suite_entry>({
    {"prefetch", "every feed by distance, layout, width and resident warps, on path kernels", true,
     "five strategies on an A100: uneven without padding, +60 % at distance 6 with it", prefetch::run},
    {"l2_hint", "loads and copies that ask the second-level cache for more than they read", false,
     "tanh and sum of 2^28 floats on an H20, quarter-warp 16-byte loads: 355.90 us, with L2::256B 313.95 us",
     l2_hint::run},
    {"tiles",
     "correlated moves by every matrix kernel, from the plain one up, and by cuBLAS; GFLOPS of the triangle "
     "alone",
     false, "GeForce 8800: untiled 10.58 GFLOPS, tiles of 16 x 16 unrolled 46.49 GFLOPS", tiles::run},
    {"auto", "the tuner's choice against a full search, on 20 kernels", false, "", auto_choice::run},
});

}  // namespace

std::span<const suite_entry> suites() {
    return catalogue;
}

const suite_entry& suite_named(std::string_view name) {
    const auto found = std::ranges::find(catalogue, name, &suite_entry::name);
    if (found != catalogue.end()) return *found;
    std::vector<std::string> known;
    for (const suite_entry& s : catalogue) known.emplace_back(s.name);
    throw error(error_kind::usage, "there is no benchmark " + config::shown(name) + "; there are " +
                                       config::joined(known) + config::suggestion(name, known));
}

}  // namespace tilewalk::bench
