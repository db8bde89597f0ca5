// SPDX-License-Identifier: Apache-2.0
// The kernel of both ways: a block walks one tile of paths of one trade to their ends, and then back, and
// leaves the moments of the payoffs and the sums of derivatives.
//
// A path is gone again in pieces, the last one first: from the states that were kept at its first step the
// piece is walked once more, with its shocks read back or made again, and then back, step by step. Sections
// of a step are gone again from the states before the step, so that each way back has the states that its
// section began with.
//
// Derivatives are summed in the tree over the tile's paths, neighbours first: by a thread over its own
// paths, by its warp over its threads. Sums of warps are left in memory, and merge_derivatives goes on with
// them.
#pragma once

#include "kernels/path_kernel.h"
#include "kernels/way_back_arguments.h"

namespace tilewalk::kernels {

// Sums over numbers[i * pitch] for i < count, in the tree that merges neighbours first and carries an odd
// last one up.
static inline double tree_sum(const double* numbers, word64 pitch, word32 count) {
    // Sums of complete subtrees: the one of 2^k numbers is there if bit k of their number is set.
    double complete[32];
    word32 there = 0;
    for (word32 i = 0; i < count; ++i) {
        double sum = numbers[i * pitch];
        int k = 0;
        for (; (there >> k & 1) != 0; ++k) sum = complete[k] + sum;
        complete[k] = sum;
        ++there;
    }
    double sum = 0;
    bool is_first = true;
    for (int k = 0; k < 32; ++k) {
        if ((there >> k & 1) == 0) continue;
        sum = is_first ? complete[k] : complete[k] + sum;
        is_first = false;
    }
    return sum;
}

static inline void merge_derivatives_of_part(const derivative_merge_arguments& a) {
    // Blocks go through the places of a part, then through parts.
    const word32 blocks_of_part = word32((a.places + blockDim.x - 1) / blockDim.x);
    const word32 part = blockIdx.x / blocks_of_part, first = part * a.part_tiles;
    const word64 place = word64(blockIdx.x % blocks_of_part) * blockDim.x + threadIdx.x;
    if (place >= a.places) return;
    const word32 tiles = first + a.part_tiles < a.tiles ? a.part_tiles : a.tiles - first;
    // Tiles have a power of two of warps, so the tree over warps is that over tiles.
    // A sum of nothing but -0 is 0.
    a.merged[part * a.places + place] =
        tree_sum(a.sums + word64(first) * a.warps * a.places + place, a.places, tiles * a.warps) + 0.0;
}

// A thread on both ways. `choice` has, besides the types of a path kernel, the programs `again` and `back`,
// and `ways`: the states that are carried along, those that each section's way back is given, and the states
// in which it leaves derivatives.
template <class choice>
class both_ways {
  public:
    using real = typename choice::real;
    using program = typename choice::program;
    using again = typename choice::again;
    using back = typename choice::back;
    using ways = typename choice::ways;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    using shocks = shocks_of_step<shape>;
    static constexpr int width = shape::width, sections = program::sections;

    both_ways(const way_back_arguments& a, const word32* words, const trade_record& trade, word32 in_tile,
              int count, double* sums)
        : a_(a),
          forth_(numbers::of(a.forth, trade.numbers_at)),
          back_(numbers::of(of_back(a), a.back->numbers_at)),
          first_event_(reinterpret_cast<const word64*>(
              words + event_place(word32(sections), trade.steps * word32(program::scenarios)))),
          event_(first_event_),
          in_tile_(in_tile),
          count_(count),
          sums_(sums) {
        const row_of<numbers, back::states> start{
            back_.from(whole_pieces(word32(back::terms), sizeof(real)))};
        unrolled<back::states>([&](int s) {
            const real x = start[s];
            for (int w = 0; w < width; ++w) derivatives_[w][s] = x;
        });
        const word32* const back_words = a.back_words + head_words<back>;
        for (int k = 0; k < sections; ++k) {
            row_[k] = load_read_only(words + k);
            back_row_[k] = load_read_only(back_words + k);
            run_[k] = 0;
        }
        // To the end of the path.
        row_[0] += trade.steps * pitch<program, 0>;
        run_[0] = trade.steps;
        for (; word32(load_read_only(event_)) != no_step; ++event_)
            count_runs<1>(word32(load_read_only(event_) >> 32), 1);
    }

