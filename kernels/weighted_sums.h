// SPDX-License-Identifier: Apache-2.0
// Products of a square matrix with each thread's vector. Same bits as engine/walk/cpu/lane_operations.cpp.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/feeds/feed.h"
#include "kernels/loops.h"

namespace tilewalk::kernels {

// Rows of the matrix that are summed together: each number of the vector is read once for all.
static constexpr word32 rows_at_once = 4;

// Multiplies up to rows_at_once rows of a `count` x `count` matrix, from row `first` on, with the vector
// number(i), and calls take(row, sums). Sums go in order of i, for each of `width` numbers side by side.
template <class shock, int width, class numbers, class taker>
static constexpr void sum_rows(const double* weights, word32 count, word32 first, const numbers& number,
                               const taker& take) {
    using several = neighbours<shock, width>;
    const word32 last = count - 1;
    const auto weight = [&](int r, word32 i) {
        const word32 row = first + word32(r);
        return shock(weights[(row < last ? row : last) * count + i]);
    };
    several sum[rows_at_once]{};
    const several leading = number(word32{0});
    unrolled<int(rows_at_once)>([&](int r) {
        const shock by = weight(r, 0);
        unrolled<width>([&](int w) { sum[r].x[w] = by * leading.x[w]; });
    });
    rolled(1, int(count), [&](int i) {
        const several x = number(word32(i));
        unrolled<int(rows_at_once)>([&](int r) {
            const shock by = weight(r, word32(i));
            unrolled<width>([&](int w) { sum[r].x[w] = fma(by, x.x[w], sum[r].x[w]); });
        });
    });
    unrolled<int(rows_at_once)>([&](int r) {
        if (first + word32(r) < count) take(first + word32(r), sum[r]);
    });
}

}  // namespace tilewalk::kernels
