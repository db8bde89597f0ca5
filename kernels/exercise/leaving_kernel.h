// SPDX-License-Identifier: Apache-2.0
// The kernel whose paths leave (store) the inputs of exercise policies. A block walks one tile of one trade.
// After each run of a section it writes some of its states, each to a row of the trade's array.
#pragma once

#include "kernels/exercise/leaving_arguments.h"
#include "kernels/path_kernel.h"

namespace tilewalk::kernels {

// Section k leaves the states left::state(k, i) for i < left::count(k), all known at compile time.
template <class left>
struct leaves_numbers {
    double* first;  // of the thread's first path
    word64 pitch;
    word32 next[word32(left::sections)];

    template <int k, int width, class states>
    void after(const states& of) {
        constexpr int count = left::count(k);
        if constexpr (count > 0) {
            double* const row = first + word64(next[k]) * pitch;
            spelled_out<count>([&](int i) {
                unrolled<width>(
                    [&](int w) { row[word64(i) * pitch + word64(w)] = double(of(w, left::state(k, i))); });
            });
            next[k] += word32(count);
        }
    }
};

template <class choice>
static void leave_tile(const leaving_arguments& all, char* shared) {
    using real = typename choice::real;
    using program = typename choice::program;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    using source = typename choice::source;
    using leaves = leaves_numbers<typename choice::left>;
    constexpr int width = shape::width, paths_per_pass = width * shape::threads;
    const path_arguments& a = all.forth;

#pragma unroll 1
    for (int pass = 0, count = work_of_block(a).count; pass * paths_per_pass < count; ++pass) {
        const work_of_block work(a);
        const word32 number = number_of_block() / a.tiles;
        const word64 path =
            work.tile * paths_per_tile | word64(pass * paths_per_pass + int(threadIdx.x) * width);
        const left_array array = all.left[number];
        leaves left{array.numbers + path, array.pitch, {}};
        unrolled<program::sections>([&](int k) {
            left.next[k] = load_read_only(all.first_rows + number * word32(program::sections) + word32(k));
        });
        const word32* const head = a.words + work.trade.words_at;
        const word32* const sections = head + head_words<program>;
        walker<program, shape, real, numbers, group_of<typename choice::feed, source>(), leaves> walk(
            numbers::of(a, work.trade.numbers_at), sections, work.trade.steps, left);
        const trade_words words{head, sections + scenario_place(word32(program::sections)),
                                work.trade.normal_row, work.trade.uniform_row, work.trade.target_step};
        choice::feed::walk(source::of(a, path, words), int(work.trade.steps), choice::memory::of(a, shared),
                           body{walk});
    }
}

}  // namespace tilewalk::kernels
