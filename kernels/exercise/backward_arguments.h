// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels that find policies, with the same layout on the host and on the device.
#pragma once

#include "kernels/exercise/least_squares.h"

namespace tilewalk::kernels {

// A date of a right: the first of its rows among those that paths have left. They say what using the right
// gives, whether it is offered, its unit, whether the path lives and what it has been paid; then features.
// Several values to come are fitted there where a right may be used several times, one by uses that are left,
// or where its notice is given: without it and with it. Else one.
struct backward_date {
    word64 first_row;
    word64 payment_row;  // of a notice: the first row of the date of its payment
    word32 is_holders, is_notice;
    word32 first_fit, fits;  // among those of the trade
    word32 lowest;           // uses left of the first fit
    int forced_from;         // uses left with which the right must be used
};
// A fit, and the interval that begins on its date: its sums of normals are those of some pieces, one after
// another, and one over the root of its steps.
struct backward_fit {
    word32 date, pieces;
    word64 first_piece;
    double root;
};
static constexpr int row_of_gives = 0, row_of_offered = 1, row_of_unit = 2, row_of_alive = 3,
                     row_of_value = 4, rows_before_features = 5;

// The number of a path in its tile.
using path_in_tile = unsigned short;

// A trade whose policy is found. All memory is its own.
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

// A walk back through some dates of a trade: all of them, or those of other decisions on the same paths.
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

// Numbers found on a date: means and scales of features. And in a fit, in this order: where using the right
// pays something and where it does not, the coefficients, the least and the most, and the rank; slopes
// [move][function].
static constexpr int numbers_of_date(int features) {
    return 2 * features;
}
static constexpr int numbers_of_side(int functions) {
    return functions + 3;
}
static constexpr int numbers_of_fit(int functions, int moves) {
    return 2 * numbers_of_side(functions) + moves * functions;
}
// Numbers found today: of each fit the sums over paths of what the policy's worth is taken for and of what it
// pays, and the slopes of the first interval. Then whether a path has no finite number, and, if there are
// others, what all dates pay more than they do, and its squares about the mean.
static constexpr int numbers_of_today(int moves) {
    return 2 + moves;
}
static constexpr int numbers_of_end = 3;

// How the numbers of paths reach the threads of the way back, by the names of feeds that do the same: when
// they are used, with or without lines of the next date asked for from the second-level cache meanwhile; a
// path ahead in registers; or some paths ahead in shared memory, by asynchronous copies. No bit depends on
// it.
enum class path_reads { none, register_rolling, l2_prefetch, smem_rolling_async };
static constexpr int paths_ahead = 4;  // of copies

// The sizes of a policy, and the memory that its stages take: doubles of it, of a date, and of a tile.
struct backward_sizes {
    int features, functions, moves, normals;
    path_reads reads;

    constexpr int columns() const { return functions + (moves > 1 ? moves : 1); }
    constexpr int factor_doubles() const { return functions * (functions + 2) + (functions + 1) / 2; }
    constexpr int slopes() const { return moves * functions; }
    constexpr int of_fits() const { return 2 * functions * functions; }

    // A tile has the sums of features and of their squares, and behind them products of functions; or slopes;
    // or, which are fewer, those of the gain.
    constexpr int numbers_of_tile() const {
        const int fits = 2 * features + of_fits();
        return fits > slopes() ? fits : slopes();
    }
    // A tile of a sweep has right-hand sides, and the least and most of what comes, by side.
    constexpr int numbers_of_sweep() const { return 2 * functions + 4; }
    // A date has factors and ranks of both sides and of all; a fit the state of the search for slopes.
    constexpr int numbers_of_factors() const { return 3 * factor_doubles() + 3; }
    constexpr int numbers_of_search() const { return 3 * slopes() + 1; }

    // A thread's paths ahead, in shared memory, and the most numbers that it reads of one: for a sum, or in a
    // sweep.
    constexpr int ring_doubles(int threads, int numbers) const {
        return reads == path_reads::smem_rolling_async ? paths_ahead * numbers * threads : 0;
    }
    constexpr int numbers_to_sum() const { return features + normals + 1; }
    constexpr int numbers_to_sweep() const { return features + 6; }

    // Shared memory of a block that works on a tile by columns, on a date, on a tile by lanes, or sweeps.
    constexpr int tile_doubles() const {
        const int more = numbers_of_tile() + 2 * features + slopes() + quarter_doubles() +
                         ring_doubles(paths_of_block, numbers_to_sum());
        return columns() * slots_of_column + more + tile_ints / 2;
    }
    // Room for quarters of squares that are fewer than warps; see kernels/exercise/column_sums.h.
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
    // The last of so many fits of a date.
    constexpr int sweep_doubles(int fits) const {
        return doubles_of_walk + work_of_sweep() + most_blocks_of_tile * functions + 4 * factor_doubles() +
               4 * features + ring_doubles(threads_of_sweep, numbers_to_sweep()) +
               fits * (2 * numbers_of_side(functions) + numbers_of_sweep() + 4 * halves_of_sweep);
    }
    // The most that any block takes.
    constexpr int most_doubles(int fits) const {
        const int a = tile_doubles(), b = date_doubles(), c = sweep_doubles(fits);
        return a > b ? (a > c ? a : c) : (b > c ? b : c);
    }
    // Room for functions of the threads' paths, where these are many.
    constexpr int work_of_sweep() const { return has_few_functions() ? 0 : functions * threads_of_sweep; }
    // A thread has the functions of its path in registers; and all sums of its lane.
    constexpr bool has_few_functions() const { return functions <= most_at_once; }
    constexpr bool has_few_fits() const { return functions * (functions + 1) / 2 <= most_sums_of_lane; }
    constexpr bool has_few_slopes() const { return slopes() <= most_sums_of_lane; }
    // The limits and threads are those of an H200, with neighbours that were rejected:
    // bench/results/2026-11-26-NVIDIA-H200-policies.txt.
    static constexpr int most_at_once = 24, most_sums_of_lane = 48;
    static constexpr int tile_ints = 128, doubles_of_walk = 96;
    // A tile's paths of two sides make so many blocks at most. A lane of a block is the work of a thread in
    // sums that fit in its registers, and in a sweep.
    static constexpr int most_blocks_of_tile = 5, threads_of_lanes = 96, threads_of_sweep = 128;
    static constexpr int halves_of_sweep = threads_of_sweep / lanes_of_sum;
};

}  // namespace tilewalk::kernels
