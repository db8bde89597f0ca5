// SPDX-License-Identifier: Apache-2.0
#include "engine/run/schedule.h"

#include <algorithm>
#include <utility>

#include "kernels/philox.h"
#include "kernels/tile.h"

namespace tilewalk::run {

schedule& schedule::then(maker next) {
    rounds_.push_back(std::move(next));
    return *this;
}

std::vector<outcome> schedule::walk_on(back_end& on) const {
    std::vector<outcome> out;
    out.reserve(rounds_.size());
    std::uint64_t done_before = 0;
    for (const maker& make : rounds_) {
        round next = make(out);
        const bool is_last = out.size() + 1 == rounds_.size();
        if (const auto tell = next.of.on_progress) {
            next.of.on_progress = [=](const progress& p) {
                tell({is_last ? p.jobs_done : 0, done_before + p.path_steps_done});
            };
        }
        out.push_back(on.walk_all(next.of));
        done_before += path_steps_of(next.of);
    }
    return out;
}

std::uint64_t path_steps_of(const walk& of) {
    const tile_range tiles = asked_or_all(of.tiles, kernels::tiles_of(of.paths));
    const auto path_at = [&](std::uint64_t tile) {
        return std::min(of.paths, tile * std::uint64_t{kernels::paths_per_tile});
    };
    std::uint64_t steps = 0;
    for (const job& j : of.jobs) steps += j.when->steps();
    return steps * (path_at(tiles.end()) - path_at(tiles.first));
}

std::uint64_t pilot_seed(std::uint64_t seed, std::uint32_t pilot) {
    // Seeds have a stream of their own, and those of pilots a name beside it.
    const kernels::philox_block of =
        kernels::path_block(seed, 0, pilot, kernels::seed_stream, kernels::stream_key_of(1));
    return std::uint64_t{of.x1} << 32 | of.x0;
}

}  // namespace tilewalk::run
