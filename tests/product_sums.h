// SPDX-License-Identifier: Apache-2.0
// Sums of products of columns by kernels, for anything that can run a kernel: they must have the CPU's bits.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/decide/exercise/regression.h"

namespace tilewalk::tests {

struct product_sums_arguments {
    const double* columns;  // [column][path]
    int rows, cols;
    unsigned is_lower;
    double* into;  // [row][column]
};

// The kernel `sum_products`, for one block of 256 threads. The first `rows` columns are multiplied by the
// next `cols` columns, or by themselves if `is_lower`.
inline const std::string text_of_product_sums = R"(#include "kernels/exercise/column_sums.h"

struct arguments {
    const double* columns;
    int rows, cols;
    unsigned is_lower;
    double* into;
};

extern __shared__ __align__(128) char shared[];

extern "C" __global__ void __launch_bounds__(256) sum_products(const __grid_constant__ arguments a) {
    using namespace tilewalk::kernels;
    double* const columns = reinterpret_cast<double*>(shared);
    const int all = a.is_lower ? a.rows : a.rows + a.cols;
    for (int c = 0; c < all; ++c)
        columns[c * slots_of_column + slot_of(int(threadIdx.x))] = a.columns[c * paths_of_block + int(threadIdx.x)];
    double* const quarters = columns + all * slots_of_column;
    const product_sums of{columns, columns + (a.is_lower ? 0 : a.rows * slots_of_column), a.rows, a.cols, a.is_lower != 0,
                          a.into, a.cols, 1};
    __syncthreads();
    // As by a kernel with these sums alone, and as by one with sums of more squares.
    const auto by = [&](const auto& sums) {
        sums.sum(of, int(threadIdx.x));
        __syncthreads();
        sums.take(of, int(threadIdx.x));
    };
    if (squares_of(a.rows, a.cols, a.is_lower) < 8) {
        by(shared_products<23, 23, true, 256>{quarters});
    } else {
        by(shared_products<32, 32, true, 256>{quarters});
    }
}
)";

constexpr std::uint32_t bytes_of_product_sums(int columns) {
    return static_cast<std::uint32_t>(columns * kernels::slots_of_column +
                                      4 * 6 * kernels::numbers_of_square) *
           sizeof(double);
}

// Runs the kernel on `columns`; `before` is what `into` holds at first. Returns what it holds afterwards.
using product_sums_of =
    std::function<std::vector<double>(const std::vector<double>& columns, int rows, int cols, bool is_lower,
                                      const std::vector<double>& before)>;

inline void expect_product_sums_of_the_cpu(const product_sums_of& sums) {
    std::uint64_t state = 11;
    // Numbers with either sign, from subnormal to large ones, and some zeros.
    const auto number = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double x = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
        const auto kind = static_cast<int>(state >> 59);
        return kind == 0 ? 0.0 : kind == 1 ? -0.0 : kind == 2 ? x * 0x1p-1040 : kind == 3 ? x * 0x1p300 : x;
    };
    struct size {
        int rows, cols;
        bool is_lower;
    };
    for (const size s :
         {size{1, 1, false}, {9, 9, true}, {9, 1, false}, {18, 15, false}, {8, 8, true}, {23, 23, true}}) {
        const int all = s.is_lower ? s.rows : s.rows + s.cols;
        std::vector<double> columns, before;
        for (int i = 0; i < all * kernels::paths_of_block; ++i) columns.push_back(number());
        for (int i = 0; i < s.rows * s.cols; ++i) before.push_back(number());
        const std::vector<double> got = sums(columns, s.rows, s.cols, s.is_lower, before);
        const auto column = [&](int c) {
            exercise::block_column out{};
            for (std::size_t p = 0; p < out.size(); ++p)
                out[p] = columns[static_cast<std::size_t>(c) * out.size() + p];
            return out;
        };
        for (int i = 0; i < s.rows; ++i) {
            for (int j = 0; j < s.cols; ++j) {
                const auto at = static_cast<std::size_t>(i * s.cols + j);
                double expected = before[at];
                if (!s.is_lower || j <= i)
                    expected += exercise::sum_of_products(column(i), column(s.is_lower ? j : s.rows + j));
                EXPECT_EQ(std::bit_cast<std::uint64_t>(got.at(at)), std::bit_cast<std::uint64_t>(expected))
                    << i << ", " << j << " of " << s.rows << " x " << s.cols << ": " << got[at] << " for "
                    << expected;
            }
        }
    }
}

}  // namespace tilewalk::tests
