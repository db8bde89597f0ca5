// SPDX-License-Identifier: Apache-2.0
// Values of Bermudan swaptions with one or two Gaussian factors, by quadrature from exercise to exercise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace tilewalk::tests {

// Simpson's rule on 200 intervals.
template <class function>
double integral(double from, double to, function&& f) {
    constexpr int n = 200;
    const double h = (to - from) / n;
    double sum = f(from) + f(to);
    for (int i = 1; i < n; ++i) sum += (i % 2 == 0 ? 2 : 4) * f(from + i * h);
    return sum * h / 3;
}

// G2++: the short rate is the sum of two Gaussian factors and a function of time that fits a flat curve.
struct two_factors {
    double rate, a, sigma, b, eta, rho;

    static double reach(double reversion, double years) {
        return reversion == 0 ? years : -std::expm1(-reversion * years) / reversion;
    }
    double variance(double from, double to) const {
        return integral(from, to, [&](double u) {
            const double x = sigma * reach(a, to - u), y = eta * reach(b, to - u);
            return x * x + y * y + 2 * rho * x * y;
        });
    }
};

struct bond {
    double level, of_x, of_y;
    bond(const two_factors& m, double day, double maturity)
        : level(std::exp(-m.rate * (maturity - day) +
                         (m.variance(day, maturity) - m.variance(0, maturity) + m.variance(0, day)) / 2)),
          of_x(two_factors::reach(m.a, maturity - day)),
          of_y(two_factors::reach(m.b, maturity - day)) {}
    double at(double x, double y) const { return level * std::exp(-of_x * x - of_y * y); }
};

// Nodes and weights for means over a normal variable. Equidistant nodes are accurate for smooth functions,
// and nearly so for kinks, if there are many nodes or the kink varies with another variable.
inline std::vector<std::pair<double, double>> normal_nodes(int count) {
    if (count == 1) return {{0.0, 1.0}};
    constexpr double reach = 6.5;
    std::vector<std::pair<double, double>> out;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        const double z = reach * (2.0 * i / (count - 1) - 1);
        out.emplace_back(z, std::exp(-z * z / 2));
        sum += out.back().second;
    }
    for (auto& [z, weight] : out) weight /= sum;
    return out;
}

// A function on an even grid over both factors, with cubic interpolation.
class on_grid {
  public:
    // A `reach_y` of 0 makes a grid over one factor.
    on_grid(double reach_x, double reach_y)
        : points_x(reach_y > 0 ? 61 : 401),
          points_y(reach_y > 0 ? 61 : 1),
          reach_x_(reach_x),
          reach_y_(reach_y),
          value_(static_cast<std::size_t>(points_x * points_y)) {}

    int points_x, points_y;
    double x(int i) const { return reach_x_ * (2.0 * i / (points_x - 1) - 1); }
    double y(int j) const { return points_y == 1 ? 0 : reach_y_ * (2.0 * j / (points_y - 1) - 1); }
    double& at(int i, int j) { return value_[static_cast<std::size_t>(i * points_y + j)]; }
    double operator()(double x, double y) const {
        const place of_x(x, reach_x_, points_x), of_y(y, reach_y_, points_y);
        double sum = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < std::min(points_y, 4); ++j)
                sum += of_x.weights[i] * of_y.weights[j] *
                       value_[static_cast<std::size_t>((of_x.first + i) * points_y + of_y.first + j)];
        return sum;
    }

  private:
    struct place {
        int first;
        double weights[4];
        place(double x, double reach, int points) : first(0), weights{1, 0, 0, 0} {
            if (points == 1) return;
            const double at = (x / reach + 1) / 2 * (points - 1);
            first = std::clamp(static_cast<int>(std::floor(at)) - 1, 0, points - 4);
            for (int i = 0; i < 4; ++i) {
                weights[i] = 1;
                for (int j = 0; j < 4; ++j)
                    if (j != i) weights[i] *= (at - first - j) / (i - j);
            }
        }
    };
    double reach_x_, reach_y_;
    std::vector<double> value_;
};

