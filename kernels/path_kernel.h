// SPDX-License-Identifier: Apache-2.0
// The path kernel: a block walks one tile of paths of one trade through its program and leaves the moments of
// the payoffs. The program says what the steps do, the feed how shocks arrive, the reduction how the tile is
// summed.
#pragma once

#include "kernels/arguments.h"
#include "kernels/feeds/feed.h"
#include "kernels/loops.h"
#include "kernels/ptx.h"
#include "kernels/stream_slots.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// Whether paths read tables in the step. A program has the constant only if they do.
template <class program>
static constexpr bool step_has_tables = requires {
    program::step_has_tables;
};

// The number of states of a path that are results. A program has the constant only if there are more than
// one.
template <class program>
static constexpr int outputs_of() {
    if constexpr (requires { program::outputs; }) {
        return program::outputs;
    } else {
        return 1;
    }
}

// The number of pairs of results whose sum has its moments taken, too. A program has the constant only if
// there are any.
template <class program>
static constexpr int sums_of() {
    if constexpr (requires { program::sums; }) {
        return program::sums;
    } else {
        return 0;
    }
}

// The words that stand before those of the sections: keys of streams. A program without random numbers of its
// own has none.
template <class program>
static constexpr word32 head_words_of() {
    if constexpr (requires { typename program::normal_slots; }) {
        return whole_pieces(words_of_keys<typename program::normal_slots, typename program::uniform_slots>,
                            sizeof(word32));
    } else {
        return 0;
    }
}
template <class program>
static constexpr word32 head_words = head_words_of<program>();

// The program of a thread's paths, as the body that a feed calls for each step. A feed that lays out a group
// of steps in its loop announces them with begin(): numbers that are the same for all paths are then on their
// way while the feed makes or brings the shocks.
template <class program, class shape, class real, class numbers, int group>
class walker {
  public:
    using shocks = shocks_of_step<shape>;
    // Groups pay in single only: in double the functions of a step are long, and fill the registers one step
    // at a time. Many sections do so, too.
    static constexpr bool takes_groups = sizeof(real) == 4 && program::sections > 1 && program::sections <= 3;

    // `words` are those of the sections.
    walker(const numbers& trade, const word32* words)
        : trade_(trade), masks_(words + mask_place(word32(program::sections))), step_rows_(trade) {
        const row_of<program::states> initial{
            trade_.from(whole_pieces(word32(program::terms), sizeof(real)))};
        unrolled<program::states>([&](int s) {
            const real x = initial[s];
            for (int w = 0; w < shape::width; ++w) states_[w][s] = x;
        });
        for (int k = 0; k < program::sections; ++k) next_row_[k] = load_read_only(words + k);
        if constexpr (group == 1) mask_[0] = load_read_only(masks_);
    }

    // The next steps are first, ..., first + group - 1; `first` is a multiple of `group`.
    void begin(int first) {
        if constexpr (group == 1) return;
        first_ = first;
        const auto masks = load_read_only<group>(masks_ + first);
        for (int k = 0; k < group; ++k) mask_[k] = masks.x[k];
        step_rows_ = trade_.from(next_row_[0] + word32(first) * pitch<0>);
        if constexpr (holds_rows) {
            for (int i = 0; i < pieces_held; ++i)
                held_[i] = step_rows_.template load<piece>(word64(i * piece));
        }
    }

    // Runs all steps of a group at once if section 1, and no other, runs after each of them. Otherwise does
    // nothing and returns false.
    bool steps(const shocks (&z)[word32(group)]) {
        word32 different = 0;
        for (int k = 0; k < group; ++k) different |= mask_[k] ^ 2;
        if (different != 0) return false;
        const numbers rows = trade_.from(next_row_[1]);
        // Laid out explicitly: a compiler that finds the section long would keep one copy of it, and the
        // shocks in memory.
        unrolled<group>([&](int k) {
            run_first(k, z[k]);
            run<1>(row_of<program::row_width(1)>{rows.from(word64(k) * pitch<1>)}, z[k]);
        });
        next_row_[1] += group * pitch<1>;
        return true;
    }

