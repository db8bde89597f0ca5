// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/exercise/blocks_of_tile.h"
#include "kernels/exercise/date_at_hand.h"
#include "kernels/exercise/factor.h"
#include "kernels/exercise/read_paths.h"
#include "kernels/loops.h"
#include "kernels/ptx.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// Walks back through a sweep's dates by several blocks of threads, each with tiles of its own. On each date
// all leave sums of their tiles and wait for the others; then each adds up all sums and solves by itself.
template <class basis>
class backward_walk {
  public:
    using date = date_at_hand<basis>;
    static constexpr int features = date::features, functions = date::functions, moves = date::moves;
    static constexpr backward_sizes sizes = date::sizes;
    static constexpr int threads = backward_sizes::threads_of_sweep;
    static constexpr int own_doubles = backward_sizes::doubles_of_walk;

    // Sets up this object in shared memory, by one thread; state common to a block takes no registers there.
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
        means_ = take(4 * features);
        ring_ = take(sizes.ring_doubles(threads, numbers_to_read));
        most_fits_ = int(a.fits_of_date);
        sides_ = take(most_fits_ * 2 * of_side);
        all_ = take(most_fits_ * numbers);
        ranges_ = take(most_fits_ * 4 * halves);
        met_ = at_hand_ = 0;
    }

    void walk() {
        begin();
        const int last = int(sweep_.date_count) - 1;
        bring(last, 0);
        turn();
        for (int d = last; d >= 0; --d) {
            sum_what_comes();
            meet_and_sum(fits_of(here()), d - 1);
            solve();
            use_rights();
            turn();
        }
        if (sweep_.is_kept != 0) end();
    }

  private:
    static constexpr int numbers = sizes.numbers_of_sweep(), both_factors = 2 * sizes.factor_doubles(),
                         of_side = numbers_of_side(functions);
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
    double* sums_of(word32 tile, int fit) const {
        return sweep_.sums +
               ((word64(met_ % 2) * tiles_ + tile) * word64(most_fits()) + word64(fit)) * word64(numbers);
    }
    // The number of fits of a date; 1 at compile time if no right of the kernel can have more.
    static int fits_of(const date& of) { return date::has_cases ? int(of.fits) : 1; }
    int most_fits() const { return date::has_cases ? most_fits_ : 1; }
    // The row of by_level, [uses left][path], for a fit of the date. The first fit has `lowest` uses left;
    // both fits of a notice date have the same row.
    double* of_fit(double* by_level, const date& on, int fit) const {
        return basis::has_uses ? by_level + word64(on.lowest + word32(fit)) * trade_.pitch : by_level;
    }

    void turn() {
        __syncthreads();
        if (thread() == 0) at_hand_ ^= 1;
        __syncthreads();
    }
    // Loads date `d`, which is walked next, into the buffer not in use, by the threads from `first` on.
    void bring(int d, int first) {
        if (d < 0) return;
        const int which = at_hand_ ^ 1;
        const date of(trade_, sweep_.dates[d], 0, tiles_);
        if (thread() == first) dates_[which] = of;
        double *const mean = means_ + which * 2 * features, *const factor = factors_ + which * both_factors;
        const int mine = thread() - first, all = threads - first;
        for (int i = mine; i < 2 * features; i += all) mean[i] = of.found[i];
        for (int i = mine; i < both_factors; i += all) factor[i] = of.factors(0)[i];
        if constexpr (basis::reads == path_reads::l2_prefetch) bring_rows(of, mine, all);
    }
    // Prefetches to the L2 cache the rows that paths have left on the date.
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

    // Waits for the sweep's other blocks while the next date loads. all_ then has sums over tiles and ranges.
    void meet_and_sum(int fits, int next_date) {
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
        const word64 apart = word64(most_fits()) * word64(numbers);
        const double* const first = sums_of(0, 0);
        constexpr int count = 2 * functions;
        static_assert(count >= 3);  // of the end
        for (int i = thread(); i < fits * count; i += threads) {
            const int at = i / count * numbers + i % count;
            double sum = 0;
            for_numbers(first + at, apart, tiles_, [&](double x) { sum += x; });
            all_[at] = sum;
        }
        // Uses other warps than the sums above, if these need few.
        for (int i = (thread() + threads / 2) % threads; i < 4 * fits; i += threads) {
            const int at = i / 4 * numbers + count + i % 4;
            double out = i % 2 == 0 ? infinity : -infinity;
            for_numbers(first + at, apart, blocks_, [&](double x) { out = further(out, x, i % 2 != 0); });
            all_[at] = out;
        }
        __syncthreads();
        if (thread() == 0) ++met_;
        __syncthreads();
    }

    // Calls of(number) for `count` numbers in order, `apart` doubles from each other; loads several at once.
    template <class body>
    static void for_numbers(const double* from, word64 apart, word32 count, const body& of) {
        constexpr int at_once = 16;
#pragma unroll 1
        for (word32 first = 0; first < count; first += word32(at_once), from += at_once * apart) {
            double got[word32(at_once)];
            unrolled<at_once>(
                [&](int k) { got[k] = first + word32(k) < count ? __ldcg(from + word64(k) * apart) : 0; });
            unrolled<at_once>([&](int k) {
                if (first + word32(k) < count) of(got[k]);
            });
        }
    }

    void begin() {
        bool is_finite = true;
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            const int all = paths_in_tile(trade_.paths, tile);
            for (int i = thread(); i < all; i += threads) {
                const word32 path = tile * paths_per_tile + word32(i);
                const double paid = trade_.left[trade_.end_row * trade_.pitch + path];
                if (!(abs(paid) < infinity)) is_finite = false;
                for (word32 l = 0; l < (basis::has_uses ? trade_.levels : 1); ++l)
                    sweep_.total[l * trade_.pitch + path] = sweep_.worth[l * trade_.pitch + path] = paid;
            }
        }
        is_finite = __syncthreads_and(is_finite ? 1 : 0) != 0;
        if (thread() == 0) is_finite_ = is_finite;
    }

    // The basis functions of a path, in registers; in shared memory (many_functions) if they don't fit.
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
    // Sums functions times what paths are paid after the date (the value to come), by fit and side.
    void sum_what_comes() {
        const int fits = fits_of(here());
        for (int i = thread(); i < fits * 4 * halves; i += threads)
            ranges_[i] = i % 2 == 0 ? infinity : -infinity;
        for (int fit = 0; fit < fits; ++fit) {
            for (word32 tile = block_; tile < tiles_; tile += blocks_) {
                __syncthreads();
                const lane_of_block<false> mine(here(), tile, thread());
                if (mine.is_there()) {
                    constexpr int most = sizes.most_at_once;
                    static_assert(functions <= 3 * most);
                    sum_lane<0>(mine, fit);
                    if constexpr (functions > most) sum_lane<most>(mine, fit);
                    if constexpr (functions > 2 * most) sum_lane<2 * most>(mine, fit);
                }
                __syncthreads();
                for (int i = thread(); i < numbers; i += threads) {
                    const int side = i / functions;
                    sums_of(tile, fit)[i] = side > 1
                                                ? 0
                                                : sum_of_blocks(parts_ + i % functions, functions,
                                                                side == 0 ? 0 : mine.first_blocks,
                                                                side == 0 ? mine.first_blocks : mine.blocks);
                }
            }
        }
        __syncthreads();
        for (int i = thread(); i < 4 * fits; i += threads) {
            const double* const range = ranges_ + i / 4 * (4 * halves) + i % 4;
            double x = *range;
            for (int h = 1; h < halves; ++h) x = further(x, range[4 * h], i % 2 != 0);
            sums_of(block_, i / 4)[2 * functions + i % 4] = x;
        }
    }
    template <int first>
    void sum_lane(const lane_of_block<false>& mine, int fit) {
        constexpr int count = functions - first < sizes.most_at_once ? functions - first : sizes.most_at_once;
        double sums[word32(count)]{}, low = infinity, high = -infinity;
        // Local copies stay in registers; shared memory would be read again for each path.
        const date d = here();
        const double *const total = of_fit(sweep_.total, d, fit), *const mean = means();
        const bool is_paid = gives_notice(d) && fit == with_notice;
        mine.template for_paths<basis::reads, threads, numbers_to_read>(
            ring_,
            [&](const auto& at, auto number) {
                path_to_come out{};
                out.has_path = at.has_path;
                out.known = d.known_by(at.has_path, at.path, number);
                out.total = is_paid ? paid_after_notice(d, at.has_path, at.path, number)
                                    : number(at.has_path, total + at.path);
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
        double* const range = ranges_ + (fit * halves + thread() / lanes_of_sum) * 4 + 2 * mine.side;
        range[0] = further(range[0], low, false);
        range[1] = further(range[1], high, true);
    }

    template <class reader>
    static double paid_after_notice(const date& d, bool has_path, word32 path, reader& number) {
        const auto of_payment = [&](int row) {
            return number(has_path, d.payment + word64(row) * d.pitch + path);
        };
        const double value = of_payment(row_of_value), offered = of_payment(row_of_offered),
                     gives = of_payment(row_of_gives);
        return value + (offered != 0 ? gives : 0);
    }
    static bool gives_notice(const date& d) {
        return basis::has_notices && d.is_notice;
    }

    void solve() {
        const int fits = fits_of(here());
        for (int i = thread() / 32; i < 2 * fits; i += threads / 32) {
            const int side = i % 2;
            double* const of = sides_ + i * of_side;
            const double* const sums = all_ + i / 2 * numbers;
            const int rank = int(here().ranks()[side]);
            factor(factors_ + at_hand_ * both_factors + side * sizes.factor_doubles(), functions)
                .solve(rank < 0 ? 0 : rank, sums + side * functions, of);
            if (factor::lane() == 0) {
                of[functions] = rank < 0 ? 0 : sums[2 * functions + 2 * side];
                of[functions + 1] = rank < 0 ? 0 : sums[2 * functions + 2 * side + 1];
                of[functions + 2] = rank < 0 ? 0 : rank;
            }
        }
        __syncthreads();
        if (sweep_.is_kept == 0 || !is_first()) return;
        for (int i = thread(); i < fits * 2 * of_side; i += threads)
            here().found_sides(i / (2 * of_side))[i % (2 * of_side)] = sides_[i];
    }

    void use_rights() {
        if constexpr (basis::has_uses) {
            use_one_of_several();
        } else if (gives_notice(here())) {
            give_notices();
        } else {
            use_or_keep();
        }
    }
    // A path in a date's list. Side 0: using the right pays something; 1: nothing; 2: it has ended; 3: no
    // path.
    struct listed_path {
        int side;
        word32 path;
        bool is_there() const { return side < 3; }
        bool lives() const { return side < 2; }
    };
    // Calls use(path, load(path, number)) for each path of the block's tiles; see read_paths.h.
    template <class loader, class body>
    void for_listed(const date& d, const loader& load, const body& use) const {
        for (word32 tile = block_, tiles = tiles_, blocks = blocks_; tile < tiles; tile += blocks) {
            const int paying = d.count(tile, 0), living = paying + d.count(tile, 1);
            const int all = paths_in_tile(d.paths, tile);
            const word32 first = tile * paths_per_tile;
            const path_in_tile* const list = d.listed + first;
            const auto place_of = [&](int k) {
                const int i = thread() + k * threads;
                return listed_path{i < paying   ? 0
                                   : i < living ? 1
                                   : i < all    ? 2
                                                : 3,
                                   first + word32(i < all ? list[i] : 0)};
            };
            read_paths<basis::reads, threads, numbers_to_read>(
                ring_, (all - thread() + threads - 1) / threads, place_of, load, use);
        }
    }
    struct offered_path {
        typename date::known_path known;
        double gives, unit, value, offered, total, worth;
        double paid() const { return known.of[basis::states]; }
    };
    template <class reader>
    static void load_offered(const date& d, const listed_path& at, reader& number, offered_path& out) {
        out.known = d.known_by(at.lives(), at.path, number);
        out.gives = number(at.lives(), d.place(row_of_gives, at.path));
        out.unit = number(at.lives(), d.place(row_of_unit, at.path), 1);
        out.value = number(at.lives(), d.place(row_of_value, at.path));
        out.offered = number(at.lives(), d.place(row_of_offered, at.path));
    }
    bool has_rest() const {
        return moves > 0 && sweep_.is_kept != 0;
    }

    void use_or_keep() {
        const date d = here();
        double *const total = sweep_.total, *const worth = sweep_.worth;
        const double *const mean = means(), *const sides = sides_;
        const bool leaves_rest = has_rest();
        const auto load = [&](const listed_path& at, auto number) {
            offered_path out{};
            out.total = number(at.is_there(), total + at.path);
            out.worth = number(at.lives(), worth + at.path);
            load_offered(d, at, number, out);
            return out;
        };
        for_listed(d, load, [&](const listed_path& where, const offered_path& at) {
            if (!where.lives()) {
                worth[where.path] = at.total;
                return;
            }
            const double to_come = estimate(functions_of(mean, true, at.known), sides + where.side * of_side);
            if (leaves_rest) d.rest[where.path] = (at.worth - at.value) / at.unit - to_come;
            const bool uses = at.offered != 0 && (d.is_holders ? to_come < at.paid() : at.paid() < to_come);
            if (uses) total[where.path] = at.value + at.gives;
            worth[where.path] = at.value + (uses ? at.gives : at.unit * to_come);
        });
    }

    // Decides for each number of uses left, the most first. Using the right costs what one more use left is
    // worth. Numbers of uses beyond the last fit take the last fit's estimate.
    void use_one_of_several() {
        const date d = here();
        double *const total = sweep_.total, *const worth = sweep_.worth;
        const double *const mean = means(), *const sides = sides_;
        const bool leaves_rest = has_rest();
        const int lowest = int(d.lowest), fits = int(d.fits), last = int(trade_.levels) - 1 - lowest;
        const word64 pitch = d.pitch, first = d.lowest * pitch;
        const auto load = [&](const listed_path& at, auto number) {
            offered_path out{};
            load_offered(d, at, number, out);
            return out;
        };
        for_listed(d, load, [&](const listed_path& where, const offered_path& at) {
            double *of_total = total + first + where.path, *of_worth = worth + first + where.path;
            if (!where.lives()) {
                for (int l = 0; l <= last; ++l) of_worth[word64(l) * pitch] = of_total[word64(l) * pitch];
                return;
            }
            const path_functions of = functions_of(mean, true, at.known);
            const auto to_come_of = [&](int l) {
                return estimate(of, sides + (2 * (l < fits ? l : fits - 1) + where.side) * of_side);
            };
            double to_come = to_come_of(last);
#pragma unroll 1
            for (int l = last; l >= 0; --l) {
                const word64 here_at = word64(l) * pitch;
                if (leaves_rest && l < fits)
                    d.rest_of(l)[where.path] = (of_worth[here_at] - at.value) / at.unit - to_come;
                bool uses = false;
                double less = 0;
                if (l > 0) {
                    less = to_come_of(l - 1);
                    uses = at.offered != 0 && (lowest + l >= d.forced_from || to_come - less < at.paid());
                    if (uses) of_total[here_at] = of_total[here_at - pitch] + at.gives;
                }
                of_worth[here_at] = at.value + (uses ? at.gives + at.unit * less : at.unit * to_come);
                to_come = less;
            }
        });
    }

    // Decides on a notice date, by what is known then, whether the right will be used on its payment date.
    static constexpr int without_notice = 0, with_notice = 1;
    void give_notices() {
        const date d = here();
        double *const total = sweep_.total, *const worth = sweep_.worth;
        const double *const mean = means(), *const sides = sides_;
        const bool leaves_rest = has_rest();
        struct noticed_path {
            typename date::known_path known;
            double unit, value, total, used;
        };
        const auto load = [&](const listed_path& at, auto number) {
            noticed_path out{};
            out.total = number(at.is_there(), total + at.path);
            out.used = paid_after_notice(d, at.is_there(), at.path, number);
            out.known = d.known_by(at.lives(), at.path, number);
            out.unit = number(at.lives(), d.place(row_of_unit, at.path), 1);
            out.value = number(at.lives(), d.place(row_of_value, at.path));
            return out;
        };
        bool is_finite = true;
        for_listed(d, load, [&](const listed_path& where, const noticed_path& at) {
            if (!(abs(at.used) < infinity)) is_finite = false;
            if (!where.lives()) {
                worth[where.path] = at.total;
                return;
            }
            const path_functions of = functions_of(mean, true, at.known);
            const auto to_come_of = [&](int fit) {
                return estimate(of, sides + (2 * fit + where.side) * of_side);
            };
            const double without = to_come_of(without_notice), with = to_come_of(with_notice);
            if (leaves_rest) {
                d.rest_of(without_notice)[where.path] = (worth[where.path] - at.value) / at.unit - without;
                d.rest_of(with_notice)[where.path] = (at.used - at.value) / at.unit - with;
            }
            const bool uses = d.is_holders ? without < with : with < without;
            if (uses) total[where.path] = at.used;
            worth[where.path] = at.value + at.unit * (uses ? with : without);
        });
        is_finite = __syncthreads_and(is_finite ? 1 : 0) != 0;
        if (thread() == 0 && !is_finite) is_finite_ = false;
    }
    static double estimate(const path_functions& of, const double* by) {
        double to_come = 0;
        spelled_out<functions>([&](int f) { to_come = fma(by[f], of(f), to_come); });
        const double low = by[functions], high = by[functions + 1];
        to_come = to_come < low ? low : to_come;
        return high < to_come ? high : to_come;
    }

    void end() {
        const date today(trade_, trade_.date_count, 0, tiles_);
        const int fits = fits_of(today);
        for (int fit = 0; fit < fits; ++fit) {
            const double *const worth = of_fit(sweep_.worth, today, fit), *const total = of_fit(sweep_.total,
                                                                                                today, fit);
            for (word32 tile = block_; tile < tiles_; tile += blocks_) {
                __syncthreads();
                const lane_of_block<true> mine(today, tile, thread());
                if (mine.is_there()) {
                    struct numbers_of_path {
                        double worth, total;
                    };
                    double sums[2]{};
                    mine.template for_paths<basis::reads, threads, numbers_to_read>(
                        ring_,
                        [&](const auto& at, auto number) {
                            numbers_of_path out{};
                            out.worth = number(at.has_path, worth + at.path);
                            out.total = number(at.has_path, total + at.path);
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
                    sums_of(tile, fit)[i] = i < 2 ? sum_of_blocks(parts_ + i, 2, 0, mine.blocks)
                                            : i == 2 && !is_finite_ ? 1
                                                                    : 0;
            }
        }
        meet_and_sum(fits, -1);
        if (is_first()) {
            for (int i = thread(); i < 2 * fits; i += threads)
                today.found_today(i / 2)[i % 2] = all_[i / 2 * numbers + i % 2];
            if (thread() == 0) *today.found_today(fits) = all_[2];
        }
        if (moves == 0) return;
        for (int fit = 0; fit < fits; ++fit) {
            const double* const worth = of_fit(sweep_.worth, today, fit);
            const double mean = all_[fit * numbers] / double(trade_.paths);
            for (word32 tile = block_; tile < tiles_; tile += blocks_) {
                const int count = paths_in_tile(trade_.paths, tile);
                for (int i = thread(); i < count; i += threads) {
                    const word32 path = tile * paths_per_tile + word32(i);
                    today.rest_of(fit)[path] = worth[path] - mean;
                }
            }
        }
    }

    backward_sweep sweep_;
    backward_trade trade_;
    date dates_[2];  // at hand, and the next
    word32 at_hand_;
    double *work_, *parts_, *factors_;
    double* sides_;  // [fit][side]: coefficients, low, high, rank
    double *all_, *means_;
    double* ranges_;  // [fit][half of a warp][side]: the least and the most of what comes
    double* ring_;    // numbers of paths ahead
    word32 blocks_, block_, tiles_, met_;
    int most_fits_;
    bool is_finite_;
};

}  // namespace tilewalk::kernels
