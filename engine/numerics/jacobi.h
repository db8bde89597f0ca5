// SPDX-License-Identifier: Apache-2.0
// Eigenpairs of a symmetric matrix by Jacobi rotations. Plain IEEE loops give the same bits everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "kernels/math.h"

namespace tilewalk::analytics {

struct eigen_pair {
    double value = 0;
    std::vector<double> vector;  // unit length
};

// Eigenpairs of the n x n matrix `a`, given by row; the pair with the largest value first.
inline std::vector<eigen_pair> eigen_pairs(std::vector<double> a, std::size_t n) {
    std::vector<double> v(n * n, 0.0);  // one vector per row
    for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
    constexpr int most_sweeps = 50;  // ten suffice for any matrix
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double beside = 0, all = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                all += a[i * n + j] * a[i * n + j];
                if (i != j) beside += a[i * n + j] * a[i * n + j];
            }
        }
        if (beside <= 1e-30 * all) break;
        for (std::size_t p = 0; p < n; ++p) {
            for (std::size_t q = p + 1; q < n; ++q) {
                const double off = a[p * n + q];
                if (off == 0) continue;
                // The smaller of the two rotation angles that make the element 0.
                const double half = (a[q * n + q] - a[p * n + p]) / (2 * off);
                const double t = (half < 0 ? -1.0 : 1.0) / (std::abs(half) + kernels::sqrt(half * half + 1));
                const double c = 1 / kernels::sqrt(t * t + 1), s = t * c;
                for (std::size_t k = 0; k < n; ++k) {
                    const double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y;
                    a[k * n + q] = s * x + c * y;
                }
                for (double* rows : {a.data(), v.data()}) {
                    for (std::size_t k = 0; k < n; ++k) {
                        const double x = rows[p * n + k], y = rows[q * n + k];
                        rows[p * n + k] = c * x - s * y;
                        rows[q * n + k] = s * x + c * y;
                    }
                }
            }
        }
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t i, std::size_t j) { return a[i * n + i] > a[j * n + j]; });
    std::vector<eigen_pair> out;
    for (const std::size_t i : order) {
        const auto first = v.begin() + static_cast<std::ptrdiff_t>(i * n);
        out.push_back({a[i * n + i], {first, first + static_cast<std::ptrdiff_t>(n)}});
    }
    return out;
}

}  // namespace tilewalk::analytics
