// SPDX-License-Identifier: Apache-2.0
// Products of a square matrix with numbers of which each thread has its own. The lane machine makes the same
// bits (engine/cpu/lane_operations.cpp).
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/loops.h"

namespace tilewalk::kernels {

// Rows that are summed up together, which read each number once.
static constexpr word32 rows_at_once = 4;

// Calls take(row, sum) for the rows from `first` on, at most rows_at_once, of a matrix of `count` rows; sums
// are of weights[row * count + i] times number(i), from the first i to the last.
template <class shock, class numbers, class taker>
static constexpr void sum_rows(const double* weights, word32 count, word32 first, const numbers& number,
                               const taker& take) {
    // Rows beyond the last read the last.
    const word32 last = count - 1;
    const auto weight = [&](int r, word32 i) {
        const word32 row = first + word32(r);
        return shock(weights[(row < last ? row : last) * count + i]);
    };
    shock sum[rows_at_once]{};
    const shock leading = number(word32{0});
    unrolled<int(rows_at_once)>([&](int r) { sum[r] = weight(r, 0) * leading; });
    rolled(1, int(count), [&](int i) {
        const shock x = number(word32(i));
        unrolled<int(rows_at_once)>([&](int r) { sum[r] = fma(weight(r, word32(i)), x, sum[r]); });
    });
    unrolled<int(rows_at_once)>([&](int r) {
        if (first + word32(r) < count) take(first + word32(r), sum[r]);
    });
}

}  // namespace tilewalk::kernels
