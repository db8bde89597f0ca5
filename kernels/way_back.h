// SPDX-License-Identifier: Apache-2.0
// The kernel of both ways: a block walks one tile of paths of one trade to their ends, and then back, and
// leaves the moments of the payoffs and the sums of derivatives.
//
// A path is gone again in pieces, the last one first: from the states that were kept at its first step the
// piece is walked once more, with its shocks read back or made again, and then back, step by step. Sections
// of a step are gone again from the states before the step, so that each way back has the states that its
// section began with. A piece in which nothing follows the steps but what follows each of them is quiet: it
// is walked by a program that leaves out what other sections alone would need.
//
// Derivatives are summed in the tree over the tile's paths, neighbours first: by a thread over its own
// paths, by its warp over its threads. Sums of warps are left in memory, and merge_derivatives goes on with
// them. Derivatives to numbers of tables are added up in memory, at once by all threads of the block; in the
// end they stand where the sums of its first warp do.
#pragma once

#include "kernels/derivative_sums.h"
#include "kernels/path_kernel.h"
#include "kernels/way_back_arguments.h"

namespace tilewalk::kernels {

// Sums over numbers[i * pitch] for i < count, whole groups of eight, in the tree that merges neighbours first
// and carries an odd last one up.
static inline double tree_sum(const double* numbers, word64 pitch, word32 count) {
    // A group is on its way at once. Sums of complete subtrees: the one of 2^k groups is there if bit k of
    // their number is set; their places are constants, so that they need no memory.
    constexpr int group = 8, levels = 29;
    double complete[levels]{};
    word32 there = 0;
    for (word32 i = 0; i < count; i += group) {
        double of[group];
        unrolled<group>([&](int k) { of[k] = numbers[word64(i + word32(k)) * pitch]; });
        sum_neighbours(of, group);
        bool is_placed = false;
        unrolled<levels>([&](int k) {
            if (is_placed) return;
            if ((there >> k & 1) != 0) {
                of[0] = complete[k] + of[0];
            } else {
                complete[k] = of[0];
                is_placed = true;
            }
        });
        ++there;
    }
    double sum = 0;
    bool is_first = true;
    unrolled<levels>([&](int k) {
        if ((there >> k & 1) == 0) return;
        sum = is_first ? complete[k] : complete[k] + sum;
        is_first = false;
    });
    return sum;
}

static inline void merge_derivatives_of_part(const derivative_merge_arguments& a) {
    // Blocks go through the places of a part, then through parts, then through trades.
    const word32 parts = parts_of(a.tiles, a.part_tiles);
    const word32 blocks_of_part = word32((a.most_places + blockDim.x - 1) / blockDim.x);
    const word32 number = number_of_block() / blocks_of_part;
    const derivatives_of_trade of = a.derivatives[number / parts];
    const word32 part = number % parts, first = part * a.part_tiles;
    const word64 place = word64(number_of_block() % blocks_of_part) * blockDim.x + threadIdx.x;
    if (place >= of.places) return;
    const word32 tiles = first + a.part_tiles < a.tiles ? a.part_tiles : a.tiles - first;
    const double* const sums = a.sums + of.first * a.tiles * a.warps;
    double* const merged = a.merged + of.first * parts;
    // Tiles have a power of two of warps, eight or more, so the tree over warps is that over tiles.
    // A sum of nothing but -0 is 0.
    merged[part * of.places + place] =
        tree_sum(sums + word64(first) * a.warps * of.places + place, of.places, tiles * a.warps) + 0.0;
}

// Numbers of a thread's paths, in memory of its block: [number][path of the thread][thread].
template <class number, int width, int threads>
struct numbers_of_paths {
    number* first;  // the thread's

    static numbers_of_paths in(void* of_block, word64 from = 0) {
        return {static_cast<number*>(of_block) + from * (width * threads) + threadIdx.x};
    }
    numbers_of_paths from(int i) const { return {first + word64(i) * (width * threads)}; }
    number& operator()(int i, int w) const { return first[word32((i * width + w) * threads)]; }
};

// Sums of a warp over the paths of its threads, of numbers that come a few at a time. They wait in shared
// memory until there are so many that each thread can sum some of them alone: exchanges between threads for
// each number would take as long as the way back itself.
template <class sum, int width, int threads>
class sums_of_warp {
  public:
    static constexpr int slots = 16;
    static constexpr word32 shared_bytes() { return threads / threads_of_warp * of_warp * sizeof(sum); }

