// SPDX-License-Identifier: Apache-2.0
// A block walks one tile of paths of one trade through its program and leaves the moments of the payoffs.
// What the steps do is the program's, how shocks arrive is the feed's, how the tile is summed the
// reduction's.
#pragma once

#include "kernels/arguments.h"
#include "kernels/feeds/feed.h"
#include "kernels/ptx.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// The sections from `k` on that run after a step, each on its next row, for all paths of the thread.
template <class program, int k, class real, class shape, class numbers>
static void run_sections(word32 mask, real (&states)[shape::width][program::states],
                         const shocks_of_step<shape>& z, numbers (&rows)[program::sections],
                         const numbers& terms) {
    if constexpr (k < program::sections) {
        if (k == 0 || (mask >> k & 1) != 0) {
            for (int w = 0; w < shape::width; ++w) {
                program::template section<k>(states[w], z[w], rows[k], terms);
            }
            rows[k] = rows[k].from(program::row_width(k));
        }
        run_sections<program, k + 1>(mask, states, z, rows, terms);
    }
}

// `choice` is how the kernel is built: types real (of the states) and shock, program, feed, shape, memory,
// numbers, source (of shocks) and reduction.
template <class choice>
static void walk_tile(const path_arguments& a, char* shared) {
    using real = typename choice::real;
    using program = typename choice::program;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    constexpr int width = shape::width, threads = shape::threads;
    constexpr int paths_per_pass = width * threads;
    const int thread = int(threadIdx.x);

    const word32 outer = blockIdx.x / (a.trades_first != 0 ? a.trade_count : a.tiles);
    const word32 inner = blockIdx.x % (a.trades_first != 0 ? a.trade_count : a.tiles);
    const trade_record trade = a.trades[a.trades_first != 0 ? inner : outer];
    const word32 tile_of_launch = a.trades_first != 0 ? outer : inner;
    const word64 tile = a.first_tile + tile_of_launch;
    const int count = paths_in_tile(a.paths, tile);

    const numbers terms = numbers::of(a, trade.numbers_at);
    const numbers initial = terms.from(program::terms);
    const word32* words = a.words + trade.words_at;
    const word32* masks = words + program::sections;
    const int steps = int(trade.steps);

    // The payoffs of the tile, by path; the feed's memory follows.
    double* payoffs = reinterpret_cast<double*>(shared);
    char* feed_memory = shared + paths_per_tile * sizeof(double);

#pragma unroll 1
    for (int pass = 0; pass * paths_per_pass < count; ++pass) {
        const int in_tile = pass * paths_per_pass + thread * width;
        const word64 path = tile * paths_per_tile + word64(in_tile);
        real states[width][program::states];
        for (int w = 0; w < width; ++w) {
            for (int s = 0; s < program::states; ++s) states[w][s] = initial[s];
        }
        numbers rows[program::sections];
        for (int k = 0; k < program::sections; ++k) rows[k] = terms.from(load_read_only(words + k));
        // A step's mask is asked for a step ahead, so that no branch waits for it.
        word32 next_mask = load_read_only(masks);
        const auto use = [&](int step, const shocks_of_step<shape>& z) {
            const word32 mask = next_mask;
            next_mask = load_read_only(masks + step + 1);
            run_sections<program, 0>(mask, states, z, rows, terms);
        };
        choice::feed::walk(choice::source::of(a, path, masks + steps + 1), steps,
                           choice::memory::of(a, feed_memory), use);
        for (int w = 0; w < width; ++w) payoffs[in_tile + w] = double(states[w][program::output]);
    }
    __syncthreads();
    const word64 row = word64(trade.result) * a.tiles;
    choice::reduction::finish(payoffs, count,
                              {tile, tile_of_launch, a.tiles, a.results + row, a.merged + trade.result,
                               a.finished + trade.result, a.payoffs + row * paths_per_tile},
                              feed_memory);
}

}  // namespace tilewalk::kernels
