// SPDX-License-Identifier: Apache-2.0
// The walk back through the dates of rights.
#pragma once

#include "kernels/exercise/blocks_of_tile.h"
#include "kernels/exercise/date_at_hand.h"
#include "kernels/exercise/factor.h"
#include "kernels/exercise/read_paths.h"
#include "kernels/loops.h"
#include "kernels/ptx.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// Some blocks walk a sweep, each with tiles of its own. On each date they leave sums, meet, and each adds
// them up and solves by itself.
template <class basis>
class backward_walk {
  public:
    using date = date_at_hand<basis>;
    static constexpr int features = date::features, functions = date::functions, moves = date::moves;
    static constexpr backward_sizes sizes = date::sizes;
    static constexpr int threads = backward_sizes::threads_of_sweep;
    static constexpr int own_doubles = backward_sizes::doubles_of_walk;

    // It stands in shared memory, ahead of the rest: what all threads of a block know takes no registers
    // then. One thread opens it.
    void open(const backward_arguments& a, double* shared) {
        const word32 kept = a.trade_count * a.blocks_of_sweep;
        const bool is_kept = blockIdx.x < kept;
        const word32 block = is_kept ? blockIdx.x : blockIdx.x - kept;
        blocks_ = is_kept ? a.blocks_of_sweep : a.blocks_of_others;
        block_ = block % blocks_;
        sweep_ = a.sweeps[(is_kept ? 0 : a.trade_count) + block / blocks_];
        trade_ = a.trades[sweep_.trade];
        tiles_ = a.tiles;
        double* next = shared + own_doubles;
        const auto take = [&](int count) { return (next += count) - count; };
        work_ = take(sizes.work_of_sweep());
        parts_ = take(most_blocks * functions);
        factors_ = take(2 * both_factors);
        sides_ = take(2 * numbers_of_side(functions));
        all_ = take(numbers);
        means_ = take(4 * features);
        ranges_ = take(4 * halves);
        ring_ = take(sizes.ring_doubles(threads, numbers_to_read));
        met_ = at_hand_ = 0;
    }

    void walk() {
        begin();
        const int last = int(sweep_.date_count) - 1;
        bring(last, 0);
        turn();
        for (int d = last; d >= 0; --d) {
            sum_what_comes();
            meet_and_sum(2 * functions, d - 1);
            solve();
            use_rights();
            turn();
        }
        if (sweep_.is_kept != 0) end();
    }

  private:
    static constexpr int numbers = sizes.numbers_of_sweep(), both_factors = 2 * sizes.factor_doubles();
    static constexpr int most_blocks = backward_sizes::most_blocks_of_tile,
                         halves = backward_sizes::halves_of_sweep;
    static constexpr int numbers_to_read = sizes.numbers_to_sweep();
    static constexpr double infinity = date::infinity;
    using factor = factor_in_memory<functions>;

    const date& here() const { return dates_[at_hand_]; }
    const double* means() const { return means_ + at_hand_ * 2 * features; }

    static int thread() { return int(threadIdx.x); }
    static double further(double x, double y, bool is_up) {
        return is_up ? (x < y ? y : x) : (y < x ? y : x);
    }
    bool is_first() const { return block_ == 0; }
    double* sums_of(word32 tile) const {
        return sweep_.sums + (word64(met_ % 2) * tiles_ + tile) * word64(numbers);
    }

