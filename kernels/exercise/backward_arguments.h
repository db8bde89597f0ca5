// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels that find exercise policies, with the same layout on host and device.
#pragma once

#include "kernels/exercise/least_squares.h"

namespace tilewalk::kernels {

// An exercise date of a right. From first_row on, paths have left a row of each of these: what using the
// right gives, whether it is offered, the unit of values, whether the path lives, what it has been paid, and
// features of the regression. A date has one regression (fit); a right with several uses has one for each
// number of uses left; a notice date has two, without and with notice.
struct backward_date {
    word64 first_row;
    word64 payment_row;  // of a notice: the first row of the date of its payment
    word32 is_holders, is_notice;
    word32 first_fit, fits;  // among those of the trade
    word32 lowest;           // uses left of the first fit
    int forced_from;         // uses left with which the right must be used
};
// A regression (fit), and the interval from its date to the next. The interval's normals, summed over
// `pieces` parts of it, are scaled by `root`.
struct backward_fit {
    word32 date, pieces;
    word64 first_piece;
    double root;
};
static constexpr int row_of_gives = 0, row_of_offered = 1, row_of_unit = 2, row_of_alive = 3,
                     row_of_value = 4, rows_before_features = 5;

using path_in_tile = unsigned short;

// A trade whose exercise policy is to be found. Trades share no memory.
struct backward_trade {
    const double* left;
    word64 pitch;                // of rows
    const backward_date* dates;  // in order of time; behind them today, which has intervals alone
    const backward_fit* fits;    // in the order of dates
    const word64* pieces;        // the first row of sums of normals of each
    word64 end_row;              // of what is paid in all
    path_in_tile* listed;        // [date][path]; see blocks_of_tile
    word32* counts;              // [date][tile][side]
    double* sums;     // [date][tile][numbers_of_tile], or [fit][tile][slopes], of the stage at hand
    double* by_date;  // [date][numbers_of_factors]
    double* by_fit;   // [fit][numbers_of_search]
    double* paid;     // [date][path]: what using the right gives, in its unit
    double* rest;     // [fit][path]: what slopes have to explain
    double* found;    // numbers_of_date of each date, numbers_of_fit of each fit, numbers_of_end
    word32 date_count, fit_count;  // today's not among them
    word32 levels;                 // uses that may be left, none among them; 1: the right ends the trade
    word32 paths;
};

// A walk back through all dates of a trade or, for comparison, through every second one on the same paths.
struct backward_sweep {
    const word32* dates;    // numbers of the trade's, in order of time
    double *total, *worth;  // [level][path]: all that is paid, and the same as it is estimated
    double* sums;           // [2][tile][fit of a date][numbers_of_sweep]
    word32* arrived;        // of its blocks, starts at 0
    word32 trade, date_count;
    word32 is_kept;  // what it finds is found; others are walked for their totals
};

struct backward_arguments {
    const backward_trade* trades;
    const backward_sweep* sweeps;              // those that are kept first, in the order of trades
    word32 tiles, most_dates, most_fits;       // of each trade, today among the dates
    word32 fits_of_date;                       // the most of a date
    word32 blocks_of_sweep, blocks_of_others;  // of each sweep that is kept, and of each other
    word32 trade_count;
};

// numbers_of_date: means, scales of features. numbers_of_fit: coefficients, lower and upper bound, rank, for
// paths on which using the right pays, then for others; then slopes of the martingale, [move][function].
static constexpr int numbers_of_date(int features) {
    return 2 * features;
}
static constexpr int numbers_of_side(int functions) {
    return functions + 3;
}
static constexpr int numbers_of_fit(int functions, int moves) {
    return 2 * numbers_of_side(functions) + moves * functions;
}
// Results of today. For each fit: sums over paths of the policy's worth, estimated and paid, and slopes of
// the first interval. Then: a flag for non-finite numbers, the gain over every second date, and its squares.
static constexpr int numbers_of_today(int moves) {
    return 2 + moves;
}
static constexpr int numbers_of_end = 3;

// How numbers of paths reach the threads of the backward walk, named after the feeds that work alike: when
// used, with or without prefetching rows of the next date to the L2 cache; one path ahead in registers; some
// paths ahead in shared memory, by asynchronous copies. All give the same bits.
enum class path_reads { none, register_rolling, l2_prefetch, smem_rolling_async };
static constexpr int paths_ahead = 4;  // of copies

// The sizes of a policy's regressions, and the memory of each stage of the search, in doubles.
struct backward_sizes {
    int features, functions, moves, normals;
    path_reads reads;

