// SPDX-License-Identifier: Apache-2.0
// The price of an option by Andersen's quadratic-exponential scheme for Heston, without simulation: the law
// of the scheme's steps, by quadrature over the variance, is carried backwards in time with the transform of
// the asset. Written from the paper with doubles and the standard library; shares no code with the engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "engine/numerics/characteristic.h"

namespace tilewalk {

class scheme_law {
  public:
    using complex = std::complex<double>;

    scheme_law(const fourier::heston& p, double years, int steps) : p_(p), dt_(years / steps), steps_(steps) {
        const double r = p.rho / p.sigma, unshared = 1 - p.rho * p.rho;
        decay_ = std::exp(-p.kappa * dt_);
        risen_ = p.theta * (1 - decay_);
        k2_ = 0.5 * dt_ * (p.kappa * r - 0.5) + r;
        k3_ = 0.5 * dt_ * unshared;
        const double spread = p.sigma * p.sigma * (1 - std::exp(-p.kappa * years)) / (2 * p.kappa);
        make_edges(std::sqrt(2 * std::max(p.v0, p.theta) + 35 * spread));
        for (const double edge : edges_) {
            if (edge == edges_.back()) break;
            const double next = *std::upper_bound(edges_.begin(), edges_.end(), edge);
            for (int i = 0; i < per_panel; ++i) {
                const double y =
                    0.5 * (edge + next) + 0.5 * (next - edge) * std::cos(pi * (i + 0.5) / per_panel);
                nodes_.push_back(y * y);
            }
        }
        for (std::size_t row = 0; row <= nodes_.size(); ++row)
            add_row(row < nodes_.size() ? nodes_[row] : p.v0);
    }

    // The scheme's price of a call less the true one, on a forward of 1, for each strike: an integral of the
    // difference of both transforms over arguments 1 / 2 + i u.
    std::vector<double> error_of_calls(const fourier::characteristic& truth,
                                       std::span<const double> strikes) const {
        double last = 1;
        while (std::exp(truth.log_moment({0.5, last}).real()) > 1e-8 * (last * last + 0.25)) last *= 1.15;
        constexpr int panels = 5;
        std::vector<double> u, weight;
        for (int k = 0; k < panels; ++k) {
            const double low = last * std::pow(double(k) / panels, 1.5),
                         high = last * std::pow(double(k + 1) / panels, 1.5);
            for (int i = 0; i < points; ++i) {
                u.push_back(0.5 * (low + high) + 0.5 * (high - low) * rule().place[i]);
                weight.push_back(0.5 * (high - low) * rule().weight[i]);
            }
        }
        const std::vector<complex> of_scheme = transform(u);
        std::vector<double> out;
        for (const double strike : strikes) {
            double sum = 0;
            for (std::size_t i = 0; i < u.size(); ++i) {
                const complex off = of_scheme[i] - std::exp(truth.log_moment({0.5, u[i]}));
                sum += weight[i] / (u[i] * u[i] + 0.25) *
                       (std::polar(1.0, -u[i] * std::log(strike)) * off).real();
            }
            out.push_back(-std::sqrt(strike) / pi * sum);
        }
        return out;
    }

  private:
    static constexpr double pi = std::numbers::pi;
    static constexpr int per_panel = 12, points = 10;

    // A Gauss-Legendre rule.
    struct gauss {
        double place[points], weight[points];
    };
    static const gauss& rule() {
        static const gauss made = [] {
            gauss g{};
            for (int i = 0; i < points; ++i) {
                double x = std::cos(pi * (i + 0.75) / (points + 0.5)), slope = 1;
                for (int tries = 0; tries < 20; ++tries) {
                    double a = 1, b = 0;
                    for (int n = 1; n <= points; ++n) {
                        const double next = ((2 * n - 1) * x * a - (n - 1) * b) / n;
                        b = a, a = next;
                    }
                    slope = points * (x * a - b) / (x * x - 1);
                    x -= a / slope;
                }
                g.place[i] = x;
                g.weight[i] = 2 / ((1 - x * x) * slope * slope);
            }
            return g;
        }();
        return made;
    }

    struct moments {
        double mean, variance;
    };
    moments after(double v) const {
        const double fallen = p_.sigma * p_.sigma * (1 - decay_) / p_.kappa;
        const double mean = v * decay_ + risen_;
        return {mean, v * fallen * decay_ + 0.5 * p_.theta * fallen * (1 - decay_)};
    }
    bool has_tail(double v) const {
        const auto [mean, variance] = after(v);
        return variance > 1.5 * mean * mean;
    }