    // ---- dates
    void turn() {
        __syncthreads();
        if (thread() == 0) at_hand_ ^= 1;
        __syncthreads();
    }
    // The date that will be at hand next, whose memory is another; by the threads from `first` on.
    void bring(int d, int first) {
        if (d < 0) return;
        const int which = at_hand_ ^ 1;
        const date of(trade_, sweep_.dates[d], tiles_);
        if (thread() == first) dates_[which] = of;
        double *const mean = means_ + which * 2 * features, *const factor = factors_ + which * both_factors;
        const int mine = thread() - first, all = threads - first;
        for (int i = mine; i < 2 * features; i += all) mean[i] = of.found[i];
        for (int i = mine; i < both_factors; i += all) factor[i] = of.factors(0)[i];
        if constexpr (basis::reads == path_reads::l2_prefetch) bring_rows(of, mine, all);
    }
    // The rows that paths have left are asked for from the second-level cache, by so many threads.
    void bring_rows(const date& of, int mine, int all) const {
        constexpr int doubles_of_line = 16, lines = paths_per_tile / doubles_of_line;
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            const word32 path = tile * paths_per_tile;
            for (int i = mine; i < lines; i += all) {
                const word32 line = path + word32(i * doubles_of_line);
                for (int row = 0; row < rows_before_features + basis::states; ++row)
                    if (row != row_of_alive) bring_near(of.rows + word64(row) * of.pitch + line);
                bring_near(of.paid + line);
                if (i % 4 == 0) bring_near(of.listed + line);
            }
        }
    }

    // All blocks of the sweep meet, while the next date is brought; then all_ has the sums of all tiles, and
    // behind them the least and the most of what blocks have left.
    void meet_and_sum(int count, int next_date) {
        __syncthreads();
        if (thread() >= 32) bring(next_date, 32);
        if (thread() == 0 && blocks_ > 1) {
            __threadfence();
            atomicAdd(sweep_.arrived, 1u);
            while (*static_cast<volatile word32*>(sweep_.arrived) < (met_ + 1) * blocks_) {
            }
            __threadfence();
        }
        __syncthreads();
        constexpr int room = sizes.work_of_sweep() / numbers;
        const bool has_ranges = count == 2 * functions;
        const int all = has_ranges ? numbers : count;
        for (word32 first = 0; first < tiles_; first += word32(room)) {
            const int tiles = tiles_ - first < word32(room) ? int(tiles_ - first) : room;
            const double* const from = sums_of(first);
            for (int i = thread(); i < tiles * numbers; i += threads) work_[i] = __ldcg(from + i);
            __syncthreads();
            for (int i = thread(); i < all; i += threads) {
                const int range = i - count;  // of two sides: least, most
                const bool is_up = range % 2 != 0;
                double out = first > 0 ? all_[i] : range < 0 ? 0 : is_up ? -infinity : infinity;
                if (range < 0) {
#pragma unroll 8
                    for (int t = 0; t < tiles; ++t) out += work_[t * numbers + i];
                } else {
                    for (int t = 0; t < tiles && first + word32(t) < blocks_; ++t)
                        out = further(out, work_[t * numbers + i], is_up);
                }
                all_[i] = out;
            }
            __syncthreads();
        }
        if (thread() == 0) ++met_;
        __syncthreads();
    }

    // ---- what happens on a date
    void begin() {
        bool is_finite = true;
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            const int all = paths_in_tile(trade_.paths, tile);
            for (int i = thread(); i < all; i += threads) {
                const word32 path = tile * paths_per_tile + word32(i);
                const double paid = trade_.left[trade_.end_row * trade_.pitch + path];
                if (!(abs(paid) < infinity)) is_finite = false;
                sweep_.total[path] = sweep_.worth[path] = paid;
            }
        }
        is_finite = __syncthreads_and(is_finite ? 1 : 0) != 0;
        if (thread() == 0) is_finite_ = is_finite;
    }

    // The functions of a path; where they are many a thread has them in shared memory.
    struct few_functions {
        double of[word32(sizes.has_few_functions() ? functions : 1)];
        explicit few_functions(double*) {}
        double operator()(int k) const { return of[k]; }
        void set(int k, double x) { of[k] = x; }
    };
    struct many_functions {
        double* of;
        explicit many_functions(double* work) : of(work + thread()) {}
        double operator()(int k) const { return of[k * threads]; }
        void set(int k, double x) { of[k * threads] = x; }
    };
    using path_functions =
        typename choose_type<sizes.has_few_functions(), few_functions, many_functions>::type;
    path_functions functions_of(const double* means, bool has_path,
                                const typename date::known_path& known) const {
        path_functions out(work_);
        date::for_functions(
            means, means + features, has_path, known, [&](int k) { return out(k); },
            [&](int k, double value) { out.set(k, value); });
        return out;
    }

    struct path_to_come {
        bool has_path;
        typename date::known_path known;
        double total, value, unit;
    };
    // Sums products of functions with what comes, by side.
    void sum_what_comes() {
        for (int i = thread(); i < 4 * halves; i += threads) ranges_[i] = i % 2 == 0 ? infinity : -infinity;
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            __syncthreads();
            const lane_of_block<false> mine(here(), tile, thread());
            if (mine.is_there()) {
                constexpr int most = sizes.most_at_once;
                static_assert(functions <= 3 * most);
                sum_lane<0>(mine);
                if constexpr (functions > most) sum_lane<most>(mine);
                if constexpr (functions > 2 * most) sum_lane<2 * most>(mine);
            }
            __syncthreads();
            for (int i = thread(); i < numbers; i += threads) {
                const int side = i / functions;
                sums_of(tile)[i] = side > 1 ? 0
                                            : sum_of_blocks(parts_ + i % functions, functions,
                                                            side == 0 ? 0 : mine.first_blocks,
                                                            side == 0 ? mine.first_blocks : mine.blocks);
            }
        }
        __syncthreads();
        if (thread() >= 4) return;
        // They stand where the sums of the block's first tile are.
        double x = ranges_[thread()];
        for (int h = 1; h < halves; ++h) x = further(x, ranges_[4 * h + thread()], thread() % 2 != 0);
        sums_of(block_)[2 * functions + thread()] = x;
    }
    // The sums of the thread's lane and its block for some functions, from `first` on.
    template <int first>
    void sum_lane(const lane_of_block<false>& mine) {
        constexpr int count = functions - first < sizes.most_at_once ? functions - first : sizes.most_at_once;
        double sums[word32(count)]{}, low = infinity, high = -infinity;
        // Numbers that all threads know are read once, not for each path.
        const date d = here();
        const double *const total = sweep_.total, *const mean = means();
        mine.template for_paths<basis::reads, threads, numbers_to_read>(
            ring_,
            [&](const auto& at, auto number) {
                path_to_come out{};
                out.has_path = at.has_path;
                out.known = d.known_by(at.has_path, at.path, number);
                out.total = number(at.has_path, total + at.path);
                out.value = number(at.has_path, d.place(row_of_value, at.path));
                out.unit = number(at.has_path, d.place(row_of_unit, at.path), 1);
                return out;
            },
            [&](const path_to_come& path) {
                const path_functions of = functions_of(mean, path.has_path, path.known);
                const double to_come = path.has_path ? (path.total - path.value) / path.unit : 0;
                if (path.has_path) {
                    low = further(low, to_come, false);
                    high = further(high, to_come, true);
                }
                spelled_out<count>([&](int f) { sums[f] = fma(of(first + f), to_come, sums[f]); });
            });
        mine.template leave<count>(sums, parts_ + first, functions);
        const word32 mask = 0xffffu << (threadIdx.x % 32 / 16 * 16);
        unrolled<4>([&](int level) {
            low = further(low, __shfl_xor_sync(mask, low, lanes_of_sum / 2 >> level), false);
            high = further(high, __shfl_xor_sync(mask, high, lanes_of_sum / 2 >> level), true);
        });
        if (thread() % lanes_of_sum != 0) return;
        double* const range = ranges_ + thread() / lanes_of_sum * 4 + 2 * mine.side;
        range[0] = further(range[0], low, false);
        range[1] = further(range[1], high, true);
    }

    void solve() {
        const int side = thread() / 32;
        if (side < 2) {
            double* const of = sides_ + side * numbers_of_side(functions);
            const int rank = int(here().ranks()[side]);
            factor(factors_ + at_hand_ * both_factors + side * sizes.factor_doubles(), functions)
                .solve(rank < 0 ? 0 : rank, all_ + side * functions, of);
            if (factor::lane() == 0) {
                of[functions] = rank < 0 ? 0 : all_[2 * functions + 2 * side];
                of[functions + 1] = rank < 0 ? 0 : all_[2 * functions + 2 * side + 1];
                of[functions + 2] = rank < 0 ? 0 : rank;
            }
        }
        __syncthreads();
        if (sweep_.is_kept == 0 || !is_first()) return;
        for (int i = thread(); i < 2 * numbers_of_side(functions); i += threads)
            here().found_sides()[i] = sides_[i];
    }

    void use_rights() {
        // Numbers that all threads know are read once, not for each path.
        const date d = here();
        double *const total = sweep_.total, *const worth = sweep_.worth;
        const double *const mean = means(), *const sides = sides_;
        const bool has_rest = moves > 0 && sweep_.is_kept != 0;
        for (word32 tile = block_, tiles = tiles_, blocks = blocks_; tile < tiles; tile += blocks) {
            const int paying = d.count(tile, 0), living = paying + d.count(tile, 1);
            const int all = paths_in_tile(d.paths, tile);
            const word32 first = tile * paths_per_tile;
            const path_in_tile* const list = d.listed + first;
            struct place {
                int in_list;
                word32 path;
            };
            const auto place_of = [&](int k) {
                const int i = thread() + k * threads;
                return place{i, first + word32(i < all ? list[i] : 0)};
            };
            const auto load = [&](const place& at, auto number) {
                used_path out{};
                const bool is_there = at.in_list < all, lives = at.in_list < living;
                out.total = number(is_there, total + at.path);
                out.worth = number(lives, worth + at.path);
                out.known = d.known_by(lives, at.path, number);
                out.gives = number(lives, d.place(row_of_gives, at.path));
                out.unit = number(lives, d.place(row_of_unit, at.path), 1);
                out.value = number(lives, d.place(row_of_value, at.path));
                out.offered = number(lives, d.place(row_of_offered, at.path));
                return out;
            };
            const auto use = [&](const place& where, const used_path& at) {
                if (where.in_list >= living) {
                    worth[where.path] = at.total;
                    return;
                }
                const double to_come =
                    estimate(functions_of(mean, true, at.known),
                             sides + (where.in_list < paying ? 0 : numbers_of_side(functions)));
                if (has_rest) d.rest[where.path] = (at.worth - at.value) / at.unit - to_come;
                const double paid = at.known.of[basis::states];
                const bool uses = at.offered != 0 && (d.is_holders ? to_come < paid : paid < to_come);
                if (uses) total[where.path] = at.value + at.gives;
                worth[where.path] = at.value + (uses ? at.gives : at.unit * to_come);
            };
            read_paths<basis::reads, threads, numbers_to_read>(
                ring_, (all - thread() + threads - 1) / threads, place_of, load, use);
        }
    }
    struct used_path {
        typename date::known_path known;
        double gives, unit, value, offered, total, worth;
    };
    static double estimate(const path_functions& of, const double* by) {
        double to_come = 0;
        spelled_out<functions>([&](int f) { to_come = fma(by[f], of(f), to_come); });
        const double low = by[functions], high = by[functions + 1];
        to_come = to_come < low ? low : to_come;
        return high < to_come ? high : to_come;
    }

    // ---- the end
    void end() {
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            __syncthreads();
            const lane_of_block<true> mine(date(trade_, trade_.date_count, tiles_), tile, thread());
            if (mine.is_there()) {
                struct numbers_of_path {
                    double worth, total;
                };
                double sums[2]{};
                mine.template for_paths<basis::reads, threads, numbers_to_read>(
                    ring_,
                    [&](const auto& at, auto number) {
                        numbers_of_path out{};
                        out.worth = number(at.has_path, sweep_.worth + at.path);
                        out.total = number(at.has_path, sweep_.total + at.path);
                        return out;
                    },
                    [&](const numbers_of_path& path) {
                        sums[0] += path.worth;
                        sums[1] += path.total;
                    });
                mine.template leave<2>(sums, parts_, 2);
            }
            __syncthreads();
            for (int i = thread(); i < numbers; i += threads)
                sums_of(tile)[i] = i < 2                   ? sum_of_blocks(parts_ + i, 2, 0, mine.blocks)
                                   : i == 2 && !is_finite_ ? 1
                                                           : 0;
        }
        meet_and_sum(3, -1);
        double* const found =
            trade_.found + word64(trade_.date_count) * word64(numbers_of_date(features, functions, moves));
        if (is_first() && thread() < 3) found[thread() < 2 ? thread() : 2 + moves] = all_[thread()];
        if (moves == 0) return;
        const double mean = all_[0] / double(trade_.paths);
        double* const rest = trade_.rest + word64(trade_.date_count) * trade_.pitch;
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            const int count = paths_in_tile(trade_.paths, tile);
            for (int i = thread(); i < count; i += threads) {
                const word32 path = tile * paths_per_tile + word32(i);
                rest[path] = sweep_.worth[path] - mean;
            }
        }
    }

    backward_sweep sweep_;
    backward_trade trade_;
    date dates_[2];  // at hand, and the next
    word32 at_hand_;
    double *work_, *parts_, *factors_;
    double* sides_;  // [side]: coefficients, low, high, rank
    double *all_, *means_;
    double* ranges_;  // [half of a warp][side]: the least and the most of what comes
    double* ring_;    // numbers of paths ahead
    word32 blocks_, block_, tiles_, met_;
    bool is_finite_;
};

}  // namespace tilewalk::kernels
