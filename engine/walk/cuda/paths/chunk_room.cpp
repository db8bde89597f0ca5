// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/chunk_room.h"

#include <algorithm>

#include "engine/walk/cuda/paths/chunk.h"

namespace tilewalk::cuda {

using kernels::word64;

namespace {

std::size_t budget_of(device& d, const run_state& run) {
    const std::size_t free = d.free_bytes() / 10 * 9;
    if (run.run.memory_bytes == 0) return free;
    // The trades are on the device already, so free memory excludes them; the user's limit includes them.
    const auto allowed = static_cast<std::size_t>(run.run.memory_bytes);
    return std::min(free, allowed - std::min(allowed, run.packed.bytes()));
}

}  // namespace

chunk_room chunk_room::on(device& d, const run_state& run, const reduction_entry& reduction) {
    const std::size_t budget = budget_of(d, run);
    const std::size_t rows = run.packed.results;
    const std::size_t per_part = rows * chunk_memory::bytes_per_part(reduction);
    std::size_t always = per_part;
    std::size_t per_tile = rows * chunk_memory::bytes_per_tile(reduction) +
                           (run.part_tiles > 1 ? per_part / run.part_tiles + 1 : per_part);
    word64 most = ~word64{0} >> 1;
    std::size_t per_tile_of_set = 0;
    if (run.shocks) {
        always += run.shocks->scratch_bytes();
        per_tile_of_set = run.shocks->bytes_per_tile();
        most = run.shocks->most_tiles();
    }
    always += run.moves.bytes_always();
    per_tile += run.moves.bytes_per_tile();
    const auto fit = [&](std::size_t of_cubes) {
        const word64 tiles =
            budget > always ? (budget - always) / (per_tile + of_cubes * per_tile_of_set) : 0;
        return std::min(tiles, most);
    };
    const word64 with_one_set = std::max<word64>(1, fit(1));
    const bool is_one_chunk = with_one_set >= run.most_tiles;
    if (!run.shocks || is_one_chunk || fit(2) == 0) return {with_one_set, 1};
    return {fit(2), 2};
}

}  // namespace tilewalk::cuda