    // Takes the states at the first step of a piece.
    template <class place>
    void take(const place& at) {
        unrolled<ways::carried>([&](int i) {
            for (int w = 0; w < width; ++w) states_[w][ways::carried_of(i)] = at(i, w);
        });
    }

    // One step forth.
    template <class which>
    void step(word32 step, const shocks& z) {
        run_on_every_step<which, 0>(z);
        ++run_[0];
        if (step != next_event_) return;
        const word32 mask = word32(load_read_only(event_++) >> 32);
        next_event_ = word32(load_read_only(event_));
        run_events<which, 1>(mask, z);
    }
    // Turns round where a piece ends.
    void turn_round() { load_event_before(); }

    // Turns to the steps from `first` on, before which the piece behind it begins.
    void turn_to(word32 first, word32 last) {
        while (event_ != first_event_ && word32(load_read_only(event_ - 1)) >= first) {
            --event_;
            count_runs<1>(word32(load_read_only(event_) >> 32), ~word32{0});
        }
        next_event_ = word32(load_read_only(event_));
        row_[0] -= (last - first) * pitch<program, 0>;
        run_[0] -= last - first;
    }

    // One step back, from the states before it.
    void step_back(word32 step, const real (&before)[width][word32(program::states)], const shocks& z) {
        word32 mask = 0;
        if (step == event_before_) {
            --event_;
            mask = word32(load_read_only(event_) >> 32);
            load_event_before();
            count_runs<1>(mask, ~word32{0});
        }
        row_[0] -= pitch<program, 0>;
        --run_[0];
        through<0>(before, mask, z);
    }

    // Derivatives of whole paths.
    void finish() {
        leave<ways::of_paths>(0, [](int i) { return ways::state_of_path(i); });
    }

    // A state of a path; `s` is a constant of the kernel.
    real state(int w, int s) const { return states_[w][s]; }

  private:
    template <class of, int row_width>
    using row_of = row_of_numbers<of, real, row_width>;
    template <class which, int k>
    static constexpr word32 pitch = row_pitch(word32(which::row_width(k)), sizeof(real));
    static constexpr word32 every_step = every_step_of<program>();

    static path_arguments of_back(const way_back_arguments& a) {
        path_arguments out{};
        out.numbers = a.back_numbers;
        return out;
    }

    template <class which, int k>
    void run(real (&s)[width][word32(program::states)], const shocks& z, word32 row_at) const {
        unrolled<width>([&](int w) {
            which::template section<k>(s[w], z[w],
                                       row_of<numbers, program::row_width(row_owner<k>)>{forth_.from(row_at)},
                                       row_of<numbers, program::terms>{forth_});
        });
    }
    // The section in whose rows the numbers of section k stand.
    template <int k>
    static constexpr int row_owner = (every_step >> k & 1) != 0 ? 0 : k;

    template <class which, int k>
    void run_on_every_step(const shocks& z) {
        if constexpr (k < sections) {
            if constexpr (k == 0 || (every_step >> k & 1) != 0) run<which, k>(states_, z, row_[0]);
            run_on_every_step<which, k + 1>(z);
        } else {
            row_[0] += pitch<program, 0>;
        }
    }
    template <class which, int k>
    void run_events(word32 mask, const shocks& z) {
        if constexpr (k < sections) {
            if constexpr ((every_step >> k & 1) == 0) {
                if ((mask >> k & 1) != 0) {
                    run<which, k>(states_, z, row_[k]);
                    row_[k] += pitch<program, k>;
                    ++run_[k];
                }
            }
            run_events<which, k + 1>(mask, z);
        }
    }
    // Goes by one run, or by -1, in all sections of the mask from `k` on.
    template <int k>
    void count_runs(word32 mask, word32 by) {
        if constexpr (k < sections) {
            if constexpr ((every_step >> k & 1) == 0) {
                if ((mask >> k & 1) != 0) {
                    row_[k] += by * pitch<program, k>;
                    run_[k] += by;
                }
            }
            count_runs<k + 1>(mask, by);
        }
    }
    void load_event_before() {
        event_before_ = event_ == first_event_ ? no_step : word32(load_read_only(event_ - 1));
    }