    void step(int step, const shocks& z) {
        if constexpr (group == 1) {
            // The mask is loaded a step ahead, so that no branch waits for it.
            const word32 mask = mask_[0];
            mask_[0] = load_read_only(masks_ + step + 1);
            run_next<0>(z);
            run_sections<1>(mask, z);
        } else {
            const int k = step - first_;
            run_first(k, z);
            run_sections<1>(mask_[k], z);
        }
    }

    // The rows of the scenario slots, step after step.
    const word32* scenario_rows(word32 steps) const { return masks_ + steps + 1; }

    double payoff(int w) const { return double(states_[w][program::output]); }
    // The payoff of output k, which is a constant of the kernel, because a state has no address.
    double payoff(int w, int k) const { return double(states_[w][program::output_of(k)]); }

  private:
    template <int width>
    using row_of = row_of_numbers<numbers, real, width>;
    template <int k>
    static constexpr word32 pitch = row_pitch(word32(program::row_width(k)), sizeof(real));

    template <int k, class row>
    void run(const row& numbers_of_row, const shocks& z) {
        // Laid out explicitly: around a long section, even of one path, the compiler keeps a loop, and with
        // it the whole walker in local memory.
        unrolled<shape::width>([&](int w) {
            program::template section<k>(states_[w], z[w], numbers_of_row, row_of<program::terms>{trade_});
        });
    }
    // Runs the step itself, number k of its group.
    void run_first(int k, const shocks& z) {
        if constexpr (holds_rows) {
            run<0>(held_row{held_, k * int(pitch<0>)}, z);
        } else {
            run<0>(row_of<program::row_width(0)>{step_rows_.from(word64(k) * pitch<0>)}, z);
        }
    }
    template <int k>
    void run_next(const shocks& z) {
        run<k>(row_of<program::row_width(k)>{trade_.from(next_row_[k])}, z);
        next_row_[k] += pitch<k>;
    }

    // Runs the sections from `k` on that follow the step, each on its next row, for all paths of the thread.
    template <int k>
    void run_sections(word32 mask, const shocks& z) {
        if constexpr (k < program::sections) {
            if ((mask >> k & 1) != 0) run_next<k>(z);
            run_sections<k + 1>(mask, z);
        }
    }

    // A group's rows wait in registers if they are few and fill whole pieces, except where each path reads
    // numbers of its own.
    static constexpr int piece = int(piece_bytes / sizeof(real));
    static constexpr int pieces_held = group * int(pitch<0>) / piece;
    static constexpr bool holds_rows = group > 1 && group* int(pitch<0>) % piece == 0 && pieces_held <= 2 &&
                                       !step_has_tables<program>;
    struct held_row {
        const neighbours<real, piece>* of;
        int first;
        real operator[](int i) const { return of[(first + i) / piece].x[(first + i) % piece]; }
    };

    const numbers trade_;
    const word32* masks_;
    real states_[word32(shape::width)][word32(program::states)];
    word32 next_row_[word32(program::sections)];
    int first_ = 0;
    word32 mask_[word32(group)];
    numbers step_rows_;
    neighbours<real, piece> held_[word32(holds_rows ? pieces_held : 1)];
};

// A walker as feeds call it.
template <class walker>
struct body {
    static constexpr bool takes_groups = walker::takes_groups;
    walker& of;
    void begin(int first) const { of.begin(first); }
    template <class group>
    bool group_at_once(const group& z) const {
        return of.steps(z);
    }
    void operator()(int step, const typename walker::shocks& z) const { of.step(step, z); }
};

// The number of steps that the feed lays out in its loop and announces.
template <class feed, class source>
static constexpr int group_of() {
    if constexpr (requires { feed::template group<source>; }) {
        return feed::template group<source>;
    } else {
        return 1;
    }
}

// The work of a block.
struct work_of_block {
    trade_record trade;
    word32 tile_of_launch;
    word64 tile;
    int count;  // of paths of the tile

