// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/ways_back.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/crew.h"
#include "engine/cuda/chunk.h"
#include "engine/cuda/kernel_text.h"
#include "engine/cuda/memory.h"
#include "engine/cuda/packed_trades.h"
#include "engine/cuda/reductions.h"
#include "kernels/way_back_arguments.h"

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using kernels::word64;

// The most that the kept states and the sums of a chunk take, where more is free.
constexpr std::uint64_t most_bytes_of_chunk = std::uint64_t{4} << 30;
constexpr std::uint32_t threads_of_merge = 256;

word32 warps_of(const way_back_decision& how) {
    return kernels::paths_per_tile / (kernels::threads_of_warp * static_cast<word32>(how.width));
}

// A packed trade and its memory on a device.
struct trade_in_memory {
    packed_trades packed;
    device_memory numbers, words, record;

    trade_in_memory(device& on, const run::job& j, number_type type)
        : packed(pack({&j, 1}, type)),
          numbers(on, packed.numbers.size()),
          words(on, packed.words.size() * sizeof(word32)),
          record(on, sizeof(kernels::trade_record)) {
        if (packed.failures[0]) throw error(*packed.failures[0]);
    }
    void upload(device& on, stream s) const {
        on.upload(numbers.as<void>(), packed.numbers.data(), packed.numbers.size(), s);
        on.upload(words.as<void>(), packed.words.data(), packed.words.size() * sizeof(word32), s);
        on.upload(record.as<void>(), packed.records.data(), sizeof(kernels::trade_record), s);
    }
};

// Chunks of a run: whole parts, but for the end of the run.
std::vector<run::tile_range> chunks_of(const run::tile_range& all, word64 part_tiles, word64 most_tiles) {
    const word64 tiles = std::max(most_tiles / part_tiles, word64{1}) * part_tiles;
    std::vector<run::tile_range> out;
    for (word64 first = all.first; first < all.end(); first += tiles)
        out.push_back({first, std::min(tiles, all.end() - first)});
    return out;
}

}  // namespace

struct ways_back::plan {
    way_back_decision how;
    std::size_t pieces = 0;
    std::size_t kept_bytes = 0, shock_bytes = 0, sum_bytes = 0;  // of a tile
    std::uint64_t room = 0;                                      // for a chunk

    std::size_t tile_bytes() const { return kept_bytes + shock_bytes + sum_bytes; }
    compile_request request(const run::job& j, const std::string& architecture) const {
        return {way_back_kernel_text(*j.code, *j.back.code, how), architecture, {}};
    }
};

ways_back::plan ways_back::plan_of(const run::job& j, const run::walk& of) const {
    const number_type type = program::real_type(how_.precision);
    const std::size_t steps = j.when->steps();
    const auto paths = static_cast<std::size_t>(how_.paths_per_pass());
    plan out{.how = how_};
    out.pieces =
        (steps + static_cast<std::size_t>(how_.piece_steps) - 1) / static_cast<std::size_t>(how_.piece_steps);
    out.kept_bytes = out.pieces * carried_states(*j.back.code).size() * paths * program::bytes_of(type);
    out.shock_bytes = steps * static_cast<std::size_t>(j.code->slots_per_step()) * paths *
                      program::bytes_of(program::traits_of(how_.precision).shock);
    out.sum_bytes = warps_of(how_) * program::places_of(*j.back.code, *j.data).size * sizeof(double);
    out.room = std::min({most_bytes_of_chunk, std::uint64_t{on_.get().free_bytes()} / 4 * 3,
                         memory_bytes_ == 0 ? ~std::uint64_t{0} : memory_bytes_});
    // A chunk has at least one part.
    const word64 part_tiles = run::part_tiles_of(kernels::tiles_of(of.paths));
    if (!how_.keeps_shocks || out.shock_bytes == 0 || out.tile_bytes() * part_tiles > out.room) {
        out.how.keeps_shocks = false;
        out.shock_bytes = 0;
    }
    return out;
}

bool ways_back::can_walk(const run::job& j) {
    return has_kernel(*j.code, *j.back.code);
}

void ways_back::compile(std::span<const run::job> jobs, const run::walk& of, int threads) {
    // A device serves one thread, its texts are compiled by many.
    std::vector<compile_request> requests;
    try {
        const std::string architecture = on_.get().properties().architecture();
        for (const run::job& j : jobs) requests.push_back(plan_of(j, of).request(j, architecture));
    } catch (const device_error&) {
        return;
    }
    cpu::for_each(requests.size(), threads, of.cancel,
                  [&](int, std::uint64_t i) {
                      try {
                          kernels_.cubin(requests[i]);
                      } catch (const std::exception&) {
                          return;  // the walk says why
                      }
                  },
                  {});
}