    constexpr int columns() const { return functions + (moves > 1 ? moves : 1); }
    constexpr int factor_doubles() const { return functions * (functions + 2) + (functions + 1) / 2; }
    constexpr int slopes() const { return moves * functions; }
    constexpr int of_fits() const { return 2 * functions * functions; }

    // Sums of a tile: of features, their squares, products of functions; at other stages for slopes or gains.
    constexpr int numbers_of_tile() const {
        const int fits = 2 * features + of_fits();
        return fits > slopes() ? fits : slopes();
    }
    // Sums of a tile in a sweep: by side, right-hand sides, and the least and greatest value to come.
    constexpr int numbers_of_sweep() const { return 2 * functions + 4; }
    constexpr int numbers_of_factors() const { return 3 * factor_doubles() + 3; }
    constexpr int numbers_of_search() const { return 3 * slopes() + 1; }

    // Room in shared memory for copies of the next paths' numbers, of which a path has at most `numbers`.
    constexpr int ring_doubles(int threads, int numbers) const {
        return reads == path_reads::smem_rolling_async ? paths_ahead * numbers * threads : 0;
    }
    constexpr int numbers_to_sum() const { return features + normals + 1; }
    constexpr int numbers_to_sweep() const { return features + 6; }

    constexpr int tile_doubles() const {
        const int more = numbers_of_tile() + 2 * features + slopes() + quarter_doubles() +
                         ring_doubles(paths_of_block, numbers_to_sum());
        return columns() * slots_of_column + more + tile_ints / 2;
    }
    // Room for quarters of squares, which warps sum if there are fewer squares than warps (column_sums.h).
    constexpr int quarter_doubles() const {
        const int fit = squares_of(functions, functions, true),
                  of_moves = squares_of(functions, moves, false);
        constexpr int warps = paths_of_block / 32;
        const int a = fit < warps ? fit : 0, b = of_moves < warps ? of_moves : 0;
        return 4 * (a > b ? a : b) * numbers_of_square;
    }
    constexpr int date_doubles() const {
        const int fits = of_fits() + 3 * factor_doubles();
        const int of_slopes = 5 * slopes() + factor_doubles();
        return (fits > of_slopes ? fits : of_slopes) + 1;
    }
    constexpr int lanes_doubles() const {
        const int fits = functions * (functions + 1) / 2, of_block = fits > slopes() ? fits : slopes();
        return most_blocks_of_tile * of_block + 2 * features + slopes() +
               ring_doubles(threads_of_lanes, numbers_to_sum());
    }
    constexpr int sweep_doubles(int fits) const {
        return doubles_of_walk + work_of_sweep() + most_blocks_of_tile * functions + 4 * factor_doubles() +
               4 * features + ring_doubles(threads_of_sweep, numbers_to_sweep()) +
               fits * (2 * numbers_of_side(functions) + numbers_of_sweep() + 4 * halves_of_sweep);
    }
    constexpr int most_doubles(int fits) const {
        const int a = tile_doubles(), b = date_doubles(), c = sweep_doubles(fits);
        return a > b ? (a > c ? a : c) : (b > c ? b : c);
    }
    // Room for the basis functions of each thread's path, unless they fit in registers.
    constexpr int work_of_sweep() const { return has_few_functions() ? 0 : functions * threads_of_sweep; }
    // has_few_functions: a thread's registers hold a path's functions. The others: they hold its lane's sums.
    constexpr bool has_few_functions() const { return functions <= most_at_once; }
    constexpr bool has_few_fits() const { return functions * (functions + 1) / 2 <= most_sums_of_lane; }
    constexpr bool has_few_slopes() const { return slopes() <= most_sums_of_lane; }
    // Limits tuned on an H200; for rejected neighbours see bench/results/2026-11-26-NVIDIA-H200-policies.txt.
    static constexpr int most_at_once = 24, most_sums_of_lane = 48;
    static constexpr int tile_ints = 128, doubles_of_walk = 96;
    // A tile has at most this many blocks of paths on both sides together. In sweeps, and where sums are held
    // in registers, a thread is one lane of a block.
    static constexpr int most_blocks_of_tile = 5, threads_of_lanes = 96, threads_of_sweep = 128;
    static constexpr int halves_of_sweep = threads_of_sweep / lanes_of_sum;
};

}  // namespace tilewalk::kernels