    sums_of_warp(char* shared, double* to)
        : column_(reinterpret_cast<sum*>(shared) + threadIdx.x / threads_of_warp * of_warp +
                  threadIdx.x % threads_of_warp),
          next_(column_),
          to_(to) {}

    // Makes room for `count` numbers, if there can be that much.
    template <int count>
    void make_room() {
        if (used_ + count > slots) leave();
    }
    // Adds `count` numbers, of(i) the thread's share of number i, whose sums go to `place` and behind it.
    // `has_room`: somebody has made room for them.
    template <int count, bool has_room, class numbers>
    void add(word32 place, const numbers& of) {
        if constexpr (count > slots) {
            add<slots, false>(place, of);
            add<count - slots, false>(place + slots, [&](int i) { return of(slots + i); });
        } else if constexpr (count > 0) {
            if constexpr (!has_room) make_room<count>();
            unrolled<count>([&](int i) { next_[i * pitch] = of(i); });
            const word32 mine = threadIdx.x % slots - used_;
            if (mine < word32(count)) place_ = place + mine;
            used_ += count;
            next_ += count * pitch;
        }
    }
    // Leaves all sums in memory. The tree takes neighbours first.
    void leave() {
        constexpr int half = threads_of_warp / 2;
        static_assert(slots == half);
        __syncwarp();
        const word32 thread = threadIdx.x % threads_of_warp;
        const sum* const from = column_ - thread + thread % slots * pitch + thread / slots * half;
        sum found = tree<half>(from);
        found += __shfl_xor_sync(~0u, found, half);
        if (thread < used_) to_[place_] = double(found);
        __syncwarp();
        used_ = 0;
        next_ = column_;
    }

  private:
    static constexpr int pitch = threads_of_warp + 1, of_warp = slots * pitch;

    template <int count>
    static sum tree(const sum* numbers) {
        if constexpr (count == 1) {
            return *numbers;
        } else {
            const sum first = tree<count / 2>(numbers);
            return first + tree<count / 2>(numbers + count / 2);
        }
    }

    sum* const column_;  // the thread's number of the first slot
    sum* next_;          // that of the first free one
    double* const to_;
    word32 used_ = 0;
    word32 place_ = 0;  // of the sum in the slot that has the thread's number
};

// Sums of derivatives over a tile, to numbers of tables. While threads add, the words of a sum are where the
// sums of the tile's first warps will be; memory of 0 is the sum of nothing.
class sums_in_tables {
  public:
    static constexpr int words = 3;

    sums_in_tables(double* of_tile, word64 places)
        : words_(reinterpret_cast<word64*>(of_tile)), places_(places) {}

    void add(word64 place, double x) const {
        fixed_sum one;
        one.add(x);
        word64* const to = words_ + place;
        atomicAdd(to, word64(one.high));
        atomicAdd(to + places_, word64(one.low));
        if (one.is_spoilt) to[2 * places_] = 1;
    }
    // Turns the words of a place into its sum.
    void end(word64 place) const {
        static_assert(sizeof(word64) == sizeof(double));
        word64* const at = words_ + place;
        fixed_sum sum;
        sum.high = static_cast<long long>(at[0]);
        sum.low = static_cast<long long>(at[places_]);
        sum.is_spoilt = at[2 * places_] != 0;
        *reinterpret_cast<double*>(at) = sum.value();
        at[places_] = at[2 * places_] = 0;
    }

  private:
    word64* const words_;
    const word64 places_;
};

// By section: where its first row of the way back is, and the first place of derivatives to its numbers. Only
// events that are listed ask again.
template <bool is_listed>
struct first_of_sections {
    constexpr first_of_sections(const word32*, const word32*) {}
};
template <>
struct first_of_sections<true> {
    const word32 *back_rows, *places;
};

// A thread on both ways. `choice` has, besides the types of a path kernel, the programs `again`, `quiet` and
// `back`, and `ways`: the states that are carried along, those that each section's way back is given, and the
// states in which it leaves derivatives, to numbers of runs and then to those of tables.
template <class choice>
class both_ways {
  public:
    using real = typename choice::real;
    using program = typename choice::program;
    using again = typename choice::again;
    using quiet = typename choice::quiet;
    using back = typename choice::back;
    using ways = typename choice::ways;
    using numbers = typename choice::numbers;
    static constexpr int width = choice::shape::width, threads = choice::shape::threads,
                         sections = program::sections;
    using states = numbers_of_paths<real, width, threads>;
    using sums = sums_of_warp<typename choice::sum, width, threads>;

