// SPDX-License-Identifier: Apache-2.0
#include "engine/market/volatility.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "engine/market/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

volatility volatility::flat(double level) {
    volatility made;
    made.first_level_ = made.last_level_ = level;
    return made;
}

std::size_t volatility::falls_at(const std::vector<double>& years, const std::vector<double>& levels) {
    for (std::size_t i = 1; i < years.size(); ++i) {
        if (levels[i] * levels[i] * years[i] < levels[i - 1] * levels[i - 1] * years[i - 1]) return i;
    }
    return years.size();
}

volatility volatility::by_term(std::vector<double> years, std::vector<double> levels) {
    if (years.empty() || years.size() != levels.size()) {
        throw error(error_kind::input, "found " + std::to_string(years.size()) + " pillars with " +
                                           std::to_string(levels.size()) +
                                           " volatilities, expected at least one and as many of each");
    }
    double last = 0;
    for (std::size_t i = 0; i < years.size(); ++i) {
        if (!(years[i] > last) || !std::isfinite(years[i])) {
            throw error(error_kind::input, "found a pillar at " + rounded(years[i]) + " years after " +
                                               rounded(last) + ", expected strictly increasing times");
        }
        if (!(levels[i] >= 0) || !std::isfinite(levels[i])) {
            throw error(error_kind::input,
                        "found a volatility of " + rounded(levels[i]) + ", expected 0 or more");
        }
        last = years[i];
    }
    if (const std::size_t at = falls_at(years, levels); at < years.size()) {
        throw error(error_kind::input, "the total variance falls between " + rounded(years[at - 1]) +
                                           " and " + rounded(years[at]) + " years");
    }
    volatility made;
    made.first_level_ = levels.front();
    made.last_level_ = levels.back();
    made.years_ = std::move(years);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        made.variances_.push_back(levels[i] * levels[i] * made.years_[i]);
    }
    return made;
}

volatility volatility::piecewise(std::vector<double> years, const std::vector<double>& levels) {
    volatility made;
    made.first_level_ = levels.front();
    made.last_level_ = levels.back();
    made.years_ = std::move(years);
    double before = 0, variance = 0;
    for (std::size_t i = 0; i < made.years_.size(); ++i) {
        variance += levels[i] * levels[i] * (made.years_[i] - before);
        before = made.years_[i];
        made.variances_.push_back(variance);
    }
    if (!made.years_.empty()) made.beyond_ = variance - made.last_level_ * made.last_level_ * before;
    return made;
}

double volatility::total_variance(double years) const {
    if (years_.empty() || years <= years_.front()) return first_level_ * first_level_ * years;
    if (years >= years_.back()) return last_level_ * last_level_ * years + beyond_;
    const auto above =
        static_cast<std::size_t>(std::lower_bound(years_.begin(), years_.end(), years) - years_.begin());
    const double t0 = years_[above - 1], v0 = variances_[above - 1];
    return v0 + (variances_[above] - v0) * ((years - t0) / (years_[above] - t0));
}

double volatility::instantaneous(double years) const {
    if (years_.empty() || years < years_.front()) return first_level_;
    if (years >= years_.back()) return last_level_;
    const auto above =
        static_cast<std::size_t>(std::upper_bound(years_.begin(), years_.end(), years) - years_.begin());
    return std::sqrt((variances_[above] - variances_[above - 1]) / (years_[above] - years_[above - 1]));
}

double volatility::covariance(const volatility& a, const volatility& b, double from, double to) {
    double sum = 0;
    auto next_a = std::upper_bound(a.years_.begin(), a.years_.end(), from);
    auto next_b = std::upper_bound(b.years_.begin(), b.years_.end(), from);
    while (from < to) {
        double end = to;
        if (next_a != a.years_.end()) end = std::min(end, *next_a);
        if (next_b != b.years_.end()) end = std::min(end, *next_b);
        sum += a.instantaneous(from) * b.instantaneous(from) * (end - from);
        from = end;
        while (next_a != a.years_.end() && *next_a <= from) ++next_a;
        while (next_b != b.years_.end() && *next_b <= from) ++next_b;
    }
    return sum;
}

}  // namespace tilewalk::markets