    template <int k>
    void through(const real (&before)[width][word32(program::states)], word32 mask, const shocks& z) {
        if constexpr (k < sections) {
            const bool runs = k == 0 || (every_step >> k & 1) != 0 || (mask >> k & 1) != 0;
            if (!runs) {
                through<k + 1>(before, mask, z);
                return;
            }
            if constexpr (k + 1 < sections) {
                const bool goes_on = (every_step >> (k + 1)) != 0 || (mask >> (k + 1)) != 0;
                if (goes_on) {
                    real after[word32(width)][word32(program::states)];
                    for (int w = 0; w < width; ++w)
                        unrolled<program::states>([&](int s) { after[w][s] = before[w][s]; });
                    run<again, k>(after, z, row_[row_owner<k>]);
                    through<k + 1>(after, mask, z);
                }
            }
            run_back<k>(before, z);
        }
    }

    template <int k>
    void run_back(const real (&before)[width][word32(program::states)], const shocks& z) {
        constexpr int owner = row_owner<k>;
        const word32 runs_before = owner == 0 ? run_[0] : run_[k];
        unrolled<width>([&](int w) {
            ways::template give<k>(before[w], derivatives_[w]);
            back::template section<k>(derivatives_[w], z[w],
                                      row_of<numbers, back::row_width(owner)>{
                                          back_.from(back_row_[owner] + runs_before * pitch<back, owner>)},
                                      row_of<numbers, back::terms>{back_});
        });
        const word64 place = a_.first_place[k] + word64(runs_before) * word32(ways::of_run(k));
        leave<ways::of_run(k)>(place, [](int i) { return ways::state_of_run(k, i); });
    }

    // Leaves the warp's sums of `count` derivatives. On the way through the warp two sums share the exchanges
    // of one: threads whose number has a bit go on with the second, the others with the first.
    template <int count, class state_of>
    void leave(word64 place, const state_of& state) {
        if constexpr (count > 0) {
            double sum[word32(count)];
            unrolled<count>([&](int i) { sum[i] = sum_of_thread(state(i)); });
            fold<count, 1>(sum);
            const word32 thread = threadIdx.x % threads_of_warp;
            double* const to = sums_ + word64(in_tile_ / word32(threads_of_warp * width)) * a_.places + place;
            unrolled<count>([&](int i) {
                constexpr folded at{};
                if (thread == at.thread(i, count)) to[i] = sum[i / threads_of_warp];
            });
        }
    }
    double sum_of_thread(int state) const {
        double sum[word32(width)];
        unrolled<width>(
            [&](int w) { sum[w] = int(in_tile_) + w < count_ ? double(derivatives_[w][state]) : 0.0; });
        if constexpr (width == 4) {
            sum[0] += sum[1];
            sum[1] = sum[2] + sum[3];
        }
        if constexpr (width >= 2) sum[0] += sum[1];
        return sum[0];
    }
    template <int count, int distance, class sums>
    static void fold(sums& sum) {
        if constexpr (distance < threads_of_warp) {
            const bool takes_second = (threadIdx.x & distance) != 0;
            unrolled<count / 2>([&](int i) {
                const double mine = takes_second ? sum[2 * i + 1] : sum[2 * i];
                const double others = takes_second ? sum[2 * i] : sum[2 * i + 1];
                sum[i] = mine + __shfl_xor_sync(~0u, others, distance);
            });
            if constexpr (count % 2 == 1) {
                const double last = sum[count - 1];
                sum[count / 2] = last + __shfl_xor_sync(~0u, last, distance);
            }
            fold<(count + 1) / 2, distance * 2>(sum);
        }
    }
    // The thread that has the sum number i of `count` after all exchanges, at place i / threads_of_warp.
    struct folded {
        static constexpr word32 thread(int i, int count) {
            word32 out = 0;
            for (int distance = 1; distance < threads_of_warp; distance *= 2) {
                const bool is_alone = count % 2 == 1 && i == count - 1;
                if (!is_alone && i % 2 == 1) out |= word32(distance);
                i /= 2;
                count = (count + 1) / 2;
            }
            return out;
        }
    };