    both_ways(const way_back_arguments& a, const word32* words, const trade_record& trade,
              const trade_record& trade_back, const derivatives_of_trade& found, word32 in_tile, int count,
              char* shared, double* to, const sums_in_tables& in_tables)
        : forth_(numbers::of(a.forth, trade.numbers_at)),
          back_(numbers::of(of_back(a), trade_back.numbers_at)),
          first_event_(reinterpret_cast<const word64*>(
              words + event_place(word32(sections), trade.steps * word32(program::scenarios)))),
          event_(first_event_),
          first_of_sections_{a.back_words + trade_back.words_at + head_words<back>,
                             a.first_places + found.first_places_at},
          in_tile_(in_tile),
          count_(count),
          sums_(shared, to),
          in_tables_(in_tables) {
        const row_of<numbers, back::states> start{
            back_.from(whole_pieces(word32(back::terms), sizeof(real)))};
        unrolled<back::states>([&](int s) {
            const real x = start[s];
            for (int w = 0; w < width; ++w) derivatives_[w][s] = x;
        });
        const word32* const back_words = a.back_words + trade_back.words_at + head_words<back>;
        unrolled<rows_followed>([&](int k) {
            row_[k] = load_read_only(words + k);
            back_row_[k] = load_read_only(back_words + k);
            place_[k] = load_read_only(a.first_places + found.first_places_at + k);
        });
        // To the end of the path.
        move_every_step<0>(trade.steps);
        for (; word32(load_read_only(event_)) != no_step; event_ += words64_of_event)
            move_others<1>(word32(load_read_only(event_) >> 32), 1);
        load_event_before();
    }

    // Whether no event follows the steps from `first` on that are still to be gone back, and all paths of the
    // tile count.
    bool is_quiet_from(word32 first) const { return event_before_ + 1 <= first && count_ == paths_per_tile; }

    // Walks a quiet piece once more, from the states at its first step, and leaves those before each step and
    // those behind the last: hold(step of the piece). `shocks_of` gives those of a step of the piece.
    template <class holder, class maker>
    void walk_quietly(const states& kept, int steps, const holder& hold, const maker& shocks_of) {
        real s[width][word32(program::states)]{};
        take<ways::carried_quietly>(kept, s);
        word32 row = row_[0] - word32(steps) * pitch<program, 0>;
        shocks_of([&](int step, const auto& z) {
            leave_states<ways::carried_quietly>(s, hold(step));
            run_on_every_step<quiet, 0>(s, z, row);
            row += pitch<program, 0>;
        });
        leave_states<ways::carried_quietly>(s, hold(steps));
    }
    // One step of it back, from the states before it and those behind it.
    template <class shocks>
    void step_back_quietly(const states& before, const states& behind, const shocks& z) {
        if constexpr (makes_room) sums_.template make_room<of_every_step>();
        move_every_step<0>(~word32{0});
        if constexpr (ways::repeats) {
            real s[width][word32(program::states)]{};
            take<ways::carried_quietly>(before, s);
            through_every_step<quiet, true, 0>(s, z);
        } else {
            back_quietly<rows_followed - 1>(before, behind, z);
        }
    }

    // The same of a piece with events. Each step is walked with those that follow it.
    template <class holder, class maker>
    void walk_with_events(const states& kept, word32 first, int steps, const holder& hold,
                          const maker& shocks_of) {
        real s[width][word32(program::states)]{};
        take<ways::carried>(kept, s);
        move_every_step<0>(~word32(steps) + 1);
        while (event_ != first_event_ && word32(load_read_only(event_ - words64_of_event)) >= first) {
            event_ -= words64_of_event;
            move_others<1>(word32(load_read_only(event_) >> 32), ~word32{0});
        }
        word32 next_event = word32(load_read_only(event_));
        shocks_of([&](int step, const auto& z) {
            leave_states<ways::carried>(s, hold(step));
            run_on_every_step<again, 0>(s, z, row_[0]);
            move_every_step<0>(1);
            if constexpr (lists_events<program>) {
#pragma unroll 1
                while (first + word32(step) == next_event) {
                    run_listed(s, event_, z);
                    event_ += words64_of_event;
                    next_event = word32(load_read_only(event_));
                }
            } else {
                if (first + word32(step) != next_event) return;
                const word32 mask = word32(load_read_only(event_++) >> 32);
                next_event = word32(load_read_only(event_));
                run_events<again, 1>(s, mask, z);
            }
        });
        load_event_before();
    }
    template <class shocks>
    void step_back(word32 step, const states& before, const shocks& z) {
        if constexpr (lists_events<program>) {
            step_back_by_list(step, before, z);
        } else {
            word32 mask = 0;
            if (step == event_before_) {
                --event_;
                mask = word32(load_read_only(event_) >> 32);
                load_event_before();
                move_others<1>(mask, ~word32{0});
            }
            move_every_step<0>(~word32{0});
            real s[width][word32(program::states)]{};
            take<ways::carried>(before, s);
            through<0>(s, mask, z);
        }
    }

