// SPDX-License-Identifier: Apache-2.0
#include "engine/study/risk/tails.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewalk::risk {

std::size_t place_of_quantile(double level, std::size_t gains) {
    constexpr double rounding = 1e-9;
    const double whole = std::floor(level * static_cast<double>(gains) + rounding);
    return std::min(static_cast<std::size_t>(std::max(whole, 0.0)) + 1, gains);
}

tail_finder::tail_finder(std::vector<std::size_t> places)
    : places_(std::move(places)), falling_(places_.size()), found_(places_.size()) {
    std::iota(falling_.begin(), falling_.end(), std::size_t{0});
    std::ranges::stable_sort(falling_, std::ranges::greater{}, [&](std::size_t p) { return places_[p]; });
}

std::span<const tail_values> tail_finder::tails_of(std::span<const double> gains) {
    sorted_.assign(gains.begin(), gains.end());
    auto end = sorted_.end();  // a lower place lies within the gains partitioned so far
    for (const std::size_t p : falling_) {
        const auto at = sorted_.begin() + static_cast<std::ptrdiff_t>(places_[p] - 1);
        if (at < end) std::nth_element(sorted_.begin(), at, end);
        end = at;
        found_[p].quantile = *at;
    }
    // Sums follow the order of `gains`, not the order that the search leaves.
    for (tail_values& t : found_) {
        double sum = 0;
        t.within = 0;
        for (const double g : gains) {
            const bool is_within = g <= t.quantile;
            sum += is_within ? g : 0.0;
            t.within += is_within ? 1 : 0;
        }
        t.shortfall = sum / static_cast<double>(t.within);
    }
    return found_;
}

}  // namespace tilewalk::risk
