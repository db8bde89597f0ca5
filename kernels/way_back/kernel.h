// SPDX-License-Identifier: Apache-2.0
// The kernel of both ways: a block walks one tile of one trade to the end and back (adjoint), and leaves the
// moments of the payoffs and the sums of derivatives.
//
// The way back goes by pieces, some steps each, the last first: a piece is walked forward once more from the
// states kept at its first step, with shocks read back or drawn again, and then backward, step by step.
// Sections of a step are run again, so that each way back has the states at the start of its section. A piece
// is quiet if no events follow its steps; its program leaves out what only other sections need.
//
// Derivatives are summed in the tree over the tile's paths, neighbours first: by a thread, then by its warp;
// merge_derivatives continues with the warps' sums in memory. Derivatives with respect to numbers of tables
// are summed in memory by all threads concurrently, and end up in the place of the first warp's sums.
#pragma once

#include "kernels/way_back/bodies.h"
#include "kernels/way_back/merge.h"

namespace tilewalk::kernels {

template <class choice>
static void end_sums_in_tables(const way_back_arguments& a, const derivatives_of_trade& found,
                               const sums_in_tables& sums) {
    using ways = typename choice::ways;
    constexpr int sections = choice::program::sections;
    unrolled<sections>([&](int k) {
        if (ways::of_tables(k) == 0) return;
        const word32* const first = a.first_places + found.first_places_at + k;
        const word64 end = k + 1 < sections ? first[1] : found.places;
        const word32 of_run = word32(ways::of_run(k)), in_run = of_run + word32(ways::of_tables(k));
        for (word64 place = first[0] + threadIdx.x; place < end; place += blockDim.x)
            if (word32(place - first[0]) % in_run >= of_run) sums.end(place);
    });
}

template <class choice>
static void walk_tile_both_ways(const way_back_arguments& a, char* shared) {
    using real = typename choice::real;
    using program = typename choice::program;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    using source = typename choice::source;
    using feed = typename choice::feed;
    using ways = typename choice::ways;
    using walk_back = both_ways<choice>;
    using states = typename walk_back::states;
    using at = shared_of_both_ways<choice>;
    constexpr int width = shape::width, paths_per_pass = width * shape::threads;
    constexpr int warps_of_tile = paths_per_tile / (threads_of_warp * width);
    double* payoffs = reinterpret_cast<double*>(shared);
    char* feed_memory = shared + at::feed;
    const work_of_block work(a.forth);
    const word32 number = number_of_block() / a.forth.tiles;
    const derivatives_of_trade found = a.derivatives[number];
    double* const sums =
        a.sums + (found.first * a.forth.tiles + work.tile_of_launch * found.places) * warps_of_tile;
    const sums_in_tables in_tables(sums, found.places);
    static_assert(warps_of_tile >= sums_in_tables::words);
    const word64 per_path = word64(a.most_pieces) * ways::carried + choice::states_in_memory;
    const states of_block = states::in(a.kept, number_of_block() * per_path);
    const states in_memory = of_block.from(int(a.most_pieces) * ways::carried),
                 in_shared = states::in(shared + at::states);
#pragma unroll 1
    for (int pass = 0; pass * paths_per_pass < work.count; ++pass) {
        const int in_tile = pass * paths_per_pass + int(threadIdx.x) * width;
        const word64 path = work.tile * paths_per_tile | word64(in_tile);
        const word32* const head = a.forth.words + work.trade.words_at;
        const word32* const sections = head + head_words<program>;
        const trade_words words{head, sections + scenario_place(word32(program::sections)),
                                work.trade.normal_row, work.trade.uniform_row, work.trade.target_step};
        const auto from = source::of(a.forth, path, words);
        const auto memory = choice::memory::of(a.forth, feed_memory);
        const int steps = int(work.trade.steps);
        const kept_shocks<choice> shocks(a.shocks, number_of_block(), a.most_steps);
        {
            using forth = walker<program, shape, real, numbers, group_of<feed, source>()>;
            forth walk(numbers::of(a.forth, work.trade.numbers_at), sections, work.trade.steps);
            const body_that_keeps<choice, forth> keeps{{walk}, of_block, shocks};
            if constexpr (choice::reads_arrays) {
                feed::walk(from, steps, memory, [&](int step, const auto& z) {
                    keeps.begin(step);
                    keeps(step, z);
                });
            } else {
                feed::walk(from, steps, memory, keeps);
            }
            keep_payoffs<program, width>(walk, payoffs + in_tile);
        }

        walk_back walk(a, sections, work.trade, a.back[number], found, word32(in_tile), work.count,
                       shared + at::sums, sums + word64(in_tile / (threads_of_warp * width)) * found.places,
                       in_tables);
        const body_of_way_back<choice> back{walk, of_block, choice::holds_in_shared ? in_shared : in_memory,
                                            choice::holds_quietly_in_shared ? in_shared : in_memory, steps};
        // `all` has the shocks from the last step back; shocks_from(first) has those from step `first` on.
        const auto walk_and_read = [&](const auto& all, const auto& shocks_from) {
            choice::back_feed::walk(all, steps, memory, [&](int i, const auto& z) {
                const int step = steps - 1 - i;
                back.begin(step, [&](int first, int count, const auto& use) {
                    const auto shocks_of = shocks_from(first);
                    rolled(0, count, [&](int k) { use(k, shocks_of(k)); });
                });
                back.step_back(step, z);
            });
        };
        using back_shape = typename choice::back_shape;
        if constexpr (choice::reads_arrays) {
            walk_and_read(backwards{from, steps - 1}, [&](int first) {
                return [&, first](int k) { return load_shocks<back_shape>(memory, from, first + k); };
            });
        } else if constexpr (choice::keeps_shocks) {
            memory.publish_to_copies();
            walk_and_read(shocks.back_from(steps - 1), [&](int first) {
                return [&, piece = shocks.from(first)](int k) {
                    return load_shocks<back_shape>(memory, piece, k);
                };
            });
        } else {
            using drawn = numbers_of_paths<typename shape::shock, width, shape::threads>;
            const drawn of_piece =
                choice::draws_to_shared
                    ? drawn::in(shared + at::shocks)
                    : drawn::in(a.shocks, word64(number_of_block()) * (choice::piece_steps * shape::slots));
            rolled(0, steps, [&](int i) {
                const int step = steps - 1 - i;
                back.begin(step, [&](int first, int count, const auto& use) {
                    feed::walk_part(from, first, first + count, memory,
                                    [&](int s, const shocks_of_step<shape>& z) {
                                        const drawn to = of_piece.from((s - first) * shape::slots);
                                        unrolled<shape::slots>([&](int slot) {
                                            for (int w = 0; w < width; ++w) to(slot, w) = z[w][slot];
                                        });
                                        use(s - first, z);
                                    });
                });
                const drawn of_step = of_piece.from(int(word32(step) % choice::piece_steps) * shape::slots);
                shocks_of_step<shape> z{};
                unrolled<shape::slots>([&](int slot) {
                    for (int w = 0; w < width; ++w) z[w][slot] = of_step(slot, w);
                });
                back.step_back(step, z);
            });
        }
        walk.finish();
    }
    __syncthreads();
    end_sums_in_tables<choice>(a, found, in_tables);
    finish_outputs<choice>(a.forth, payoffs, feed_memory);
}

}  // namespace tilewalk::kernels