    // Derivatives of whole paths.
    void finish() {
        leave<ways::of_paths, false>(0, [](int i) { return ways::state_of_path(i); });
        sums_.leave();
    }

  private:
    using states_of_paths = real[width][word32(program::states)];
    template <class of, int row_width>
    using row_of = row_of_numbers<of, real, row_width>;
    template <class which, int k>
    static constexpr word32 pitch = row_pitch(word32(which::row_width(k)), sizeof(real));
    static constexpr word32 every_step = every_step_of<program>();
    template <int k>
    static constexpr bool is_on_every_step = kernels::is_on_every_step<program>(k);
    static constexpr int words64_of_event = lists_events<program> ? event_in_list::words64 : 1;
    // Sections whose rows are followed: a list says the rows of those that it has, which are none of these.
    static constexpr int rows_followed = sections_of_masks<program>;
    // The derivatives that sections on every step leave.
    static constexpr int of_every_step = [] {
        int count = ways::of_run(0);
        for (int k = 1; k < rows_followed; ++k) count += (every_step >> k & 1) != 0 ? ways::of_run(k) : 0;
        return count;
    }();
    static constexpr bool makes_room = of_every_step <= sums::slots;
    // The section in whose rows the numbers of section k stand.
    template <int k>
    static constexpr int row_owner = is_on_every_step<k> ? 0 : k;

    static path_arguments of_back(const way_back_arguments& a) {
        path_arguments out{};
        out.numbers = a.back_numbers;
        return out;
    }

    template <int count>
    static void take(const states& from, states_of_paths& to) {
        unrolled<count>([&](int i) {
            for (int w = 0; w < width; ++w) to[w][ways::carried_of(i)] = from(i, w);
        });
    }
    template <int count>
    static void leave_states(const states_of_paths& from, const states& to) {
        unrolled<count>([&](int i) {
            for (int w = 0; w < width; ++w) to(i, w) = from[w][ways::carried_of(i)];
        });
    }

    // Moves by so many runs, or back by as many below 2^32, in section k.
    template <int k>
    void move(word32 runs) {
        if constexpr (row_owner<k> == k) {
            row_[k] += runs * pitch<program, k>;
            back_row_[k] += runs * pitch<back, k>;
        }
        place_[k] += runs * word32(ways::of_run(k) + ways::of_tables(k));
    }
    template <int k>
    void move_every_step(word32 runs) {
        if constexpr (k < rows_followed) {
            if constexpr (is_on_every_step<k>) move<k>(runs);
            move_every_step<k + 1>(runs);
        }
    }
    // In all sections of the mask from `k` on.
    template <int k>
    void move_others(word32 mask, word32 runs) {
        if constexpr (k < sections && !lists_events<program>) {
            if constexpr (!is_on_every_step<k>) {
                if ((mask >> k & 1) != 0) move<k>(runs);
            }
            move_others<k + 1>(mask, runs);
        }
    }
    void load_event_before() {
        event_before_ = event_ == first_event_ ? no_step : word32(load_read_only(event_ - words64_of_event));
    }

    template <class which, int k, class shocks>
    void run(states_of_paths& s, const shocks& z, word32 row_at) const {
        unrolled<width>([&](int w) {
            which::template section<k>(s[w], z[w],
                                       row_of<numbers, program::row_width(row_owner<k>)>{forth_.from(row_at)},
                                       row_of<numbers, program::terms>{forth_});
        });
    }
    template <class which, int k, class shocks>
    void run_on_every_step(states_of_paths& s, const shocks& z, word32 row) const {
        if constexpr (k < rows_followed) {
            if constexpr (is_on_every_step<k>) run<which, k>(s, z, row);
            run_on_every_step<which, k + 1>(s, z, row);
        }
    }
    template <class which, int k, class shocks>
    void run_events(states_of_paths& s, word32 mask, const shocks& z) {
        if constexpr (k < sections) {
            if constexpr (!is_on_every_step<k>) {
                if ((mask >> k & 1) != 0) {
                    run<which, k>(s, z, row_[k]);
                    move<k>(1);
                }
            }
            run_events<which, k + 1>(s, mask, z);
        }
    }