    const way_back_arguments& a_;
    const numbers forth_, back_;
    const word64* const first_event_;
    const word64* event_;
    word32 next_event_ = no_step, event_before_ = no_step;  // their steps
    const word32 in_tile_;
    const int count_;
    double* const sums_;
    real states_[word32(width)][word32(program::states)];
    real derivatives_[word32(width)][word32(back::states)];
    word32 row_[word32(sections)], back_row_[word32(sections)], run_[word32(sections)];
};

// The shocks of a thread's paths in a pass, from their way forth until they have gone back.
template <class choice>
class kept_shocks {
  public:
    using shape = typename choice::shape;
    using shocks = shocks_of_step<shape>;

    kept_shocks(void* of_launch, word32 steps)
        : first_(static_cast<typename shape::shock*>(of_launch) + word64(blockIdx.x) * steps * of_step +
                 word64(int(threadIdx.x) * shape::width)) {}

    void keep(int step, const shocks& z) const {
        if constexpr (choice::keeps_shocks) {
            unrolled<shape::slots>([&](int slot) {
                unrolled<piece::count>([&](int k) {
                    typename piece::type out{};
                    unrolled<piece::paths>([&](int w) { out.x[w] = z[k * piece::paths + w][slot]; });
                    *at(step, slot, k) = out;
                });
            });
        }
    }
    shocks of(int step) const {
        return shocks_from_pieces<shape>([&](int slot, int k) { return *at(step, slot, k); });
    }

  private:
    using piece = pieces<shape>;
    static constexpr word64 of_slot = shape::width * shape::threads, of_step = of_slot * shape::slots;
    typename piece::type* at(int step, int slot, int k) const {
        return reinterpret_cast<typename piece::type*>(first_ + word64(step) * of_step +
                                                       word64(slot) * of_slot) +
               k;
    }

    typename shape::shock* const first_;
};

// The way forth as a feed calls it. The states at the first step of each piece are kept; a piece begins with
// a group of the feed.
template <class choice, class walker, class places>
struct body_that_keeps : body<walker> {
    const places& kept_at;
    const kept_shocks<choice>& shocks;
    mutable int group_begin = 0;

