// SPDX-License-Identifier: Apache-2.0
// The path kernel: a block walks one tile of one trade through its program and leaves the moments of payoffs.
// The program defines the steps, the feed how shocks arrive, the reduction how the tile is summed.
#pragma once

#include "kernels/arguments.h"
#include "kernels/feeds/feed.h"
#include "kernels/loops.h"
#include "kernels/ptx.h"
#include "kernels/quarters.h"
#include "kernels/resident_blocks.h"
#include "kernels/stream_slots.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// True if the program defines the constant step_has_tables: paths then read tables in each step.
template <class program>
static constexpr bool step_has_tables = requires {
    program::step_has_tables;
};

// The number of a path's states that are results: the program's constant `outputs`, or 1.
template <class program>
static constexpr int outputs_of() {
    if constexpr (requires { program::outputs; }) {
        return program::outputs;
    } else {
        return 1;
    }
}

template <class program>
static constexpr bool has_quarters() {
    return requires {
        program::has_quarters;
    };
}

// The number of pairs of results that are summed path by path, for the moments of the sum: `sums`, or 0.
template <class program>
static constexpr int sums_of() {
    if constexpr (requires { program::sums; }) {
        return program::sums;
    } else {
        return 0;
    }
}

// The words of a trade before those of its sections: keys of streams, if the program draws random numbers.
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

// The sections that run on every step, bit k for section k: the program's constant `every_step`, or 0.
template <class program>
static constexpr word32 every_step_of() {
    if constexpr (requires { program::every_step; }) {
        return program::every_step;
    } else {
        return 0;
    }
}

// True if the program has more sections than a mask has bits: a list then gives the section of each event.
// Sections on every step are always among those that a mask has bits for.
template <class program>
static constexpr bool lists_events = program::sections > most_sections_of_masks;
template <class program>
static constexpr int sections_of_masks = lists_events<program> ? most_sections_of_masks : program::sections;
template <class program>
static constexpr bool is_on_every_step(int k) {
    return k == 0 || (k < most_sections_of_masks && (every_step_of<program>() >> k & 1) != 0);
}

struct event_in_list {
    static constexpr int words64 = sizeof(listed_event) / sizeof(word64);
    word32 step, section, row, place;

    explicit event_in_list(const word64* at) {
        const word64 first = load_read_only(at), second = load_read_only(at + 1);
        step = word32(first);
        section = word32(first >> 32);
        row = word32(second);
        place = word32(second >> 32);
    }
};

// The next event, as a thread holds it. Only an event of a list has a section and the place of its row.
template <bool is_listed>
struct next_event {
    word32 step = 0, mask = 0;
};
template <>
struct next_event<true> {
    word32 step = 0, section = 0, place = 0;
};

struct leaves_nothing {
    template <int k, int width, class states>
    void after(const states&) {}
};

// Walks a thread's paths through the program: the body that a feed calls for each step. A feed that unrolls a
// group of steps announces it by begin(), so that numbers common to all paths load while it makes the shocks.
// `leaver` is given the states after each run of section k, as of(path, state).
template <class program, class shape, class real, class numbers, int group, class leaver = leaves_nothing>
class walker {
  public:
    using shocks = shocks_of_step<shape>;
    // Groups gain speed in single only: in double, or with many sections, registers are full without them.
    static constexpr bool takes_groups = sizeof(real) == 4 && program::sections > 1 && program::sections <= 3;

    walker(const numbers& trade, const word32* words, word32 steps, const leaver& leaves = {})
        : leaves_(leaves),
          trade_(trade),
          events_(reinterpret_cast<const word64*>(
              words + event_place(word32(program::sections), steps * word32(program::scenarios)))),
          step_rows_(trade) {
        const row_of<program::states> initial{
            trade_.from(whole_pieces(word32(program::terms), sizeof(real)))};
        unrolled<program::states>([&](int s) {
            const real x = initial[s];
            for (int w = 0; w < shape::width; ++w) states_[w][s] = x;
        });
        for (int k = 0; k < rows_followed; ++k) next_row_[k] = load_read_only(words + k);
        load_event();
    }