    // Goes back through the sections of a step from k on: forth from the states before them, and back.
    template <int k, class shocks>
    void through(const states_of_paths& before, word32 mask, const shocks& z) {
        if constexpr (k < sections) {
            const bool runs = is_on_every_step<k> || (mask >> k & 1) != 0;
            if (!runs) {
                through<k + 1>(before, mask, z);
                return;
            }
            if constexpr (k + 1 < sections) {
                const bool goes_on = (every_step >> (k + 1)) != 0 || (mask >> (k + 1)) != 0;
                if (goes_on) {
                    states_of_paths behind;
                    copy(before, behind);
                    run<again, k>(behind, z, row_[row_owner<k>]);
                    through<k + 1>(behind, mask, z);
                }
            }
            give<k>(before);
            run_back<k, false>(z);
        }
    }
    // The same through those that run on every step alone.
    template <class which, bool is_quiet, int k, class shocks>
    void through_every_step(const states_of_paths& before, const shocks& z) {
        if constexpr (k < rows_followed) {
            if constexpr (!is_on_every_step<k>) {
                through_every_step<which, is_quiet, k + 1>(before, z);
            } else {
                if constexpr ((every_step >> k >> 1) != 0) {
                    states_of_paths behind;
                    copy(before, behind);
                    run<which, k>(behind, z, row_[0]);
                    through_every_step<which, is_quiet, k + 1>(behind, z);
                }
                give<k>(before);
                run_back<k, is_quiet>(z);
            }
        }
    }

    // Runs the section of a list that stands there.
    template <class shocks>
    void run_listed(states_of_paths& s, const word64* at, const shocks& z) const {
        const event_in_list e(at);
        chosen<1, sections>(int(e.section), [&](auto k) {
            if constexpr (!is_on_every_step<k.value>) run<again, k.value>(s, z, e.place);
        });
    }
    // Each section of the step that is listed is gone back from the states before it, to which the step is
    // walked again from its beginning.
    template <class shocks>
    void step_back_by_list(word32 step, const states& before, const shocks& z) {
        const word64* const end = event_;
        for (; step == event_before_; load_event_before()) event_ -= words64_of_event;
        move_every_step<0>(~word32{0});
        real s[width][word32(program::states)]{};
        take<ways::carried>(before, s);
#pragma unroll 1
        for (const word64* at = end; at != event_; take<ways::carried>(before, s)) {
            at -= words64_of_event;
            run_on_every_step<again, 0>(s, z, row_[0]);
#pragma unroll 1
            for (const word64* earlier = event_; earlier != at; earlier += words64_of_event)
                run_listed(s, earlier, z);
            const event_in_list e(at);
            chosen<1, sections>(int(e.section), [&](auto k) {
                if constexpr (!is_on_every_step<k.value>) {
                    constexpr int of_run = ways::of_run(k.value) + ways::of_tables(k.value);
                    give<k.value>(s);
                    run_back<k.value, false>(
                        load_read_only(first_of_sections_.back_rows + k.value) + e.row * pitch<back, k.value>,
                        load_read_only(first_of_sections_.places + k.value) + e.row * word32(of_run), z);
                }
            });
        }
        through_every_step<again, false, 0>(s, z);
    }
    // Back through section k and those before it, where all that these are given is known before the step or
    // behind it.
    template <int k, class shocks>
    void back_quietly(const states& before, const states& behind, const shocks& z) {
        if constexpr (k >= 0) {
            if constexpr (is_on_every_step<k>) {
                unrolled<width>([&](int w) {
                    ways::template give_quietly<k>([&](int i) { return before(i, w); },
                                                   [&](int i) { return behind(i, w); }, derivatives_[w]);
                });
                run_back<k, true>(z);
            }
            back_quietly<k - 1>(before, behind, z);
        }
    }
    static void copy(const states_of_paths& from, states_of_paths& to) {
        for (int w = 0; w < width; ++w) unrolled<program::states>([&](int s) { to[w][s] = from[w][s]; });
    }
    template <int k>
    void give(const states_of_paths& before) {
        unrolled<width>([&](int w) { ways::template give<k>(before[w], derivatives_[w]); });
    }

