// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/exercise/regression.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::exercise {

namespace {

template <std::size_t lanes>
double sum_by_lanes(const double* a, const double* b, std::size_t count) {
    std::array<double, lanes> sums{};
    std::size_t first = 0;
    for (; first + lanes <= count; first += lanes)
        for (std::size_t l = 0; l < lanes; ++l) sums[l] = std::fma(a[first + l], b[first + l], sums[l]);
    for (std::size_t l = 0; first + l < count; ++l) sums[l] = std::fma(a[first + l], b[first + l], sums[l]);
    for (std::size_t n = lanes / 2; n > 0; n /= 2)
        for (std::size_t l = 0; l < n; ++l) sums[l] += sums[l + n];
    return sums[0];
}

}  // namespace

double sum_of_products(const block_column& a, const block_column& b) {
    return sum_by_lanes<kernels::lanes_of_sum>(a.data(), b.data(), paths_of_block);
}

double inner(std::span<const double> a, std::span<const double> b) {
    return sum_by_lanes<kernels::lanes_of_inner>(a.data(), b.data(), a.size());
}

pivoted_factor::pivoted_factor(std::span<const double> matrix, std::size_t functions, std::size_t most_rank)
    : functions_(functions), scale_(functions), factor_(functions * functions) {
    const std::size_t n = functions;
    // Scale functions to length 1, so that their pivots compare.
    std::vector<double> left(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double length = matrix[i * n + i];
        scale_[i] = length > 0 && std::isfinite(length) ? 1 / std::sqrt(length) : 0;
        left[i] = scale_[i] > 0 ? 1 : 0;
    }
    while (rank() < std::min(n, most_rank)) {
        const auto largest = std::ranges::max_element(left);
        if (!(*largest > kernels::least_pivot)) break;
        const auto p = static_cast<std::size_t>(largest - left.begin());
        const std::size_t k = rank();
        const double root = std::sqrt(left[p]), inverse = 1 / root;
        for (std::size_t i = 0; i < n; ++i) {
            if (!(left[i] > 0)) continue;
            double sum = matrix[i * n + p] * scale_[i] * scale_[p];
            for (std::size_t c = 0; c < k; ++c) sum = std::fma(-factor_[i * n + c], factor_[p * n + c], sum);
            factor_[i * n + k] = i == p ? root : sum * inverse;
        }
        order_.push_back(p);
        inverse_.push_back(inverse);
        left[p] = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double l = factor_[i * n + k];
            if (left[i] > 0) left[i] = std::max(std::fma(-l, l, left[i]), 0.0);
        }
    }
}

// Substitutes by columns: each number found updates all later ones, which are independent of each other.
std::vector<double> pivoted_factor::solve(std::span<const double> right) const {
    const std::size_t n = functions_;
    std::vector<double> x(rank()), out(n, 0);
    for (std::size_t k = 0; k < rank(); ++k) x[k] = right[order_[k]] * scale_[order_[k]];
    for (std::size_t k = 0; k < rank(); ++k) {
        x[k] *= inverse_[k];
        for (std::size_t i = k + 1; i < rank(); ++i) x[i] = std::fma(-factor_[order_[i] * n + k], x[k], x[i]);
    }
    for (std::size_t k = rank(); k-- > 0;) {
        x[k] *= inverse_[k];
        for (std::size_t i = 0; i < k; ++i) x[i] = std::fma(-factor_[order_[k] * n + i], x[k], x[i]);
        out[order_[k]] = x[k] * scale_[order_[k]];
    }
    return out;
}

}  // namespace tilewalk::exercise