    explicit work_of_block(const path_arguments& a) {
        const word32 block = number_of_block();
        word32 number;
        if (a.trades_first != 0) {
            number = block % a.trade_count;
            tile_of_launch = block / a.trade_count;
        } else {
            number = block / a.tiles;
            tile_of_launch = block % a.tiles;
        }
        trade = a.trades[number];
        tile = a.first_tile + tile_of_launch;
        count = paths_in_tile(a.paths, tile);
    }
};

// Sums payoffs over the tile into a row of the trade's results.
template <class choice>
static void finish_row(const path_arguments& a, const double* payoffs, word32 row_of_trade,
                       char* feed_memory) {
    const work_of_block work(a);
    const word32 result = work.trade.result + row_of_trade;
    const word64 row = word64(result) * a.tiles;
    const word64 first_part = word64(result) * parts_of(a.tiles, a.part_tiles);
    choice::reduction::finish(
        payoffs, work.count,
        {work.tile, work.tile_of_launch, a.tiles, a.part_tiles, a.results + row, a.merged + first_part,
         a.finished + first_part, a.payoffs + row * paths_per_tile},
        feed_memory);
}

// The kernel is built as `choice` says, by its types real (of the states) and shock, program, feed, shape,
// memory, numbers, source (of shocks) and reduction.
template <class choice>
static void walk_tile(const path_arguments& a, char* shared) {
    using real = typename choice::real;
    using program = typename choice::program;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    constexpr int width = shape::width, threads = shape::threads;
    constexpr int paths_per_pass = width * threads;
    // The payoffs of the tile, by output and path, with room for a sum; the feed's memory follows.
    constexpr int outputs = outputs_of<program>(), sums = sums_of<program>();
    double* payoffs = reinterpret_cast<double*>(shared);
    char* feed_memory = shared + (outputs + (sums > 0 ? 1 : 0)) * paths_per_tile * sizeof(double);

#pragma unroll 1
    for (int pass = 0, count = work_of_block(a).count; pass * paths_per_pass < count; ++pass) {
        const work_of_block work(a);
        const int in_tile = pass * paths_per_pass + int(threadIdx.x) * width;
        const word64 path = work.tile * paths_per_tile | word64(in_tile);
        using source = typename choice::source;
        const word32* const head = a.words + work.trade.words_at;
        walker<program, shape, real, numbers, group_of<typename choice::feed, source>()> walk(
            numbers::of(a, work.trade.numbers_at), head + head_words<program>);
        const trade_words words{head, walk.scenario_rows(work.trade.steps), work.trade.normal_row,
                                work.trade.uniform_row};
        choice::feed::walk(source::of(a, path, words), int(work.trade.steps),
                           choice::memory::of(a, feed_memory), body{walk});
        if constexpr (outputs == 1) {
            for (int w = 0; w < width; ++w) payoffs[in_tile + w] = walk.payoff(w);
        } else {
            unrolled<outputs>([&](int k) {
                for (int w = 0; w < width; ++w) payoffs[k * paths_per_tile + in_tile + w] = walk.payoff(w, k);
            });
        }
    }
    __syncthreads();
    if constexpr (outputs == 1) {
        finish_row<choice>(a, payoffs, 0, feed_memory);
    } else {
#pragma unroll 1
        for (int k = 0; k < outputs; ++k) {
            if (k > 0) __syncthreads();  // the reduction's memory is free again
            finish_row<choice>(a, payoffs + k * paths_per_tile, word32(k), feed_memory);
        }
    }
    if constexpr (sums > 0) {
        double* both = payoffs + outputs * paths_per_tile;
#pragma unroll 1
        for (int k = 0; k < sums; ++k) {
            const double* first = payoffs + program::first_of(k) * paths_per_tile;
            const double* second = payoffs + program::second_of(k) * paths_per_tile;
            __syncthreads();  // no thread reads the last sum any more
            for (int i = int(threadIdx.x); i < paths_per_tile; i += threads) both[i] = first[i] + second[i];
            __syncthreads();
            finish_row<choice>(a, both, word32(outputs + k), feed_memory);
        }
    }
}

}  // namespace tilewalk::kernels