    template <int k, bool is_quiet, class shocks>
    void run_back(const shocks& z) {
        run_back<k, is_quiet>(back_row_[row_owner<k>], place_[k], z);
    }
    // By the row that is there; derivatives to its numbers go to `place` and behind it.
    template <int k, bool is_quiet, class shocks>
    void run_back(word32 row_at, word32 place, const shocks& z) {
        unrolled<width>([&](int w) {
            back::template section<k>(derivatives_[w], z[w],
                                      row_of<numbers, back::row_width(row_owner<k>)>{back_.from(row_at)},
                                      row_of<numbers, back::terms>{back_});
        });
        leave<ways::of_run(k), is_quiet>(place, [](int i) { return ways::state_of_run(k, i); });
        if constexpr (ways::of_tables(k) > 0) {
            unrolled<width>([&](int w) {
                if (!is_quiet && int(in_tile_) + w >= count_) return;
                ways::template add_in_tables<k>(
                    derivatives_[w], [&](int first, int size, real d, real position) {
                        add_in_table(place + word32(ways::of_run(k) + first), size, d, position);
                    });
            });
        }
    }
    // A derivative to the number that was found in a table is one to the two beside the position.
    void add_in_table(word32 first, int size, real d, real position) const {
        if (d == 0) return;
        const auto found = find_place(size, position);
        const real second = d * found.on;
        in_tables_.add(first + word32(found.i), double(d - second));
        in_tables_.add(first + word32(found.i) + 1, double(second));
    }

    // Leaves `count` derivatives. In quiet pieces all paths count, and there is room.
    template <int count, bool is_quiet, class state_of>
    void leave(word32 place, const state_of& state) {
        sums_.template add<count, is_quiet && makes_room>(
            place, [&](int i) { return sum_of_thread<is_quiet>(state(i)); });
    }
    template <bool all_count>
    typename choice::sum sum_of_thread(int state) const {
        using sum = typename choice::sum;
        sum of[word32(width)];
        unrolled<width>([&](int w) {
            const sum d = sum(derivatives_[w][state]);
            of[w] = all_count || int(in_tile_) + w < count_ ? d : sum(0);
        });
        if constexpr (width == 4) {
            of[0] += of[1];
            of[1] = of[2] + of[3];
        }
        if constexpr (width >= 2) of[0] += of[1];
        return of[0];
    }

    const numbers forth_, back_;
    const word64* const first_event_;
    const word64* event_;
    word32 event_before_ = no_step;  // its step
    [[no_unique_address]] const first_of_sections<lists_events<program>> first_of_sections_;
    const word32 in_tile_;
    const int count_;
    sums sums_;
    const sums_in_tables in_tables_;
    real derivatives_[word32(width)][word32(back::states)];
    word32 row_[word32(rows_followed)], back_row_[word32(rows_followed)], place_[word32(rows_followed)];
};

// Shocks in memory, from the last step of a path to its first.
template <class source>
struct backwards {
    const source& from;
    int last;
    auto at(int step, int slot) const { return from.at(last - step, slot); }
};

// The shocks of a pass of a block, [step][slot][path of the pass], written on the way forth.
template <class choice>
class kept_shocks {
  public:
    using shape = typename choice::shape;
    using element = typename shape::shock;
    using place = const element*;
    using array = array_source<typename choice::back_shape, shape::slots, place>;

    kept_shocks(void* of_launch, word32 block, word32 most_steps)
        : first_(static_cast<element*>(of_launch) + word64(block) * most_steps * of_step +
                 word64(int(threadIdx.x) * shape::width)) {}

    template <class shocks>
    void keep(int step, const shocks& z) const {
        using piece = pieces<shape>;
        unrolled<shape::slots>([&](int slot) {
            unrolled<piece::count>([&](int k) {
                typename piece::type out{};
                unrolled<piece::paths>([&](int w) { out.x[w] = z[k * piece::paths + w][slot]; });
                *reinterpret_cast<typename piece::type*>(
                    first_ + (word64(step) * of_step + word64(slot) * of_slot + word64(k * piece::paths))) =
                    out;
            });
        });
    }
    // From a step on, and from a step back.
    array from(int step) const { return source(step, of_step); }
    array back_from(int step) const { return source(step, ~of_step + 1); }

