// SPDX-License-Identifier: Apache-2.0
// Sums over the paths of a block, whose numbers are columns in shared memory, in the order of regression.h.
#pragma once

#include "kernels/exercise/least_squares.h"
#include "kernels/loops.h"
#include "kernels/ptx.h"

namespace tilewalk::kernels {

// Adds the product of column i of `a` and column j of `b`, summed over paths, to into[i * down + j * across],
// for all i and j or, if `lower`, for j <= i.
struct product_sums {
    const double *a, *b;
    int rows, cols;
    bool lower;
    double* into;
    int down, across;
};

// Sums are made for 8 x 8 pairs of columns, a square. Columns beyond the last repeat it; their sums are
// dropped. A matrix instruction adds four paths of a lane to a square's sums, then a tree adds the 16 lanes.
// Each thread has its two sums for all lanes. One warp can make just a quarter of the tree, four lanes.

static void place_square(const product_sums& of, int square, int& row, int& col) {
    const int wide = (of.cols + side_of_square - 1) / side_of_square;
    row = 0;
    col = square;
    if (of.lower) {
        for (; col > row; ++row) col -= row + 1;
    } else {
        row = square / wide;
        col = square % wide;
    }
    row *= side_of_square;
    col *= side_of_square;
}
// The thread's two sums over a quarter of the lanes: row lane / 4 of the square, two columns side by side.
static void sum_quarter(const product_sums& of, int row, int col, int quarter, double (&out)[2]) {
    const int lane = int(threadIdx.x % 32);
    const double* const a = of.a + min(row + lane / 4, of.rows - 1) * slots_of_column + lane % 4;
    const double* const b = of.b + min(col + lane / 4, of.cols - 1) * slots_of_column + lane % 4;
    double sums[4][2]{};
    rolled(0, paths_of_block / lanes_of_sum / 4, [&](int step) {
        unrolled<4>([&](int k) {
            const int at = (quarter + 4 * k) * slots_of_lane + 4 * step;
            add_matrix_product(sums[k][0], sums[k][1], a[at], b[at]);
        });
    });
    unrolled<2>([&](int c) { out[c] = (sums[0][c] + sums[2][c]) + (sums[1][c] + sums[3][c]); });
}
static void add_to(const product_sums& of, int row, int col, double sum) {
    if (row < of.rows && col < of.cols && (!of.lower || col <= row))
        of.into[row * of.down + col * of.across] += sum;
}

// Sums products by all warps. If warps outnumber squares, they sum quarters of squares, joined by take().
template <int rows, int cols, bool lower, int threads>
struct shared_products {
    static constexpr int squares = squares_of(rows, cols, lower), warps = threads / 32;
    static constexpr bool has_quarters = squares < warps;
    static constexpr int doubles = has_quarters ? 4 * squares * numbers_of_square : 0;

    double* quarters;  // [square][quarter][number]

    // All threads of the block call sum(), between two barriers.
    void sum(const product_sums& of, int thread) const {
        const int warp = thread / 32, lane = thread % 32, all = squares_of(of.rows, of.cols, of.lower);
        if constexpr (has_quarters) {
#pragma unroll 1
            for (int work = warp; work < 4 * all; work += warps) {
                int row = 0, col = 0;
                place_square(of, work / 4, row, col);
                double sums[2];
                sum_quarter(of, row, col, work % 4, sums);
                unrolled<2>([&](int c) { quarters[work * numbers_of_square + 2 * lane + c] = sums[c]; });
            }
        } else {
#pragma unroll 1
            for (int square = warp; square < all; square += warps) {
                int row = 0, col = 0;
                place_square(of, square, row, col);
                double kept[2]{}, half[2]{}, sum[2]{};
                rolled(0, 4, [&](int turn) {
                    double quarter[2];
                    sum_quarter(of, row, col, turn / 2 + turn % 2 * 2, quarter);
                    unrolled<2>([&](int c) {
                        if (turn % 2 == 0) {
                            kept[c] = quarter[c];
                        } else if (turn == 1) {
                            half[c] = kept[c] + quarter[c];
                        } else {
                            sum[c] = half[c] + (kept[c] + quarter[c]);
                        }
                    });
                });
                unrolled<2>([&](int c) { add_to(of, row + lane / 4, col + lane % 4 * 2 + c, sum[c]); });
            }
        }
    }
    void take(const product_sums& of, int thread) const {
        if constexpr (has_quarters) {
            const int all = squares_of(of.rows, of.cols, of.lower);
#pragma unroll 1
            for (int i = thread; i < all * numbers_of_square; i += threads) {
                int row = 0, col = 0;
                place_square(of, i / numbers_of_square, row, col);
                const int in_square = i % numbers_of_square;
                const double* const q = quarters + 4 * (i - in_square) + in_square;
                const double sum =
                    (q[0] + q[2 * numbers_of_square]) + (q[numbers_of_square] + q[3 * numbers_of_square]);
                add_to(of, row + in_square / side_of_square, col + in_square % side_of_square, sum);
            }
        }
    }
};

// Sums columns, their squares, or products with `other`, 16 threads a sum; the first calls use(column, sum).
enum class what_to_sum { numbers, squares, products };
template <what_to_sum what, class body>
static void sum_columns(const double* columns, const double* other, int count, int thread, int threads,
                        const body& use) {
    const int lane = thread % lanes_of_sum;
    const word32 lanes = 0xffffu << (threadIdx.x % 32 / 16 * 16);
#pragma unroll 1
    for (int f = thread / lanes_of_sum; f < count; f += threads / lanes_of_sum) {
        const double* const x = columns + f * slots_of_column + lane * slots_of_lane;
        const double* const y = other + lane * slots_of_lane;
        double sum = 0;
        unrolled_by<8>(0, paths_of_block / lanes_of_sum, [&](int p) {
            sum = what == what_to_sum::numbers ? sum + x[p]
                                               : fma(x[p], what == what_to_sum::squares ? x[p] : y[p], sum);
        });
        unrolled<4>([&](int level) { sum += __shfl_xor_sync(lanes, sum, lanes_of_sum / 2 >> level); });
        if (lane == 0) use(f, sum);
    }
}

}  // namespace tilewalk::kernels
