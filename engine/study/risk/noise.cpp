// SPDX-License-Identifier: Apache-2.0
#include "engine/study/risk/noise.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tilewalk::risk {

std::vector<double> shares_of_parts(std::size_t parts, std::uint64_t part_paths, std::uint64_t run_paths) {
    std::vector<double> shares(parts, 1 / static_cast<double>(parts));
    if (part_paths == 0 || run_paths <= (parts - 1) * part_paths) return shares;
    for (std::size_t p = 0; p < parts; ++p)
        shares[p] = static_cast<double>(std::min(part_paths, run_paths - p * part_paths)) /
                    static_cast<double>(run_paths);
    return shares;
}

namespace {

// Walsh-Hadamard transform: replaces 2^n values by their sums with the signs of each row of the matrix.
void add_with_signs(std::span<double> values) {
    for (std::size_t half = 1; half < values.size(); half *= 2) {
        for (std::size_t block = 0; block < values.size(); block += 2 * half) {
            for (std::size_t i = block; i < block + half; ++i) {
                const double a = values[i], b = values[i + half];
                values[i] = a + b;
                values[i + half] = a - b;
            }
        }
    }
}

}  // namespace

std::vector<noise_errors> noise_errors_of(std::span<const double> gains, std::span<const double> means,
                                          std::span<const double> shares, tail_finder& find) {
    const std::size_t parts = shares.size(), signs = std::bit_ceil(parts);
    double squares = 0;
    for (const double share : shares) squares += share * share;
    // Factor that undoes the shrinking of differences from a mean of the same parts.
    const double widened = 1 / std::sqrt(1 - squares);

    std::vector<double> moves(signs * gains.size());  // by row of signs, then by scenario
    std::vector<double> of_scenario(signs);
    for (std::size_t s = 0; s < gains.size(); ++s) {
        const std::span<const double> own = means.subspan(s * parts, parts);
        double mean = 0;  // less own[0], so that equal parts differ by exactly 0
        for (std::size_t p = 0; p < parts; ++p) mean += shares[p] * (own[p] - own[0]);
        std::ranges::fill(of_scenario, 0.0);
        for (std::size_t p = 0; p < parts; ++p)
            of_scenario[p] = shares[p] * (own[p] - own[0] - mean) * widened;
        add_with_signs(of_scenario);
        for (std::size_t h = 0; h < signs; ++h) moves[h * gains.size() + s] = of_scenario[h];
    }

    const std::span<const tail_values> now = find.tails_of(gains);
    const std::vector<tail_values> of_all(now.begin(), now.end());
    std::vector<noise_errors> sums(of_all.size());
    std::vector<double> moved(gains.size());
    for (std::size_t h = 0; h < signs; ++h) {
        for (const double sign : {1.0, -1.0}) {
            for (std::size_t s = 0; s < gains.size(); ++s)
                moved[s] = gains[s] + sign * moves[h * gains.size() + s];
            const std::span<const tail_values> there = find.tails_of(moved);
            for (std::size_t i = 0; i < sums.size(); ++i) {
                const double quantile = there[i].quantile - of_all[i].quantile;
                const double shortfall = there[i].shortfall - of_all[i].shortfall;
                sums[i].quantile += quantile * quantile;
                sums[i].shortfall += shortfall * shortfall;
            }
        }
    }
    for (noise_errors& sum : sums) {
        sum.quantile = std::sqrt(sum.quantile / static_cast<double>(2 * signs));
        sum.shortfall = std::sqrt(sum.shortfall / static_cast<double>(2 * signs));
    }
    return sums;
}

}  // namespace tilewalk::risk
