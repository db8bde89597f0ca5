// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tilewalk::exercise {

namespace {

constexpr std::size_t lanes = 16, paths_of_block = 1024;
// A function is left out if so little of its length is not made up for by those before it.
constexpr double least_pivot = 1e-10;

double tree_sum(std::vector<double>& of) {
    for (std::size_t n = of.size(); n > 1; n = (n + 1) / 2)
        for (std::size_t i = 0; i < (n + 1) / 2; ++i)
            of[i] = of[2 * i] + (2 * i + 1 < n ? of[2 * i + 1] : 0.0);
    return of.empty() ? 0 : of[0];
}

}  // namespace

// Lanes of a block, then the tree of its lanes, then that of all blocks.
double sum_of_products(const double* a, const double* b, std::size_t count) {
    std::vector<double> blocks;
    blocks.reserve(count / paths_of_block + 1);
    for (std::size_t first = 0; first < count; first += paths_of_block) {
        const std::size_t end = std::min(first + paths_of_block, count);
        std::array<double, lanes> sums{};
        std::size_t i = first;
        for (; i + lanes <= end; i += lanes)
            for (std::size_t l = 0; l < lanes; ++l) sums[l] += a[i + l] * b[i + l];
        for (; i < end; ++i) sums[i % lanes] += a[i] * b[i];
        for (std::size_t n = lanes / 2; n > 0; n /= 2)
            for (std::size_t l = 0; l < n; ++l) sums[l] += sums[l + n];
        blocks.push_back(sums[0]);
    }
    return tree_sum(blocks);
}

void normal_equations::add(std::span<const double* const> functions,
                           std::span<const double* const> right_sides, std::size_t paths) {
    for (std::size_t i = 0; i < functions_; ++i) {
        for (std::size_t j = 0; j <= i; ++j)
            at(i, j) = at(j, i) += sum_of_products(functions[i], functions[j], paths);
    }
    set_right(functions, right_sides, paths);
}

void normal_equations::set_right(std::span<const double* const> functions,
                                 std::span<const double* const> right_sides, std::size_t paths) {
    for (std::size_t i = 0; i < functions_; ++i)
        for (std::size_t s = 0; s < sides_; ++s)
            right(i, s) = sum_of_products(functions[i], right_sides[s], paths);
}

normal_equations::solution normal_equations::solve(std::size_t most_rank) const {
    const std::size_t n = functions_;
    // Functions of length 1 make pivots comparable.
    std::vector<double> scale(n), left(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double length = matrix_[i * n + i];
        scale[i] = length > 0 && std::isfinite(length) ? 1 / std::sqrt(length) : 0;
        left[i] = scale[i] > 0 ? 1 : 0;
    }
    std::vector<std::size_t> order;
    std::vector<double> factor(n * n, 0);  // [function][column]
    solution out;
    out.coefficients.assign(n * sides_, 0);
    while (out.rank < std::min(n, most_rank)) {
        const auto largest = std::ranges::max_element(left);
        if (!(*largest > least_pivot)) break;
        const auto p = static_cast<std::size_t>(largest - left.begin());
        const std::size_t k = out.rank++;
        const double root = std::sqrt(left[p]);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(left[i] > 0)) continue;
            double sum = matrix_[i * n + p] * scale[i] * scale[p];
            for (std::size_t c = 0; c < k; ++c) sum -= factor[i * n + c] * factor[p * n + c];
            factor[i * n + k] = i == p ? root : sum / root;
        }
        order.push_back(p);
        left[p] = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (left[i] > 0) left[i] = std::max(left[i] - factor[i * n + k] * factor[i * n + k], 0.0);
    }
    for (std::size_t s = 0; s < sides_; ++s) {
        std::vector<double> x(out.rank);
        for (std::size_t k = 0; k < out.rank; ++k) {
            const std::size_t i = order[k];
            x[k] = right_[i * sides_ + s] * scale[i];
            for (std::size_t c = 0; c < k; ++c) x[k] -= factor[i * n + c] * x[c];
            x[k] /= factor[i * n + k];
        }
        for (std::size_t k = out.rank; k-- > 0;) {
            for (std::size_t c = k + 1; c < out.rank; ++c) x[k] -= factor[order[c] * n + k] * x[c];
            x[k] /= factor[order[k] * n + k];
            out.coefficients[s * n + order[k]] = x[k] * scale[order[k]];
        }
    }
    return out;
}

}  // namespace tilewalk::exercise
