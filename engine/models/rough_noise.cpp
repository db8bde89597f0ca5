// SPDX-License-Identifier: Apache-2.0
// The hybrid scheme (Bennedsen, Lunde and Pakkanen 2017) with one exact cell and the past as a sum of
// exponentials (Abi Jaber and El Euch 2019, Romer 2022). The newest step's part of Y is exact, jointly with
// dZ; its later effect through a factor is the conditional mean given the step's two normals.
#include "engine/models/rough_noise.h"

#include <algorithm>
#include <utility>

#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

namespace {

constexpr double enough = 5e-4;
constexpr std::size_t most_noise_factors = 16;

// With H closer to 1/2 the kernel is 1 within 1e-5 in all ranges: its variation would be lost in rounding.
constexpr double least_roughness = 1e-6;
bool is_flat(double hurst) {
    return 0.5 - hurst < least_roughness;
}

// Least squares by Householder reflections; columns[j] has one number for each equation.
std::vector<double> solve(std::vector<std::vector<double>> columns, std::vector<double> right) {
    const std::size_t rows = right.size(), n = columns.size();
    const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b, std::size_t from) {
        double sum = 0;
        for (std::size_t i = from; i < rows; ++i) sum += a[i] * b[i];
        return sum;
    };
    std::vector<double> diagonal(n);
    for (std::size_t k = 0; k < n; ++k) {
        std::vector<double>& v = columns[k];
        const double length = kernels::sqrt(dot(v, v, k));
        diagonal[k] = v[k] > 0 ? -length : length;
        v[k] -= diagonal[k];
        const double squared = dot(v, v, k);
        const auto reflect = [&](std::vector<double>& of) {
            const double by = 2 * dot(v, of, k) / squared;
            for (std::size_t i = k; i < rows; ++i) of[i] -= by * v[i];
        };
        for (std::size_t j = k + 1; j < n; ++j) reflect(columns[j]);
        reflect(right);
    }
    std::vector<double> x(n);
    for (std::size_t k = n; k-- > 0;) {
        double rest = right[k];
        for (std::size_t j = k + 1; j < n; ++j) rest -= columns[j][k] * x[j];
        x[k] = rest / diagonal[k];
    }
    return x;
}

// Fits `count` exponentials: rates at equal ratios, weights by least squares of the relative error at
// geometrically spaced times. The slowest and fastest rates were optimised such that 16 rates suffice for
// every range up to 1e6 and every H.
exponentials fit(double hurst, double shortest, double longest, std::size_t count) {
    constexpr double fastest = 3, slowest = 0.15, points_per_factor_e = 16;
    const double span = kernels::log(longest / shortest);
    const auto points = static_cast<std::size_t>(points_per_factor_e * span) + 2;
    exponentials out;
    const double wide = kernels::log(fastest / slowest) + span;
    for (std::size_t j = 0; j < count; ++j) {
        const double down = count == 1 ? 0.5 : static_cast<double>(j) / static_cast<double>(count - 1);
        out.rates.push_back(fastest / shortest * kernels::exp(-down * wide));
    }
    std::vector<std::vector<double>> columns(count, std::vector<double>(points));
    for (std::size_t i = 0; i < points; ++i) {
        const double t =
            shortest * kernels::exp(span * (static_cast<double>(i) / static_cast<double>(points - 1)));
        const double truth = kernels::sqrt(2 * hurst) * kernels::pow(t, hurst - 0.5);
        for (std::size_t j = 0; j < count; ++j) columns[j][i] = kernels::exp(-out.rates[j] * t) / truth;
    }
    out.weights = solve(columns, std::vector<double>(points, 1.0));
    for (std::size_t i = 0; i < points; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < count; ++j) sum += out.weights[j] * columns[j][i];
        out.error = std::max(out.error, std::max(sum - 1, 1 - sum));
    }
    return out;
}

// h^-a times the integral of u^(a - 1) exp(-x u) from 0 to h: an incomplete gamma function, by its series of
// positive terms. For x h beyond `limit` the integral is complete to the last bit.
double decayed_power(double a, double x_h) {
    constexpr double limit = 50;
    const double z = std::min(x_h, limit);
    double term = 1 / a, sum = term;
    for (double k = 1; term > 1e-17 * sum; ++k) {
        term *= z / (a + k);
        sum += term;
    }
    const double made = sum * kernels::exp(-z);
    return x_h > limit ? made * kernels::pow(limit / x_h, a) : made;
}

}  // namespace

exponentials fit_power(double hurst, double shortest, double longest) {
    if (is_flat(hurst)) return {{0.0}, {kernels::sqrt(2 * hurst)}, 0};
    exponentials best;
    // Counts are even, so that trades with similar paths more often share a program.
    for (std::size_t count = 2; count <= most_noise_factors; count += 2) {
        exponentials made = fit(hurst, shortest, longest, count);
        if (count == 2 || made.error < best.error) best = std::move(made);
        if (best.error <= enough) break;
    }
    return best;
}

rough_noise::rough_noise(double hurst, std::span<const double> grid) : starts_(grid.begin(), grid.end() - 1) {
    double shortest = grid.back();
    for (std::size_t i = 0; i < starts_.size(); ++i) shortest = std::min(shortest, grid[i + 1] - grid[i]);
    kernel_ = fit_power(hurst, shortest, grid.back());
    const std::size_t n = factors();
    const double a = hurst + 0.5, root = kernels::sqrt(2 * hurst);

    std::vector<double> covariance(n * n, 0.0);
    for (std::size_t i = 0; i < starts_.size(); ++i) {
        const double h = grid[i + 1] - grid[i];
        step s;
        s.of_move = root * kernels::pow(h, hurst - 0.5) / a;
        s.of_fresh = is_flat(hurst) ? 0 : kernels::pow(h, hurst) * (0.5 - hurst) / a;
        for (std::size_t j = 0; j < n; ++j) {
            const double x = kernel_.rates[j], weight = kernel_.weights[j];
            factor f;
            f.decay = kernels::exp(-x * h);
            f.of_move = weight * decayed_power(1, x * h);
            if (s.of_fresh > 0) {
                // Covariance with the newest step's part of Y; the line below subtracts what dZ contributes.
                const double shared = weight * root * kernels::pow(h, a) * decayed_power(a, x * h);
                f.of_fresh = (shared - s.of_move * f.of_move * h) / s.of_fresh;
            }
            s.factors.push_back(f);
        }
        s.variance = s.of_move * s.of_move * h + s.of_fresh * s.of_fresh;
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = 0; k < n; ++k) {
                const factor &f = s.factors[j], &g = s.factors[k];
                const double kept = f.decay * g.decay * covariance[j * n + k];
                s.variance += kept;
                covariance[j * n + k] = kept + f.of_move * g.of_move * h + f.of_fresh * g.of_fresh;
            }
        }
        steps_.push_back(std::move(s));
    }
}

const rough_noise::step& rough_noise::from(double time) const {
    const auto at = std::ranges::lower_bound(starts_, time);
    if (at == starts_.end() || *at != time)
        throw error(error_kind::internal, "no step of the grid starts there");
    return steps_[static_cast<std::size_t>(at - starts_.begin())];
}

}  // namespace tilewalk::models