struct swaption {
    double strike;
    bool is_payer;
    std::vector<double> dates, payments;

    // The value to its holder of the swap's payments after `day`, for a notional of 1.
    double rest(const std::vector<bond>& left, double day, double x, double y) const {
        const std::size_t passed = payments.size() - left.size();
        double fixed = 0, before = day;
        for (std::size_t k = 0; k < left.size(); ++k) {
            fixed += strike * (payments[passed + k] - before) * left[k].at(x, y);
            before = payments[passed + k];
        }
        const double worth = 1 - left.back().at(x, y) - fixed;
        return is_payer ? worth : -worth;
    }
};

// The value of a Bermudan swaption. Each step back is taken under the measure of the bond that ends with it.
inline double swaption_on_a_grid(const two_factors& m, const swaption& of) {
    const double end = of.dates.back();
    const auto deviation = [](double volatility, double reversion, double years) {
        return volatility * std::sqrt(two_factors::reach(2 * reversion, years));
    };
    const double reach_x = 7 * deviation(m.sigma, m.a, end), reach_y = 7 * deviation(m.eta, m.b, end);
    // The value on `day`, given both factors there, of a claim worth next(x, y) on the day `later`.
    const bool are_two = m.eta > 0;
    const auto nodes = normal_nodes(are_two ? 41 : 2001), others = normal_nodes(are_two ? 41 : 1);
    const auto back = [&](double day, double later, auto&& next) {
        const double years = later - day;
        const double sd_x = deviation(m.sigma, m.a, years), sd_y = deviation(m.eta, m.b, years);
        const double covariance = m.rho * m.sigma * m.eta * two_factors::reach(m.a + m.b, years);
        const double slope = sd_x > 0 ? covariance / sd_x : 0;
        const double rest = std::sqrt(std::max(sd_y * sd_y - slope * slope, 0.0));
        const auto drift = [&](double own, double reversion, double other, double other_reversion) {
            return integral(day, later, [&](double u) {
                return (own * own * two_factors::reach(reversion, later - u) +
                        m.rho * own * other * two_factors::reach(other_reversion, later - u)) *
                       std::exp(-reversion * (later - u));
            });
        };
        const double drift_x = drift(m.sigma, m.a, m.eta, m.b), drift_y = drift(m.eta, m.b, m.sigma, m.a);
        const bond discount(m, day, later);
        return [=, &nodes, &others, &m](double x, double y) {
            double sum = 0;
            const double mean_x = x * std::exp(-m.a * years) - drift_x,
                         mean_y = y * std::exp(-m.b * years) - drift_y;
            for (const auto& [z, w] : nodes)
                for (const auto& [u, v] : others)
                    sum += w * v * next(mean_x + sd_x * z, mean_y + slope * z + rest * u);
            return discount.at(x, y) * sum;
        };
    };
    const auto rest_on = [&](double day) {
        std::vector<bond> left;
        for (const double t : of.payments)
            if (t > day) left.emplace_back(m, day, t);
        return [&of, day, left](double x, double y) { return std::max(of.rest(left, day, x, y), 0.0); };
    };
    on_grid to_come(reach_x, reach_y);  // value of waiting, by the factors
    for (std::size_t k = of.dates.size() - 1; k > 0; --k) {
        const auto used = rest_on(of.dates[k]);
        const auto from = back(of.dates[k - 1], of.dates[k],
                               [&](double x, double y) { return std::max(used(x, y), to_come(x, y)); });
        on_grid made(reach_x, reach_y);
        for (int i = 0; i < made.points_x; ++i)
            for (int j = 0; j < made.points_y; ++j) made.at(i, j) = from(made.x(i), made.y(j));
        to_come = made;
    }
    const auto used = rest_on(of.dates[0]);
    return back(0, of.dates[0], [&](double x, double y) { return std::max(used(x, y), to_come(x, y)); })(0,
                                                                                                         0);
}

}  // namespace tilewalk::tests
