// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/chunk.h"

#include <algorithm>

#include "engine/walk/cuda/compile/kernel_text.h"
#include "kernels/philox.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

using kernels::tile_result;
using kernels::word32;
using kernels::word64;

namespace {

std::size_t stored_bytes(const reduction_entry& reduction) {
    return reduction.stores_payoffs ? kernels::paths_per_tile * sizeof(double) : 0;
}
std::size_t counter_bytes(const reduction_entry& reduction) {
    return reduction.merges_tiles ? sizeof(word32) : 0;
}

}  // namespace

chunk chunk::whole(std::uint64_t seed, std::uint64_t paths) {
    const word64 tiles = kernels::tiles_of(paths);
    return {seed, paths, {0, tiles}, run::part_tiles_of(tiles)};
}

word32 chunk::part_tiles() const {
    return static_cast<word32>(std::min(run_part_tiles, tiles.count));
}

std::size_t chunk::parts() const {
    return kernels::parts_of(static_cast<word32>(tiles.count), part_tiles());
}

chunk_memory::chunk_memory(device& on, const reduction_entry& reduction, const chunk& of, std::size_t rows)
    : on_(on),
      reduction_(reduction),
      of_(of),
      rows_(rows),
      tiles_(on, rows * of.tiles.count * sizeof(tile_result)),
      parts_(on, rows * of.parts() * sizeof(tile_result)),
      finished_(on, rows * of.parts() * counter_bytes(reduction)),
      payoffs_(on, rows * of.tiles.count * stored_bytes(reduction)) {}

std::size_t chunk_memory::bytes_per_tile(const reduction_entry& reduction) {
    return sizeof(tile_result) + stored_bytes(reduction);
}
std::size_t chunk_memory::bytes_per_part(const reduction_entry& reduction) {
    return sizeof(tile_result) + counter_bytes(reduction);
}

bool chunk_memory::fits(const chunk& other) const {
    return rows_ * other.tiles.count * sizeof(tile_result) <= tiles_.bytes() &&
           rows_ * other.parts() * sizeof(tile_result) <= parts_.bytes();
}

void chunk_memory::clear(stream s) {
    on_.fill(tiles(), 0, number_of_tiles() * sizeof(tile_result), s);
    if (reduction_.merges_tiles) on_.fill(parts(), 0, number_of_parts() * sizeof(tile_result), s);
    // NaN marks payoffs that no kernel has stored.
    if (reduction_.stores_payoffs)
        on_.fill(payoffs_.as<void>(), 0xff, number_of_tiles() * stored_bytes(reduction_), s);
    begin(s);
}

void chunk_memory::begin(stream s) {
    if (reduction_.merges_tiles)
        on_.fill(finished_.as<void>(), 0, number_of_parts() * counter_bytes(reduction_), s);
}

kernels::path_arguments chunk_memory::arguments() const {
    kernels::path_arguments a{};
    a.results = tiles();
    a.merged = parts();
    a.finished = finished_.as<word32>();
    a.payoffs = payoffs_.as<double>();
    a.seed = of_.seed;
    a.keys = kernels::schedule_of(of_.seed);
    a.paths = of_.paths;
    a.first_tile = of_.tiles.first;
    a.tiles = static_cast<word32>(of_.tiles.count);
    a.part_tiles = of_.part_tiles();
    return a;
}

void chunk_memory::merge(kernel merge_tiles, stream s) {
    if (reduction_.stores_payoffs)
        on_.reduce_stored({payoffs(), tiles(), rows_, of_.tiles.count, of_.tiles.first, of_.paths}, s);
    if (reduction_.merges_tiles) return;
    kernels::merge_arguments what{tiles(), parts(), static_cast<word32>(of_.tiles.count), of_.part_tiles()};
    void* arguments[] = {&what};
    on_.run(merge_tiles, {static_cast<std::uint32_t>(number_of_parts()), merge_threads}, arguments, s);
}

launch launch_of(const program::path_program& code, const kernel_decision& how, std::uint64_t trades,
                 std::uint64_t tiles) {
    launch out;
    out.blocks = static_cast<std::uint32_t>(trades * tiles);
    out.threads = static_cast<std::uint32_t>(how[knobs::block]);
    out.shared_bytes = static_cast<std::uint32_t>(path_kernel_shared_bytes(code, how));
    return out;
}

}  // namespace tilewalk::cuda