    // Announces steps first, ..., first + group - 1; `first` is a multiple of `group`.
    void begin(int first) {
        if constexpr (group == 1) return;
        first_ = first;
        step_rows_ = trade_.from(next_row_[0] + word32(first) * pitch<0>);
        if constexpr (holds_rows) {
            for (int i = 0; i < pieces_held; ++i)
                held_[i] = step_rows_.template load<piece>(word64(i * piece));
        }
    }

    // True if quiet steps, which no other section follows, gain by a loop of their own. With 3 shocks and 35
    // operations, or with Heston's 57, that second copy of the step took registers from the first.
    static constexpr bool has_short_steps =
        program::step_nodes <= 45 && shape::slots <= 2 && !step_has_tables<program>;

    // Runs all steps of a group. If another section runs before the last step, does nothing, returns false.
    bool steps(const shocks (&z)[word32(group)]) {
        const word32 last = word32(first_ + (group - 1));
        if (event_.step < last) return false;
        // Unrolled explicitly: of a long section the compiler would keep one copy, with the shocks in memory.
        unrolled<group>([&](int k) { run_step(k, z[k]); });
        run_events(last, z[group - 1]);
        return true;
    }

    // The next step that another section follows; steps before it are quiet.
    word32 quiet_until() const { return event_.step; }
    void quiet_step(int k, const shocks& z) { run_step(k, z); }

    void step(int step, const shocks& z) {
        run_step(group == 1 ? 0 : step - first_, z);
        run_events(word32(step), z);
    }

    // A state of a path; `s` must be a compile-time constant, because a state has no address.
    real state(int w, int s) const { return states_[w][s]; }
    double payoff(int w) const { return double(states_[w][program::output]); }
    // The payoff of output k; `k` must be a compile-time constant, because a state has no address.
    double payoff(int w, int k) const { return double(states_[w][program::output_of(k)]); }

  private:
    template <int width>
    using row_of = row_of_numbers<numbers, real, width>;
    template <int k>
    static constexpr word32 pitch = row_pitch(word32(program::row_width(k)), sizeof(real));
    static constexpr word32 every_step = every_step_of<program>();
    // True if just one section does not run on every step, so that every event is a run of that section.
    static constexpr bool has_one_other = [] {
        int others = 0;
        for (int k = 1; k < sections_of_masks<program>; ++k) others += int(~every_step >> k & 1);
        return others == 1 && !lists_events<program>;
    }();
    // Number of sections whose next row this object tracks; with a list of events, the step's section alone.
    static constexpr int rows_followed = lists_events<program> ? 1 : program::sections;

    template <int k, class row>
    void run(const row& numbers_of_row, const shocks& z) {
        // Unrolled explicitly: around a long section the compiler keeps a loop, with the walker in local
        // memory.
        unrolled<shape::width>([&](int w) {
            program::template section<k>(states_[w], z[w], numbers_of_row, row_of<program::terms>{trade_});
        });
        leaves_.template after<k, shape::width>([&](int w, int s) { return states_[w][s]; });
    }
    // Runs section `k`, if it runs on every step, and all later sections that do.
    template <int k, class row>
    void run_on_every_step(const row& numbers_of_row, const shocks& z) {
        if constexpr (k < sections_of_masks<program>) {
            if constexpr (k == 0 || (every_step >> k & 1) != 0) run<k>(numbers_of_row, z);
            run_on_every_step<k + 1>(numbers_of_row, z);
        }
    }
    void run_step(int k, const shocks& z) {
        using row = row_of<program::row_width(0)>;
        if constexpr (group == 1) {
            run_on_every_step<0>(row{trade_.from(next_row_[0])}, z);
            next_row_[0] += pitch<0>;
        } else if constexpr (holds_rows) {
            run_on_every_step<0>(held_row{held_, k * int(pitch<0>)}, z);
        } else {
            run_on_every_step<0>(row{step_rows_.from(word64(k) * pitch<0>)}, z);
        }
    }

