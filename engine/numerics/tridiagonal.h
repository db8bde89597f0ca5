// SPDX-License-Identifier: Apache-2.0
// Eigenpairs by implicit QL steps: faster than Jacobi rotations for many rows, with the same bits everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/numerics/jacobi.h"
#include "kernels/math.h"

namespace tilewalk::analytics {

// Numbers that a compiler vectorises together, if a loop reads all of them before it writes any.
inline constexpr std::size_t numbers_at_once = 4;

inline void turn_rows(double* one, double* other, std::size_t length, double cosine, double sine) {
    for (std::size_t first = 0; first < length; first += numbers_at_once) {
        double x[numbers_at_once], y[numbers_at_once];
        for (std::size_t k = 0; k < numbers_at_once; ++k) x[k] = other[first + k];
        for (std::size_t k = 0; k < numbers_at_once; ++k) y[k] = one[first + k];
        for (std::size_t k = 0; k < numbers_at_once; ++k) other[first + k] = sine * y[k] + cosine * x[k];
        for (std::size_t k = 0; k < numbers_at_once; ++k) one[first + k] = cosine * y[k] - sine * x[k];
    }
}

// Eigenpairs, the largest value first. `beside` holds the elements beside the diagonal.
inline std::vector<eigen_pair> tridiagonal_eigen_pairs(std::vector<double> diagonal,
                                                       std::vector<double> beside) {
    const std::size_t n = diagonal.size();
    const std::size_t pitch = (n + numbers_at_once - 1) / numbers_at_once * numbers_at_once;
    std::vector<double> v(n * pitch, 0.0);  // one zero-padded vector per row
    for (std::size_t i = 0; i < n; ++i) v[i * pitch + i] = 1;
    beside.push_back(0);
    constexpr int most_steps = 60;  // two are usual
    for (std::size_t first = 0; first < n; ++first) {
        for (int step = 0; step < most_steps; ++step) {
            std::size_t last = first;
            for (; last + 1 < n; ++last) {
                const double about = std::abs(diagonal[last]) + std::abs(diagonal[last + 1]);
                if (std::abs(beside[last]) <= 1e-16 * about) break;
            }
            if (last == first) break;
            // Wilkinson's shift: the eigenvalue of the upper corner nearer to its first element.
            const double half = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
            const double root = kernels::sqrt(half * half + 1);
            double g = diagonal[last] - diagonal[first] + beside[first] / (half + (half < 0 ? -root : root));
            double s = 1, c = 1, moved = 0;
            bool has_split = false;
            for (std::size_t i = last; i-- > first;) {
                const double f = s * beside[i], b = c * beside[i];
                const double length = kernels::sqrt(f * f + g * g);
                beside[i + 1] = length;
                if (length == 0) {
                    diagonal[i + 1] -= moved;
                    beside[last] = 0;
                    has_split = true;
                    break;
                }
                s = f / length;
                c = g / length;
                g = diagonal[i + 1] - moved;
                const double turn = (diagonal[i] - g) * s + 2 * c * b;
                moved = s * turn;
                diagonal[i + 1] = g + moved;
                g = c * turn - b;
                turn_rows(v.data() + i * pitch, v.data() + (i + 1) * pitch, pitch, c, s);
            }
            if (has_split) continue;
            diagonal[first] -= moved;
            beside[first] = g;
            beside[last] = 0;
        }
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return diagonal[i] > diagonal[j]; });
    std::vector<eigen_pair> out;
    for (const std::size_t i : order) {
        const auto at = v.begin() + static_cast<std::ptrdiff_t>(i * pitch);
        out.push_back({diagonal[i], {at, at + static_cast<std::ptrdiff_t>(n)}});
    }
    return out;
}

}  // namespace tilewalk::analytics
