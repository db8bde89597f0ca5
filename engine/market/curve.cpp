// SPDX-License-Identifier: Apache-2.0
// Piecewise constant forward rates. Uses exp and log of kernels/, which have the same bits on every machine.
#include "engine/market/curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/market/wording.h"
#include "kernels/exponential.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {
namespace {

void check_pillars(const std::vector<double>& years, const std::vector<double>& values) {
    if (years.empty() || years.size() != values.size()) {
        throw error(error_kind::input, "found " + std::to_string(years.size()) + " pillars with " +
                                           std::to_string(values.size()) +
                                           " values, expected at least one and as many of each");
    }
    double last = 0;
    for (const double t : years) {
        if (!(t > last) || !std::isfinite(t)) {
            throw error(error_kind::input, "found a pillar at " + rounded(t) + " years after " +
                                               rounded(last) + ", expected strictly increasing times");
        }
        last = t;
    }
    for (const double value : values) {
        if (!std::isfinite(value)) {
            throw error(error_kind::input,
                        "found a value that is not finite, expected a rate or a discount factor");
        }
    }
}

}  // namespace

curve curve::flat(double rate) {
    curve made;
    made.last_rate_ = rate;
    return made;
}

curve curve::from_discount_factors(std::vector<double> years, std::vector<double> factors) {
    check_pillars(years, factors);
    curve made;
    made.years_ = std::move(years);
    for (const double factor : factors) {
        if (!(factor > 0)) {
            throw error(error_kind::input,
                        "found a discount factor of " + rounded(factor) + ", expected more than 0");
        }
        made.log_factors_.push_back(kernels::log(factor));
    }
    const std::size_t n = made.years_.size();
    made.last_rate_ = n == 1 ? -made.log_factors_[0] / made.years_[0]
                             : -(made.log_factors_[n - 1] - made.log_factors_[n - 2]) /
                                   (made.years_[n - 1] - made.years_[n - 2]);
    return made;
}

curve curve::from_zero_rates(std::vector<double> years, std::vector<double> rates) {
    check_pillars(years, rates);
    curve made;
    made.years_ = std::move(years);
    for (std::size_t i = 0; i < rates.size(); ++i) made.log_factors_.push_back(-rates[i] * made.years_[i]);
    const std::size_t n = made.years_.size();
    made.last_rate_ = n == 1 ? rates[0]
                             : -(made.log_factors_[n - 1] - made.log_factors_[n - 2]) /
                                   (made.years_[n - 1] - made.years_[n - 2]);
    return made;
}

double curve::log_discount(double years) const {
    if (years_.empty()) return -last_rate_ * years;
    const auto above = std::lower_bound(years_.begin(), years_.end(), years);
    if (above == years_.end()) return log_factors_.back() - last_rate_ * (years - years_.back());
    const auto i = static_cast<std::size_t>(above - years_.begin());
    const double t0 = i == 0 ? 0 : years_[i - 1], log0 = i == 0 ? 0 : log_factors_[i - 1];
    const double weight = (years - t0) / (years_[i] - t0);
    return weight == 1 ? log_factors_[i] : log0 + (log_factors_[i] - log0) * weight;
}

double curve::discount(double years) const {
    return kernels::exp(log_discount(years));
}

}  // namespace tilewalk::markets