    // Loads the next event when the one before begins, so that no branch waits for it.
    void load_event() {
        if constexpr (lists_events<program>) {
            const event_in_list next(events_);
            events_ += event_in_list::words64;
            event_ = {next.step, next.section, next.place};
        } else {
            const word64 next = load_read_only(events_++);
            event_.step = word32(next);
            if constexpr (!has_one_other) event_.mask = word32(next >> 32);
        }
    }
    void run_events(word32 step, const shocks& z) {
        if constexpr (lists_events<program>) {
#pragma unroll 1
            while (step == event_.step) run_listed(z);
        } else {
            if (step != event_.step) return;
            const word32 mask = event_.mask;
            load_event();
            run_sections<1>(mask, z);
        }
    }
    void run_listed(const shocks& z) {
        const word32 section = event_.section, place = event_.place;
        load_event();
        chosen<1, program::sections>(int(section), [&](auto k) {
            if constexpr (!is_on_every_step<program>(k.value))
                run<k.value>(row_of<program::row_width(k.value)>{trade_.from(place)}, z);
        });
    }
    // Runs the sections of the mask from section `k` on, each on its next row, for all paths of the thread.
    template <int k>
    void run_sections(word32 mask, const shocks& z) {
        if constexpr (k < program::sections) {
            if constexpr ((every_step >> k & 1) == 0) {
                if (has_one_other || (mask >> k & 1) != 0) {
                    run<k>(row_of<program::row_width(k)>{trade_.from(next_row_[k])}, z);
                    next_row_[k] += pitch<k>;
                }
            }
            run_sections<k + 1>(mask, z);
        }
    }

    // Rows of a group are held in registers if they are few and in whole pieces, and steps read no tables.
    static constexpr int piece = int(piece_bytes / sizeof(real));
    static constexpr int pieces_held = group * int(pitch<0>) / piece;
    static constexpr bool holds_rows = group > 1 &&
                                       group* int(pitch<0>) % piece == 0 && pieces_held <= most_pieces_held &&
                                       !step_has_tables<program>;
    struct held_row {
        const neighbours<real, piece>* of;
        int first;
        real operator[](int i) const { return of[(first + i) / piece].x[(first + i) % piece]; }
    };

    [[no_unique_address]] leaver leaves_;
    const numbers trade_;
    const word64* events_;  // step and mask of each, or a list
    real states_[word32(shape::width)][word32(program::states)];
    word32 next_row_[word32(rows_followed)];
    int first_ = 0;
    next_event<lists_events<program>> event_;
    numbers step_rows_;
    neighbours<real, piece> held_[word32(holds_rows ? pieces_held : 1)];
};

template <class walker>
struct body {
    static constexpr bool takes_groups = walker::takes_groups, has_short_steps = walker::has_short_steps;
    walker& of;
    void begin(int first) const { of.begin(first); }
    template <class group>
    bool group_at_once(const group& z) const {
        return of.steps(z);
    }
    word32 quiet_until() const { return of.quiet_until(); }
    void quiet_step(int k, const typename walker::shocks& z) const { of.quiet_step(k, z); }
    void operator()(int step, const typename walker::shocks& z) const { of.step(step, z); }
};

// The number of steps in a group, which the feed unrolls and announces.
template <class feed, class source>
static constexpr int group_of() {
    if constexpr (requires { feed::template group<source>; }) {
        return feed::template group<source>;
    } else {
        return 1;
    }
}

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