    template <class group>
    bool group_at_once(const group& z) const {
        if (!body<walker>::group_at_once(z)) return false;
        constexpr int steps = int(sizeof(group) / sizeof(z[0]));
        unrolled<steps>([&](int k) { shocks.keep(group_begin + k, z[k]); });
        return true;
    }
    void quiet_step(int k, const typename walker::shocks& z) const {
        shocks.keep(group_begin + k, z);
        body<walker>::quiet_step(k, z);
    }
    void operator()(int step, const typename walker::shocks& z) const {
        shocks.keep(step, z);
        body<walker>::operator()(step, z);
    }
    void begin(int first) const {
        group_begin = first;
        if (first % choice::piece_steps == 0) {
            const auto at = kept_at(first / choice::piece_steps);
            unrolled<choice::ways::carried>([&](int i) {
                for (int w = 0; w < choice::shape::width; ++w)
                    at(i, w) = this->of.state(w, choice::ways::carried_of(i));
            });
        }
        this->of.begin(first);
    }
};

template <class choice>
static void walk_tile_both_ways(const way_back_arguments& a, char* shared) {
    using real = typename choice::real;
    using program = typename choice::program;
    using again = typename choice::again;
    using shape = typename choice::shape;
    using numbers = typename choice::numbers;
    using source = typename choice::source;
    using feed = typename choice::feed;
    using ways = typename choice::ways;
    using shocks = shocks_of_step<shape>;
    constexpr int width = shape::width, paths_per_pass = width * shape::threads,
                  steps_of_piece = choice::piece_steps;
    double* payoffs = reinterpret_cast<double*>(shared);
    char* feed_memory = shared + paths_per_tile * sizeof(double);
    const work_of_block work(a.forth);
    constexpr int warps_of_tile = paths_per_tile / (threads_of_warp * width);
    double* const sums = a.sums + word64(work.tile_of_launch) * warps_of_tile * a.places;
    real* const kept =
        static_cast<real*>(a.kept) + word64(blockIdx.x) * a.pieces * (ways::carried * paths_per_pass);
#pragma unroll 1
    for (int pass = 0; pass * paths_per_pass < work.count; ++pass) {
        const int in_tile = pass * paths_per_pass + int(threadIdx.x) * width;
        const word64 path = work.tile * paths_per_tile | word64(in_tile);
        const word32* const head = a.forth.words + work.trade.words_at;
        const word32* const sections = head + head_words<program>;
        const trade_words words{head, sections + scenario_place(word32(program::sections)), 0, 0};
        const source from = source::of(a.forth, path, words);
        const auto memory = choice::memory::of(a.forth, feed_memory);
        const int steps = int(work.trade.steps);
        const auto kept_at = [&](int piece) {
            return [=](int i, int w) -> real& {
                return kept[(word64(piece) * ways::carried + word64(i)) * paths_per_pass +
                            word64(int(threadIdx.x) * width + w)];
            };
        };
        const kept_shocks<choice> shocks_of(a.shocks, work.trade.steps);
        {
            using forth = walker<program, shape, real, numbers, group_of<feed, source>()>;
            forth walk(numbers::of(a.forth, work.trade.numbers_at), sections, work.trade.steps);
            feed::walk(from, steps, memory,
                       body_that_keeps<choice, forth, decltype(kept_at)>{{walk}, kept_at, shocks_of});
            for (int w = 0; w < width; ++w) payoffs[in_tile + w] = walk.payoff(w);
        }

        both_ways<choice> walk(a, sections, work.trade, word32(in_tile), work.count, sums);
        real before[word32(steps_of_piece)][word32(width)][word32(ways::carried > 0 ? ways::carried : 1)];
        shocks drawn[word32(choice::keeps_shocks ? 1 : steps_of_piece)];
#pragma unroll 1
        for (int piece = (steps - 1) / steps_of_piece; piece >= 0; --piece) {
            const int first = piece * steps_of_piece;
            const int last = first + steps_of_piece < steps ? first + steps_of_piece : steps;
            walk.turn_to(word32(first), word32(last));
            walk.take(kept_at(piece));
            const auto step_again = [&](int step, const shocks& z) {
                unrolled<ways::carried>([&](int i) {
                    for (int w = 0; w < width; ++w)
                        before[step - first][w][i] = walk.state(w, ways::carried_of(i));
                });
                walk.template step<again>(word32(step), z);
            };
            if constexpr (choice::keeps_shocks) {
#pragma unroll 1
                for (int step = first; step < last; ++step) step_again(step, shocks_of.of(step));
            } else {
                feed::walk_part(from, first, last, memory, [&](int step, const shocks& z) {
                    drawn[step - first] = z;
                    step_again(step, z);
                });
            }
            walk.turn_round();
#pragma unroll 1
            for (int step = last; step-- > first;) {
                real s[word32(width)][word32(program::states)]{};
                unrolled<ways::carried>([&](int i) {
                    for (int w = 0; w < width; ++w) s[w][ways::carried_of(i)] = before[step - first][w][i];
                });
                if constexpr (choice::keeps_shocks) {
                    walk.step_back(word32(step), s, shocks_of.of(step));
                } else {
                    walk.step_back(word32(step), s, drawn[step - first]);
                }
            }
        }
        walk.finish();
    }
    __syncthreads();
    finish_row<choice>(a.forth, payoffs, 0, feed_memory);
}

}  // namespace tilewalk::kernels
