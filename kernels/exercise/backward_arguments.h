// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernel that finds policies, with the same layout on the host and on the device.
#pragma once

#include "kernels/exercise/least_squares.h"

namespace tilewalk::kernels {

// A date of a right: the first of its rows among those that paths have left. They say what using the right
// gives, whether it is offered, its unit, whether the path lives and what it has been paid; then features,
// and the sums of normals since the date before.
struct backward_date {
    word64 first_row;
    double root;  // one over the root of the steps since the date before
    word64 is_holders;
};
static constexpr int row_of_gives = 0, row_of_offered = 1, row_of_unit = 2, row_of_alive = 3,
                     row_of_value = 4, rows_before_features = 5;

// A trade whose policy is found. All memory is its own.
struct backward_trade {
    const double* left;
    word64 pitch;  // of rows
    const backward_date* dates;
    word64 end_row;  // of what is paid in all; then the sums of normals since the last date
    double last_root;
    double *total, *worth, *estimate;  // by path
    const double* others;              // what other decisions pay on the same paths; null: there are none
    word32* counted;                   // [side][path]: paths that count on a date
    word32* counts;                    // [tile][side]
    double* sums;                      // [2][tile][number]
    double* found;                     // numbers_of_date of each date, then numbers_of_end
    word32* arrived;                   // of its blocks, starts at 0
    word32 date_count, paths;
};

struct backward_arguments {
    const backward_trade* trades;
    word32 blocks_of_trade;
};

// Numbers found on a date, in this order: means and scales of features; where using the right pays something
// and where it does not, the coefficients, the least and the most, and the rank; slopes [move][function].
static constexpr int numbers_of_side(int functions) {
    return functions + 3;
}
static constexpr int numbers_of_date(int features, int functions, int moves) {
    return 2 * features + 2 * numbers_of_side(functions) + moves * functions;
}
// At the end: sums over paths of what the policy's worth is taken for and of what it pays, the slopes of the
// first interval, whether a path has no finite number, and, if there are others, what these pay more, and its
// squares about the mean.
static constexpr int numbers_of_end(int moves) {
    return 2 + moves + 3;
}
// The most numbers that are summed over tiles at a time.
static constexpr int most_sums(int features, int functions, int moves) {
    const int fits = 2 * (functions * functions + functions), slopes = moves * functions;
    return (fits > slopes ? fits : slopes) + features + 6;
}

// The sizes of a policy, and the doubles of shared memory that a block takes for it.
struct backward_sizes {
    int features, functions, moves;
    static constexpr int doubles_of_walk = 48;  // for what the block knows of its work

    constexpr int columns() const { return functions + (moves > 1 ? moves : 1); }
    constexpr int factor_doubles() const { return functions * (functions + 2) + (functions + 1) / 2; }
    constexpr int doubles() const {
        const int column_doubles = columns() * paths_of_block;
        // Sums over tiles and the factors of both sides stand where the columns were.
        const int fits = most_sums(features, functions, moves) + 2 * factor_doubles();
        return doubles_of_walk + (column_doubles > fits ? column_doubles : fits) + factor_doubles() +
               2 * features + 2 * numbers_of_side(functions) + 4 * moves * functions + 4 * lanes_of_inner;
    }
};

}  // namespace tilewalk::kernels