    // Panels for quadrature over the root of the variance. The law of a step changes its form at a certain
    // variance, where it jumps; an edge of a panel lies there.
    void make_edges(double last) {
        edges_ = {0};
        if (has_tail(0)) {
            double low = 0, high = 100;
            for (int i = 0; i < 200; ++i) (has_tail(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
            edges_.push_back(std::sqrt(low));
        }
        const double first = edges_.back();
        constexpr int panels = 18;
        for (int i = 1; i <= panels; ++i) {
            const double share = double(i) / panels;
            edges_.push_back(first + (last - first) * (0.35 * share + 0.65 * share * share * share));
        }
    }

    void add(std::span<double> to, double v, double share) const {
        const double y = std::min(std::sqrt(std::max(v, 0.0)), edges_.back());
        const auto above = std::upper_bound(edges_.begin() + 1, edges_.end() - 1, y);
        const double low = *(above - 1), high = *above, at = (2 * y - low - high) / (high - low);
        const auto first = static_cast<std::size_t>(above - edges_.begin() - 1) * per_panel;
        double by[per_panel], sum = 0;
        for (int i = 0; i < per_panel; ++i) {
            const double angle = pi * (i + 0.5) / per_panel, away = at - std::cos(angle);
            if (std::abs(away) < 1e-14) {
                to[first + static_cast<std::size_t>(i)] += share;
                return;
            }
            by[i] = (i % 2 == 0 ? 1 : -1) * std::sin(angle) / away;
            sum += by[i];
        }
        for (int i = 0; i < per_panel; ++i) to[first + static_cast<std::size_t>(i)] += share * by[i] / sum;
    }

    // Adds a row for a step from variance v: weights of the nodes for means over the variance v' after the
    // step. Also adds the logarithm of the mean of exp(A v'), A = K2 + K3 / 2, in closed form.
    void add_row(double v) {
        std::vector<double> row(nodes_.size());
        const auto [mean, variance] = after(v);
        const double a = k2_ + 0.5 * k3_;
        const auto integrate = [&](std::vector<double> cuts, auto&& at) {
            std::sort(cuts.begin(), cuts.end());
            for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
                const double half = 0.5 * (cuts[k + 1] - cuts[k]);
                for (int i = 0; i < points; ++i)
                    at(0.5 * (cuts[k] + cuts[k + 1]) + half * rule().place[i], half * rule().weight[i]);
            }
        };
        if (has_tail(v)) {
            const double p = 2 / (1 + variance / (mean * mean)), tail = mean / p;
            constexpr double far = 40;
            std::vector<double> cuts{0, far};
            for (const double y : edges_) cuts.push_back(std::min(y * y / tail, far));
            for (double x = 0.5; x < far; x *= 1.5) cuts.push_back(x);
            add(row, 0, 1 - p);
            integrate(std::move(cuts),
                      [&](double x, double weight) { add(row, tail * x, p * weight * std::exp(-x)); });
            log_mean_.push_back(std::log(1 + a * mean / (1 - a * tail)));
        } else {
            const double c = std::sqrt(mean * mean - 0.5 * variance), root = std::sqrt(mean - c);
            constexpr double far = 8.5;
            std::vector<double> cuts{-far, far};
            for (const double y : edges_) {
                for (const double side : {-1.0, 1.0})
                    cuts.push_back(std::clamp((side * y - std::sqrt(c)) / root, -far, far));
            }
            for (double z = -8; z < far; ++z) cuts.push_back(z);
            integrate(std::move(cuts), [&](double z, double weight) {
                const double s = std::sqrt(c) + root * z;
                add(row, s * s, weight * std::exp(-0.5 * z * z) / std::sqrt(2 * pi));
            });
            const double room = 1 - 2 * a * (mean - c);
            log_mean_.push_back(a * c / room - 0.5 * std::log(room));
        }
        rows_.push_back(std::move(row));
    }

    // The mean of exp(z x) for x the logarithm of the asset after all steps, for each z = 1 / 2 + i u.
    std::vector<complex> transform(const std::vector<double>& u) const {
        const std::size_t n = nodes_.size(), m = u.size();
        std::vector<double> real(n * m), imaginary(n * m), sum_real(m), sum_imaginary(m);
        std::vector<complex> ahead((n + 1) * m, 1.0), by_end(n * m), by_start((n + 1) * m);
        for (std::size_t row = 0; row <= n; ++row) {
            const double v = row < n ? nodes_[row] : p_.v0;
            for (std::size_t k = 0; k < m; ++k) {
                const complex z{0.5, u[k]}, of_own = 0.5 * k3_ * (z * z - z);
                if (row < n) by_end[row * m + k] = std::exp((z * (k2_ + 0.5 * k3_) + of_own) * v);
                by_start[row * m + k] = std::exp(of_own * v - z * log_mean_[row]);
            }
        }
        for (int step = 0; step < steps_; ++step) {
            for (std::size_t i = 0; i < n * m; ++i) {
                const complex g = by_end[i] * ahead[i];
                real[i] = g.real(), imaginary[i] = g.imag();
            }
            // The first step in time, treated last, needs only the row that starts at v0.
            for (std::size_t row = step + 1 < steps_ ? 0 : n; row < (step + 1 < steps_ ? n : n + 1); ++row) {
                std::fill(sum_real.begin(), sum_real.end(), 0.0);
                std::fill(sum_imaginary.begin(), sum_imaginary.end(), 0.0);
                for (std::size_t j = 0; j < n; ++j) {
                    const double share = rows_[row][j];
                    if (std::abs(share) < 1e-15) continue;
                    for (std::size_t k = 0; k < m; ++k) sum_real[k] += share * real[j * m + k];
                    for (std::size_t k = 0; k < m; ++k) sum_imaginary[k] += share * imaginary[j * m + k];
                }
                for (std::size_t k = 0; k < m; ++k)
                    ahead[row * m + k] = by_start[row * m + k] * complex(sum_real[k], sum_imaginary[k]);
            }
        }
        return {ahead.end() - static_cast<std::ptrdiff_t>(m), ahead.end()};
    }

    fourier::heston p_;
    double dt_;
    int steps_;
    double decay_ = 0, risen_ = 0, k2_ = 0, k3_ = 0;
    std::vector<double> edges_, nodes_, log_mean_;
    std::vector<std::vector<double>> rows_;  // from each node, and last from v0
};

}  // namespace tilewalk
