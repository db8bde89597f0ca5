// SPDX-License-Identifier: Apache-2.0
// Smiles interpolated in time. Uses arithmetic and square roots, which have the same bits on every machine.
#include "engine/market/surface.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/market/wording.h"

namespace tilewalk::markets {
namespace {

constexpr double least_reach = 1e-8;

}  // namespace

expiry expiry::from_quotes(double years, std::vector<quote> quotes) {
    std::vector<double> x, variances;
    for (const quote& q : quotes) {
        x.push_back(q.log_moneyness);
        variances.push_back(q.volatility * q.volatility * years);
    }
    return {years, smile::through(std::move(x), std::move(variances)), std::move(quotes), 1, {}, {}, {}};
}

expiry expiry::from_svi(double years, const svi_parameters& parameters) {
    return {years, smile::svi(parameters), {}, 1, {}, {}, {}};
}

implied_surface::implied_surface(written_by form, std::vector<expiry> expiries)
    : expiries_(std::move(expiries)), form_(form) {
    if (expiries_.empty()) {
        throw error(error_kind::input, "found a surface without expiries, expected at least one");
    }
    for (const expiry& e : expiries_) {
        const double last = years_.empty() ? 0 : years_.back();
        if (!(e.years > last) || !std::isfinite(e.years)) {
            throw error(error_kind::input, "found an expiry at " + rounded(e.years) + " years after " +
                                               rounded(last) + ", expected strictly increasing times");
        }
        years_.push_back(e.years);
    }
}

implied_surface::value implied_surface::total_variance(double years, double x) const {
    if (years_.size() == 1 || years < years_.front()) {
        const smile_point w = expiries_.front().variance.at(x);
        const double weight = std::max(years, 0.0) / years_.front();
        return {{weight * w.variance, weight * w.slope, weight * w.curvature}, w.variance / years_.front()};
    }
    const auto above = std::upper_bound(years_.begin() + 1, years_.end() - 1, years);
    const auto i = static_cast<std::size_t>(above - years_.begin()) - 1;
    const smile_point w0 = expiries_[i].variance.at(x), w1 = expiries_[i + 1].variance.at(x);
    const double length = years_[i + 1] - years_[i], weight = (years - years_[i]) / length;
    const auto mixed = [&](double first, double second) { return (1 - weight) * first + weight * second; };
    return {{mixed(w0.variance, w1.variance), mixed(w0.slope, w1.slope), mixed(w0.curvature, w1.curvature)},
            (w1.variance - w0.variance) / length};
}

double implied_surface::implied_volatility(double years, double x) const {
    const value w = total_variance(years, x);
    return std::sqrt(std::max(years > 0 ? w.at.variance / years : w.by_time, 0.0));
}

std::pair<double, double> implied_surface::reach(double years, double deviations) const {
    const auto one_side = [&](double sign) {
        const double at_the_money = std::max(total_variance(years, 0).at.variance, 0.0);
        double distance = std::max(0.25 * deviations * std::sqrt(at_the_money), least_reach);
        while (distance < most_reach) {
            const double w = std::max(total_variance(years, sign * distance).at.variance, 0.0);
            if (distance >= deviations * std::sqrt(w) + w / 2) break;
            distance *= 1.05;
        }
        return std::min(distance, most_reach);
    };
    return {-one_side(-1), one_side(1)};
}

}  // namespace tilewalk::markets
