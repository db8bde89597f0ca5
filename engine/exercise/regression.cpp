// SPDX-License-Identifier: Apache-2.0
#include "engine/exercise/regression.h"

#include <algorithm>
#include <cmath>

namespace tilewalk::exercise {

namespace {

constexpr std::size_t lanes = 16;
// A function is left out if so little of its length is not made up for by those before it.
constexpr double least_pivot = 1e-10;

}  // namespace

double sum_of_products(const block_column& a, const block_column& b) {
    std::array<double, lanes> sums{};
    for (std::size_t i = 0; i < paths_of_block; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) sums[l] += a[i + l] * b[i + l];
    for (std::size_t n = lanes / 2; n > 0; n /= 2)
        for (std::size_t l = 0; l < n; ++l) sums[l] += sums[l + n];
    return sums[0];
}

pivoted_factor::pivoted_factor(std::span<const double> matrix, std::size_t functions, std::size_t most_rank)
    : functions_(functions), scale_(functions), factor_(functions * functions) {
    const std::size_t n = functions;
    // Functions of length 1 make pivots comparable.
    std::vector<double> left(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double length = matrix[i * n + i];
        scale_[i] = length > 0 && std::isfinite(length) ? 1 / std::sqrt(length) : 0;
        left[i] = scale_[i] > 0 ? 1 : 0;
    }
    while (rank() < std::min(n, most_rank)) {
        const auto largest = std::ranges::max_element(left);
        if (!(*largest > least_pivot)) break;
        const auto p = static_cast<std::size_t>(largest - left.begin());
        const std::size_t k = rank();
        const double root = std::sqrt(left[p]);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(left[i] > 0)) continue;
            double sum = matrix[i * n + p] * scale_[i] * scale_[p];
            for (std::size_t c = 0; c < k; ++c) sum -= factor_[i * n + c] * factor_[p * n + c];
            factor_[i * n + k] = i == p ? root : sum / root;
        }
        order_.push_back(p);
        left[p] = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (left[i] > 0) left[i] = std::max(left[i] - factor_[i * n + k] * factor_[i * n + k], 0.0);
    }
}

std::vector<double> pivoted_factor::solve(std::span<const double> right) const {
    const std::size_t n = functions_;
    std::vector<double> x(rank()), out(n, 0);
    for (std::size_t k = 0; k < rank(); ++k) {
        const std::size_t i = order_[k];
        x[k] = right[i] * scale_[i];
        for (std::size_t c = 0; c < k; ++c) x[k] -= factor_[i * n + c] * x[c];
        x[k] /= factor_[i * n + k];
    }
    for (std::size_t k = rank(); k-- > 0;) {
        for (std::size_t c = k + 1; c < rank(); ++c) x[k] -= factor_[order_[c] * n + k] * x[c];
        x[k] /= factor_[order_[k] * n + k];
        out[order_[k]] = x[k] * scale_[order_[k]];
    }
    return out;
}

}  // namespace tilewalk::exercise