run::tally ways_back::walk(const run::job& j, const run::walk& of) {
    device& d = on_.get();
    const plan by = plan_of(j, of);
    const way_back_decision& how = by.how;
    const number_type type = program::real_type(how.precision);
    const std::string architecture = d.properties().architecture();
    const auto cubin = kernels_.cubin(by.request(j, architecture));
    const auto merge_cubin = kernels_.cubin({merge_kernel_text(), architecture, {}});
    const kernel both_ways = on_.find(cubin, "walk_both_ways");
    const kernel merge = on_.find(cubin, "merge_derivatives");
    const kernel merge_tiles = on_.find(merge_cubin, "merge_tiles");

    const program::derivative_places places = program::places_of(*j.back.code, *j.data);
    const word64 run_tiles = kernels::tiles_of(of.paths), part_tiles = run::part_tiles_of(run_tiles);
    const std::vector<run::tile_range> chunks =
        chunks_of(run::asked_or_all(of.tiles, run_tiles), part_tiles, by.room / (by.tile_bytes() + 1));
    const word64 most_tiles = chunks.front().count;

    const owned_stream s = new_stream(d);
    const trade_in_memory forth(d, j, type), back(d, {&j.back.code->back, j.back.data, j.when, {}}, type);
    const chunk largest{of.seed, of.paths, chunks.front(), part_tiles};
    chunk_memory results(d, reduction_named("tree"), largest, 1);
    const device_memory kept(d, most_tiles * by.kept_bytes), shocks(d, most_tiles * by.shock_bytes),
        sums(d, most_tiles * by.sum_bytes), merged(d, largest.parts() * places.size * sizeof(double));
    std::vector<kernels::tile_result> found;
    std::vector<double> derivatives;
    in_flight work(d, {s.get()});
    forth.upload(d, s.get());
    back.upload(d, s.get());

    run::tally out(run_tiles, part_tiles, 1, {}, places.size);
    for (const run::tile_range& tiles : chunks) {
        if (of.cancel != nullptr && of.cancel->load())
            throw error(error_kind::cancelled, "the run was stopped");
        results.turn_to({of.seed, of.paths, tiles, part_tiles});
        results.clear(s.get());
        d.fill(sums.as<void>(), 0, tiles.count * by.sum_bytes, s.get());
        kernels::way_back_arguments a{};
        a.forth = results.arguments();
        a.forth.trades = forth.record.as<kernels::trade_record>();
        a.forth.numbers = forth.numbers.as<void>();
        a.forth.words = forth.words.as<word32>();
        a.forth.trade_count = 1;
        a.back = back.record.as<kernels::trade_record>();
        a.back_numbers = back.numbers.as<void>();
        a.back_words = back.words.as<word32>();
        a.kept = kept.as<void>();
        a.shocks = shocks.as<void>();
        a.sums = sums.as<double>();
        a.places = places.size;
        a.pieces = static_cast<word32>(by.pieces);
        for (std::size_t k = 0; k < places.first.size(); ++k)
            a.first_place[k] = static_cast<word32>(places.first[k]);
        launch with;
        with.blocks = static_cast<std::uint32_t>(tiles.count);
        with.threads = static_cast<std::uint32_t>(how.block);
        with.shared_bytes = static_cast<std::uint32_t>(way_back_shared_bytes());
        void* arguments[] = {&a};
        d.run(both_ways, with, arguments, s.get());
        results.merge(merge_tiles, s.get());
        const std::size_t parts = results.number_of_parts();
        kernels::derivative_merge_arguments m{
            sums.as<double>(),         merged.as<double>(), places.size, static_cast<word32>(tiles.count),
            results.of().part_tiles(), warps_of(how)};
        launch merging;
        merging.threads = threads_of_merge;
        merging.blocks =
            static_cast<std::uint32_t>(parts * ((places.size + threads_of_merge - 1) / threads_of_merge));
        void* merge_arguments[] = {&m};
        d.run(merge, merging, merge_arguments, s.get());
        launches_ += 3;
        found.resize(parts);
        derivatives.resize(parts * places.size);
        d.download(found.data(), results.parts(), parts * sizeof(kernels::tile_result), s.get());
        d.download(derivatives.data(), merged.as<void>(), derivatives.size() * sizeof(double), s.get());
        d.wait(s.get());
        for (std::size_t p = 0; p < parts; ++p) {
            const word64 first = tiles.first + p * part_tiles;
            out.add({first, std::min(part_tiles, tiles.end() - first)}, {&found[p], 1},
                    std::span(derivatives).subspan(p * places.size, places.size));
        }
    }
    work.end();
    return out;
}

}  // namespace tilewalk::cuda