// Reduces the first `count` payoffs of the tile to a row of the trade's results.
template <class choice>
static void finish_row(const path_arguments& a, const double* payoffs, word32 row_of_trade, char* feed_memory,
                       int count) {
    const work_of_block work(a);
    const word32 result = work.trade.result + row_of_trade;
    const word64 row = word64(result) * a.tiles;
    const word64 first_part = word64(result) * parts_of(a.tiles, a.part_tiles);
    choice::reduction::finish(
        payoffs, count,
        {work.tile, work.tile_of_launch, a.tiles, a.part_tiles, a.results + row, a.merged + first_part,
         a.finished + first_part, a.payoffs + row * paths_per_tile},
        feed_memory);
}

template <class choice>
static void finish_row(const path_arguments& a, const double* payoffs, word32 row_of_trade,
                       char* feed_memory) {
    finish_row<choice>(a, payoffs, row_of_trade, feed_memory, work_of_block(a).count);
}

template <class program, int width, class walker>
static void keep_payoffs(const walker& of, double* to) {
    constexpr int outputs = outputs_of<program>();
    if constexpr (outputs == 1) {
        for (int w = 0; w < width; ++w) to[w] = of.payoff(w);
    } else {
        unrolled<outputs>([&](int k) {
            for (int w = 0; w < width; ++w) to[k * paths_per_tile + w] = of.payoff(w, k);
        });
    }
}

template <class choice>
static void finish_outputs(const path_arguments& a, const double* payoffs, char* feed_memory) {
    constexpr int outputs = outputs_of<typename choice::program>();
    if constexpr (outputs == 1) {
        finish_row<choice>(a, payoffs, 0, feed_memory);
    } else {
#pragma unroll 1
        for (int k = 0; k < outputs; ++k) {
            if (k > 0) __syncthreads();  // the reduction's memory is free again
            finish_row<choice>(a, payoffs + k * paths_per_tile, word32(k), feed_memory);
        }
    }
}

// `choice` has the types real (of states), shock, program, feed, shape, memory, numbers, source, reduction.
template <class choice>
static void walk_tile(const path_arguments& a, char* shared) {
    using real = typename choice::real;
    using program = typename choice::program;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    constexpr int width = shape::width, threads = shape::threads;
    constexpr int paths_per_pass = width * threads;
    // Shared memory: the tile's payoffs by output and path, room for a sum of two outputs, the feed's memory.
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
        const word32* const sections = head + head_words<program>;
        walker<program, shape, real, numbers, group_of<typename choice::feed, source>()> walk(
            numbers::of(a, work.trade.numbers_at), sections, work.trade.steps);
        const trade_words words{head, sections + scenario_place(word32(program::sections)),
                                work.trade.normal_row, work.trade.uniform_row, work.trade.target_step};
        choice::feed::walk(source::of(a, path, words), int(work.trade.steps),
                           choice::memory::of(a, feed_memory), body{walk});
        keep_payoffs<program, width>(walk, payoffs + in_tile);
    }
    __syncthreads();
    finish_outputs<choice>(a, payoffs, feed_memory);
    if constexpr (sums > 0) {
        double* both = payoffs + outputs * paths_per_tile;
#pragma unroll 1
        for (int k = 0; k < sums; ++k) {
            const double* first = payoffs + program::first_of(k) * paths_per_tile;
            if constexpr (has_quarters<program>()) {
                if (const int j = program::second_of(k) - int(first_quarter); j >= 0) {
                    __syncthreads();  // the reduction's memory is free again
                    const int from = j * paths_of_quarter, left = work_of_block(a).count - from;
                    finish_row<choice>(a, first + from, word32(outputs + k), feed_memory,
                                       left < paths_of_quarter ? left : paths_of_quarter);
                    continue;
                }
            }
            const double* second = payoffs + program::second_of(k) * paths_per_tile;
            __syncthreads();  // no thread reads the last sum any more
            for (int i = int(threadIdx.x); i < paths_per_tile; i += threads) both[i] = first[i] + second[i];
            __syncthreads();
            finish_row<choice>(a, both, word32(outputs + k), feed_memory);
        }
    }
}

}  // namespace tilewalk::kernels
