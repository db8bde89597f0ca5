// SPDX-License-Identifier: Apache-2.0
// A thread on both ways: forward to the end of its paths, then back (adjoint) through sections of each step.
#pragma once

#include "kernels/way_back/numbers_of_paths.h"
#include "kernels/way_back/sums_in_tables.h"
#include "kernels/way_back/sums_of_warp.h"

namespace tilewalk::kernels {

// By section, its first row on the way back and its first derivative's place; only listed events need them.
template <bool is_listed>
struct first_of_sections {
    constexpr first_of_sections(const word32*, const word32*) {}
};
template <>
struct first_of_sections<true> {
    const word32 *back_rows, *places;
};

// A thread on both ways. Besides the types of a path kernel, `choice` has the programs `again` (walks a piece
// once more), `quiet` (if it has no events) and `back`, and `ways`: the carried states, the states given to a
// section's way back, and states with its derivatives, first to numbers of a run, then to those of tables.
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
        move_every_step<0>(trade.steps);
        for (; word32(load_read_only(event_)) != no_step; event_ += words64_of_event)
            move_others<1>(word32(load_read_only(event_) >> 32), 1);
        load_event_before();
    }

    // True if no event follows the steps from `first` on that are still to go back, and the tile is full.
    bool is_quiet_from(word32 first) const { return event_before_ + 1 <= first && count_ == paths_per_tile; }

    // Walks a quiet piece once more from the states `kept` at its first step; stores the states before step k
    // at hold(k), last those after it. shocks_of(use) calls use(k, shocks) for each step of the piece.
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
    // Goes back one step of a quiet piece, from the states before and after it.
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

    // Walks a piece with events once more: each step, then the sections that follow it.
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
    // Sections whose rows this object tracks; sections of listed events are not among them.
    static constexpr int rows_followed = sections_of_masks<program>;
    static constexpr int of_every_step = [] {
        int count = ways::of_run(0);
        for (int k = 1; k < rows_followed; ++k) count += (every_step >> k & 1) != 0 ? ways::of_run(k) : 0;
        return count;
    }();
    static constexpr bool makes_room = of_every_step <= sums::slots;
    // The section whose rows have the numbers of section k: the step's, if k runs on every step.
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

    // Moves the rows and places of section k on by `runs` runs; 2^32 - n moves them back by n.
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

    // Goes back through the sections of a step from k on. From the states `before` section k, walks it
    // forward, goes back through the later ones, then through k.
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
    // Goes back, from section k on, through sections that run on every step, and no others.
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

    template <class shocks>
    void run_listed(states_of_paths& s, const word64* at, const shocks& z) const {
        const event_in_list e(at);
        chosen<1, sections>(int(e.section), [&](auto k) {
            if constexpr (!is_on_every_step<k.value>) run<again, k.value>(s, z, e.place);
        });
    }
    // Goes back through the sections listed for a step. Before each, walks the step again up to it.
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
    // Goes back through sections k to 0. All states they need must be known from before or after the step.
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
    // Runs section k back on the row at `row_at`; derivatives with respect to the row go to `place` and
    // after.
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
    // Splits a derivative with respect to an interpolated number between the table's two numbers beside
    // `position`.
    void add_in_table(word32 first, int size, real d, real position) const {
        if (d == 0) return;
        const auto found = find_place(size, position);
        const real second = d * found.on;
        in_tables_.add(first + word32(found.i), double(d - second));
        in_tables_.add(first + word32(found.i) + 1, double(second));
    }

    // Adds `count` derivatives to the warp's sums. In a quiet piece all paths count, and there is room.
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

}  // namespace tilewalk::kernels
