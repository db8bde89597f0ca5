// SPDX-License-Identifier: Apache-2.0
// Splines and SVI. Uses arithmetic and square roots alone, which give the same bits on every machine.
#include "engine/market/smile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/market/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {
namespace {

constexpr double steepest_slope = 2;  // Lee (2004), "The moment formula for implied volatility"

std::vector<double> natural_curvatures(const std::vector<double>& x, const std::vector<double>& y) {
    const std::size_t n = x.size();
    std::vector<double> curvatures(n), above(n);
    for (std::size_t i = 1; i + 1 < n; ++i) {
        const double left = x[i] - x[i - 1], right = x[i + 1] - x[i];
        const double bend = 6 * ((y[i + 1] - y[i]) / right - (y[i] - y[i - 1]) / left);
        const double pivot = 2 * (left + right) - left * above[i - 1];
        above[i] = right / pivot;
        curvatures[i] = (bend - left * curvatures[i - 1]) / pivot;
    }
    if (n > 2) curvatures[n - 1] = 0;
    for (std::size_t i = n - 1; i-- > 1;) curvatures[i] -= above[i] * curvatures[i + 1];
    return curvatures;
}

smile_point beyond(double variance, double slope, double distance) {
    const double kept = std::clamp(slope, 0.0, steepest_slope);
    const double turn = kept - slope;
    if (turn == 0) return {variance + slope * distance, slope, 0};
    const double length = variance / std::abs(slope);
    const double u = std::min(distance / length, 1.0);
    // Over `length` the slope turns to its bound by 3 u^2 - 2 u^3: variance loses at most half of its value.
    const double turned = u * u * (3 - 2 * u), gained = length * u * u * u * (1 - u / 2);
    return {variance + slope * distance + turn * (gained + std::max(distance - length, 0.0)),
            slope + turn * turned, turn * 6 * u * (1 - u) / length};
}

}  // namespace

double svi_parameters::least_variance() const {
    return a + b * sigma * std::sqrt(1 - rho * rho);
}

double svi_parameters::steepest_wing() const {
    return b * (1 + std::abs(rho));
}

double density_ratio(const smile_point& w, double log_moneyness) {
    if (!(w.variance > 0)) return -1;
    const double drift = 1 - log_moneyness * w.slope / (2 * w.variance);
    return drift * drift - w.slope * w.slope / 4 * (1 / w.variance + 0.25) + w.curvature / 2;
}

smile smile::through(std::vector<double> x, std::vector<double> variances) {
    if (x.size() < 2 || x.size() != variances.size()) {
        throw error(error_kind::input, "found a smile of " + std::to_string(x.size()) + " strikes with " +
                                           std::to_string(variances.size()) +
                                           " variances, expected at least two and as many of each");
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i]) || (i > 0 && !(x[i] > x[i - 1]))) {
            throw error(error_kind::input, "found the log-moneyness " + rounded(x[i]) + " in a smile" +
                                               (i > 0 ? " after " + rounded(x[i - 1]) : "") +
                                               ", expected strictly increasing numbers");
        }
        if (!(variances[i] > 0) || !std::isfinite(variances[i])) {
            throw error(error_kind::input, "found the total variance " + rounded(variances[i]) +
                                               " in a smile, expected more than 0");
        }
    }
    spline s{std::move(x), std::move(variances), {}, 0, 0};
    s.curvatures = natural_curvatures(s.x, s.variances);
    s.first_slope = between(s, s.x.front()).slope;
    s.last_slope = between(s, s.x.back()).slope;
    return smile(std::move(s));
}

smile smile::svi(const svi_parameters& p) {
    const bool sound = p.b >= 0 && std::abs(p.rho) < 1 && p.sigma > 0 && std::isfinite(p.sigma) &&
                       std::isfinite(p.m) && p.least_variance() >= 0 && p.steepest_wing() <= steepest_slope;
    if (!sound) {
        throw error(error_kind::input,
                    "found SVI with a = " + rounded(p.a) + ", b = " + rounded(p.b) + ", rho = " +
                        rounded(p.rho) + ", m = " + rounded(p.m) + ", sigma = " + rounded(p.sigma) +
                        ", expected b >= 0, |rho| < 1, sigma > 0, a + b sigma sqrt(1 - rho^2) >= 0 and "
                        "b (1 + |rho|) <= 2");
    }
    return smile(p);
}

smile_point smile::between(const spline& s, double x) {
    const auto above = std::upper_bound(s.x.begin() + 1, s.x.end() - 1, x);
    const auto i = static_cast<std::size_t>(above - s.x.begin()) - 1;
    const double width = s.x[i + 1] - s.x[i];
    const double right = (x - s.x[i]) / width, left = (s.x[i + 1] - x) / width;
    const double w0 = s.variances[i], w1 = s.variances[i + 1], c0 = s.curvatures[i], c1 = s.curvatures[i + 1];
    const double bend0 = (left * left - 1) * left * c0, bend1 = (right * right - 1) * right * c1;
    return {left * w0 + right * w1 + (bend0 + bend1) * width * width / 6,
            (w1 - w0) / width + ((1 - 3 * left * left) * c0 + (3 * right * right - 1) * c1) * width / 6,
            left * c0 + right * c1};
}

smile_point smile::at(double x) const {
    if (const auto* p = std::get_if<svi_parameters>(&form_)) {
        const double d = x - p->m, root = std::sqrt(d * d + p->sigma * p->sigma);
        return {p->a + p->b * (p->rho * d + root), p->b * (p->rho + d / root),
                p->b * p->sigma / root * (p->sigma / root) / root};
    }
    const spline& s = std::get<spline>(form_);
    if (x < s.x.front()) {
        smile_point out = beyond(s.variances.front(), -s.first_slope, s.x.front() - x);
        out.slope = -out.slope;
        return out;
    }
    if (x > s.x.back()) return beyond(s.variances.back(), s.last_slope, x - s.x.back());
    return between(s, x);
}

}  // namespace tilewalk::markets