  private:
    static constexpr word64 of_slot = shape::width * shape::threads, of_step = of_slot * shape::slots;
    array source(int step, word64 stride) const {
        return {{first_ + word64(step) * of_step, stride, of_slot}, {first_, 0, 0}};
    }

    element* const first_;
};

// The way forth as a feed calls it. The states at the first step of each piece are kept; a piece begins with
// a group of the feed.
template <class choice, class walker>
struct body_that_keeps : body<walker> {
    using states = typename both_ways<choice>::states;
    const states& kept;
    const kept_shocks<choice>& shocks;
    mutable int group_begin = 0;

    template <class group>
    bool group_at_once(const group& z) const {
        if (!body<walker>::group_at_once(z)) return false;
        constexpr int steps = int(sizeof(group) / sizeof(z[0]));
        unrolled<steps>([&](int k) { keep(group_begin + k, z[k]); });
        return true;
    }
    void quiet_step(int k, const typename walker::shocks& z) const {
        keep(group_begin + k, z);
        body<walker>::quiet_step(k, z);
    }
    void operator()(int step, const typename walker::shocks& z) const {
        keep(step, z);
        body<walker>::operator()(step, z);
    }
    void begin(int first) const {
        group_begin = first;
        if (first % choice::piece_steps == 0) {
            const states at = kept.from(first / choice::piece_steps * choice::ways::carried);
            unrolled<choice::ways::carried>([&](int i) {
                for (int w = 0; w < choice::shape::width; ++w)
                    at(i, w) = this->of.state(w, choice::ways::carried_of(i));
            });
        }
        this->of.begin(first);
    }

  private:
    template <class step_shocks>
    void keep(int step, const step_shocks& z) const {
        if constexpr (choice::keeps_shocks) shocks.keep(step, z);
    }
};

// Places in the shared memory of a block.
template <class choice>
struct shared_of_both_ways {
    using walk = both_ways<choice>;
    static constexpr word32 feed = outputs_of<typename choice::program>() * paths_per_tile * sizeof(double);
    static constexpr word32 sums = feed + choice::feed_bytes;
    static constexpr word32 states = sums + walk::sums::shared_bytes();
    static constexpr word32 shocks = states + choice::states_bytes;
};

// The way back of a thread, as the feed that reads kept shocks calls it: step by step from the last one.
template <class choice>
struct body_of_way_back {
    using walk = both_ways<choice>;
    using states = typename walk::states;
    using shape = typename choice::shape;
    static constexpr int piece_steps = choice::piece_steps;

    walk& of;
    const states kept;  // at the first step of each piece
    const states held;  // before each step of a piece
    const states held_quietly;
    const int steps;
    mutable bool is_quiet = false;

    // `piece` walks a piece once more, which gives its shocks.
    template <class again>
    void begin(int step, const again& piece) const {
        if (step + 1 != steps && word32(step + 1) % piece_steps != 0) return;
        const int first = int(word32(step) / piece_steps * piece_steps), count = step + 1 - first;
        const states from = kept.from(first / piece_steps * choice::ways::carried);
        const auto shocks_of = [&](const auto& use) { piece(first, count, use); };
        if constexpr (choice::has_quiet_pieces) is_quiet = of.is_quiet_from(word32(first));
        if constexpr (choice::has_quiet_pieces) {
            if (is_quiet) {
                of.walk_quietly(
                    from, count, [&](int k) { return quiet_at(k); }, shocks_of);
                return;
            }
        }
        of.walk_with_events(
            from, word32(first), count, [&](int k) { return at(k); }, shocks_of);
    }
    template <class shocks>
    void step_back(int step, const shocks& z) const {
        const int k = int(word32(step) % piece_steps);
        if constexpr (choice::has_quiet_pieces) {
            if (is_quiet) {
                of.step_back_quietly(quiet_at(k), quiet_at(k + 1), z);
                return;
            }
        }
        of.step_back(word32(step), at(k), z);
    }

  private:
    states at(int k) const { return held.from(k * choice::ways::carried); }
    states quiet_at(int k) const { return held_quietly.from(k * choice::ways::carried_quietly); }
};

// Ends the sums of a tile that are to numbers of tables.
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
        // `all` are the shocks from the last step on; shocks_from(first) gives those of steps behind the
        // first.
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
