// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Rough Bergomi: the Gaussian process against its exact covariance, prices against a Cholesky simulation of
// the exact Gaussian vector, and limits with known models: no volatility of variance, H = 1/2, small eta.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/models/rough_noise.h"
#include "engine/numerics/gauss_kronrod.h"
#include "engine/verify/closed_forms.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::rough_volatility_test {
namespace {

using models::rough_noise;
using matrix = std::vector<std::vector<double>>;
using tests::dollar_market;
using tests::product_in_words;

const std::string own_products =
    "products:\n" +
    product_in_words("late_call", "A call whose path stops on all dates.",
                     "underlying: asset, strike: amount, dates: schedule",
                     "stops = 0\n"
                     "on dates:\n"
                     "    stops = stops + 1\n"
                     "on last(dates):\n"
                     "    pay max(spot(underlying) - strike, 0) * stops / size(dates)\n") +
    product_in_words("log_contract", "What a variance swap that is watched all the time is worth.",
                     "underlying: asset, maturity: date",
                     "on maturity:\n"
                     "    pay -2 * log(spot(underlying) / 100)\n") +
    product_in_words("weighted", "A log contract paid in another asset.",
                     "underlying: asset, by: asset, maturity: date",
                     "on maturity:\n"
                     "    pay -2 * log(spot(underlying) / 100) * spot(by) / 100\n") +
    product_in_words(
        "lean", "A call less as many puts as have its price where volatility is the same at all strikes.",
        "underlying: asset, factor: number, maturity: date",
        "on maturity:\n"
        "    pay max(spot(underlying) - 100 * factor, 0) - factor * max(100 / factor - spot(underlying), 0) "
        "- (spot(underlying) - 100)\n");

struct rough {
    double eta = 1.9, rho = -0.9, hurst = 0.07;
    std::string xi = "0.04";

    std::string words(const std::string& more = "") const {
        return fmt::format("rough_bergomi: {{xi: {}, eta: {}, rho: {}, hurst: {}{}}}", xi, eta, rho, hurst,
                           more);
    }
};

std::string market_of(const std::string& model, double rate = 0, double spot = 100) {
    return dollar_market(rate, {{"A", fmt::format("spot: {}, model: {{{}}}", spot, model)}});
}

std::vector<price_row> price(const std::string& market_text, const std::vector<std::string>& trades,
                             std::uint64_t paths, std::uint64_t seed,
                             const std::string& precision = "double") {
    auto rows = priced(own_products, market_text, trades, paths, seed, precision);
    for (const price_row& row : rows) EXPECT_EQ(row.status, trade_status::priced) << row.message;
    return rows;
}

// The covariance of Y at s <= t: the integral of 2H (s - u)^(H - 1/2) (t - u)^(H - 1/2) over u from 0 to s.
// The variable w with s - u = w^m keeps the integrand smooth.
double exact_covariance(double hurst, double s, double t) {
    if (s == t) return std::pow(t, 2 * hurst);
    const double m = 4 / (hurst + 0.5);
    long evaluations = 1'000'000;
    const auto made = analytics::integrate(
        [&](double w) { return m * std::pow(w, 3) * std::pow(t - s + std::pow(w, m), hurst - 0.5); }, 0.0,
        std::pow(s, 1 / m), 1e-12, evaluations);
    EXPECT_LE(made.error, 1e-9);
    return 2 * hurst * made.value;
}

// The covariance of Y(t) with the noise dZ of a step that ends by t.
double exact_shared(double hurst, double t, double from, double to) {
    const double p = hurst + 0.5;
    return std::sqrt(2 * hurst) / p * (std::pow(t - from, p) - std::pow(t - to, p));
}

// Y after each step, one row a step: coefficients of all noises dZ first, then of the fresh normals.
matrix numbers_of(const rough_noise& noise) {
    const std::size_t n = noise.steps().size();
    matrix out, factors(noise.factors(), std::vector<double>(2 * n));
    for (std::size_t i = 0; i < n; ++i) {
        const rough_noise::step& s = noise.steps()[i];
        std::vector<double> y(2 * n);
        for (std::size_t j = 0; j < factors.size(); ++j) {
            for (std::size_t k = 0; k < 2 * n; ++k) y[k] += factors[j][k] *= s.factors[j].decay;
            factors[j][i] += s.factors[j].of_move;
            factors[j][n + i] += s.factors[j].of_fresh;
        }
        y[i] += s.of_move;
        y[n + i] += s.of_fresh;
        out.push_back(y);
    }
    return out;
}

std::vector<double> even_grid(double last, int steps) {
    std::vector<double> out;
    for (int i = 0; i <= steps; ++i) out.push_back(last * i / steps);
    return out;
}
std::vector<double> uneven_grid(std::uint64_t seed, int steps) {
    std::mt19937_64 bits(seed);
    std::vector<double> out{0};
    for (int i = 0; i < steps; ++i)
        out.push_back(out.back() + std::exp(-7 + 5 * (static_cast<double>(bits() >> 11) * 0x1p-53)));
    return out;
}

TEST(rough_volatility, the_sum_of_exponentials_is_the_power) {
    for (const double hurst : {1e-3, 0.02, 0.07, 0.2, 0.35, 0.45, 0.499, 0.499998, 0.5}) {
        for (const double longest : {1e-4, 0.003, 0.1, 1.0, 30.0, 100.0}) {
            const double shortest = 1e-4;
            const auto sum = models::fit_power(hurst, shortest, longest);
            EXPECT_LE(sum.rates.size(), 16u);
            EXPECT_LE(sum.error, 5e-4) << hurst << " " << longest;
            double worst = 0;
            for (double t = shortest; t <= longest; t *= 1.01) {
                double made = 0;
                for (std::size_t j = 0; j < sum.rates.size(); ++j)
                    made += sum.weights[j] * std::exp(-sum.rates[j] * t);
                worst =
                    std::max(worst, std::abs(made / (std::sqrt(2 * hurst) * std::pow(t, hurst - 0.5)) - 1));
            }
            EXPECT_LE(worst, 1.05 * sum.error + 1e-12) << hurst << " " << longest;
        }
    }
    // fit_power states the error if 16 exponentials don't suffice.
    EXPECT_GT(models::fit_power(0.07, 1e-9, 10).error, 1e-3);
}

struct distance {
    double of_covariance = 0, of_deviations = 0, of_shared = 0;  // largest relative errors
    std::size_t factors = 0;
};

// The largest errors over all pairs of times, and over pairs of a time and a step.
distance distance_on(const std::vector<double>& grid, double hurst) {
    const rough_noise noise(hurst, grid);
    const matrix y = numbers_of(noise);
    const std::size_t n = grid.size() - 1, stride = n / 60 + 1;  // a sample of a long grid
    distance out;
    out.factors = noise.factors();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            const double shared = exact_shared(hurst, grid[i + 1], grid[j], grid[j + 1]);
            out.of_shared = std::max(out.of_shared, std::abs(y[i][j] * (grid[j + 1] - grid[j]) / shared - 1));
            if (i > j + 1 && (i % stride != 0 || j % stride != 0)) continue;
            double made = 0;
            for (std::size_t k = 0; k < n; ++k)
                made += y[i][k] * y[j][k] * (grid[k + 1] - grid[k]) + y[i][n + k] * y[j][n + k];
            const double exact = exact_covariance(hurst, grid[j + 1], grid[i + 1]);
            out.of_covariance = std::max(out.of_covariance, std::abs(made / exact - 1));
            out.of_deviations = std::max(out.of_deviations,
                                         std::abs(made - exact) / std::pow(grid[i + 1] * grid[j + 1], hurst));
            if (i == j) {
                EXPECT_NEAR(noise.steps()[i].variance, made, 1e-12 * made) << hurst;
            }
        }
    }
    return out;
}

// A step keeps two numbers and the mean of Y given these; a much shorter step after it sees what the mean
// leaves out. Neighbours of the uneven grids differ by factors of up to 150.
TEST(rough_volatility, the_process_has_the_exact_covariance) {
    // 250 steps a year between dates of every kind.
    std::vector<double> dates{0};
    for (const double date : {0.0107, 0.0833, 0.25, 0.2507, 0.4}) {
        const double from = dates.back(), steps = std::ceil((date - from) * 250);
        for (double k = 1; k <= steps; ++k) dates.push_back(from + (date - from) * k / steps);
    }
    for (const double hurst : {0.02, 0.07, 0.2, 0.35, 0.45, 0.4999, 0.5}) {
        const auto held = [&](const char* what, const std::vector<std::vector<double>>& grids,
                              double covariance, double deviations) {
            distance worst;
            for (const auto& grid : grids) {
                const distance d = distance_on(grid, hurst);
                worst = {std::max(worst.of_covariance, d.of_covariance),
                         std::max(worst.of_deviations, d.of_deviations),
                         std::max(worst.of_shared, d.of_shared), std::max(worst.factors, d.factors)};
            }
            fmt::print(
                "H {:6} {:8}: covariances within {:.1e}, in deviations {:.1e}, with dZ {:.1e}, {} "
                "factors at most\n",
                hurst, what, worst.of_covariance, worst.of_deviations, worst.of_shared, worst.factors);
            const double rounding = hurst == 0.5 ? 1e-12 : 1;
            EXPECT_LE(worst.of_covariance, std::min(covariance, rounding)) << hurst << what;
            EXPECT_LE(worst.of_deviations, std::min(deviations, rounding)) << hurst << what;
            EXPECT_LE(worst.of_shared, std::min(5.1e-4, rounding)) << hurst << what;
        };
        held("even", {even_grid(1, 40), even_grid(0.01, 10), even_grid(50, 500), even_grid(2, 1)}, 1.5e-3,
             1e-3);
        held("dates", {dates}, 1e-2, 1e-2);
        held("uneven", {uneven_grid(1, 60), uneven_grid(2, 60)}, 0.1, 0.1);
    }
}

struct estimate {
    double mean = 0, error = 0;
};

// Draws dZ of every step and Y at its end exactly, by a root of their covariance.
class exact_vector {
  public:
    exact_vector(double hurst, const std::vector<double>& grid) : n_(grid.size() - 1) {
        matrix c(2 * n_, std::vector<double>(2 * n_, 0.0));
        for (std::size_t i = 0; i < n_; ++i) {
            c[i][i] = grid[i + 1] - grid[i];
            for (std::size_t j = 0; j <= i; ++j) {
                c[n_ + i][j] = exact_shared(hurst, grid[i + 1], grid[j], grid[j + 1]);
                c[n_ + i][n_ + j] = exact_covariance(hurst, grid[j + 1], grid[i + 1]);
            }
        }
        root_ = c;
        for (std::size_t i = 0; i < 2 * n_; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = c[i][j];
                for (std::size_t k = 0; k < j; ++k) sum -= root_[i][k] * root_[j][k];
                root_[i][j] = i == j ? std::sqrt(sum) : sum / root_[j][j];
            }
        }
    }
    void draw(std::mt19937_64& bits, std::vector<double>& dz, std::vector<double>& y) {
        normals_.resize(2 * n_);
        for (double& z : normals_) z = normal_(bits);
        dz.assign(n_, 0.0);
        y.assign(n_, 0.0);
        for (std::size_t i = 0; i < 2 * n_; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k <= i; ++k) sum += root_[i][k] * normals_[k];
            (i < n_ ? dz[i] : y[i - n_]) = sum;
        }
    }

  private:
    std::size_t n_;
    matrix root_;
    std::vector<double> normals_;
    std::normal_distribution<double> normal_;
};

// Calls under Euler's scheme on paths of the exact vector. The scheme steps on every `stride`-th time of the
// grid. The part of the asset's noise that is independent of dZ is integrated out.
matrix calls_on(const rough& p, double xi, const std::vector<double>& grid,
                const std::vector<double>& strikes, const std::vector<std::size_t>& strides, int paths,
                std::uint64_t seed, std::vector<std::vector<estimate>>& out) {
    exact_vector law(p.hurst, grid);
    std::mt19937_64 bits(seed);
    std::vector<double> dz, y;
    const std::size_t n = grid.size() - 1, cases = strides.size() * strikes.size();
    matrix seen(cases);
    for (int path = 0; path < paths; ++path) {
        law.draw(bits, dz, y);
        for (std::size_t s = 0; s < strides.size(); ++s) {
            double shared = 0, alone = 0, v = xi;
            for (std::size_t i = 0; i < n; i += strides[s]) {
                const std::size_t to = i + strides[s];
                const double h = grid[to] - grid[i];
                double move = 0;
                for (std::size_t k = i; k < to; ++k) move += dz[k];
                shared += -0.5 * p.rho * p.rho * v * h + p.rho * std::sqrt(v) * move;
                alone += (1 - p.rho * p.rho) * v * h;
                v = xi * std::exp(p.eta * y[to - 1] - 0.5 * p.eta * p.eta * std::pow(grid[to], 2 * p.hurst));
            }
            for (std::size_t k = 0; k < strikes.size(); ++k)
                seen[s * strikes.size() + k].push_back(
                    truth::black(truth::side::call, 100 * std::exp(shared), strikes[k], alone, 1));
        }
    }
    const auto estimate_of = [&](const std::vector<double>& of) {
        double sum = 0, squares = 0;
        for (const double x : of) sum += x, squares += x * x;
        const double mean = sum / paths;
        return estimate{mean, std::sqrt((squares / paths - mean * mean) / paths)};
    };
    out.assign(strides.size(), {});
    for (std::size_t i = 0; i < cases; ++i) out[i / strikes.size()].push_back(estimate_of(seen[i]));
    return seen;
}

std::string dates_of(const std::vector<double>& grid) {
    std::string out;
    for (std::size_t i = 1; i < grid.size(); ++i)
        out += fmt::format("{}{:.17g}", i > 1 ? ", " : "[", grid[i]);
    return out + "]";
}

// 3 laws, 2 grids and 3 strikes within 4.5 standard errors of both prices: 18 comparisons, one false alarm in
// 8,000. The covariances are at most 1e-3 off, which moves a price by a tenth of an error.
TEST(rough_volatility, calls_are_those_of_the_exact_vector) {
    const std::vector<double> strikes{85, 100, 112}, uneven{0, 0.02, 0.03, 0.035, 0.1, 0.3, 0.31, 0.55, 1.2};
    std::uint64_t seed = 500;
    for (const rough& p : {rough{}, rough{1.2, -0.5, 0.25}, rough{0.8, -0.7, 0.45}}) {
        for (const auto& grid : {even_grid(1, 16), uneven}) {
            std::vector<std::vector<estimate>> exact;
            calls_on(p, 0.04, grid, strikes, {1}, 1 << 16, ++seed, exact);
            std::vector<std::string> trades;
            for (const double k : strikes)
                trades.push_back(fmt::format("product: late_call, underlying: A, strike: {}, dates: {}", k,
                                             dates_of(grid)));
            const auto rows = price(market_of(p.words(", steps_per_year: 0.01")), trades, 1 << 18, ++seed);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double error = std::hypot(rows[i].standard_error, exact[0][i].error);
                fmt::print("H {} {} steps, strike {}: {:.4f} +- {:.4f}, exact vector {:.4f} +- {:.4f}\n",
                           p.hurst, grid.size() - 1, strikes[i], rows[i].price, rows[i].standard_error,
                           exact[0][i].mean, exact[0][i].error);
                EXPECT_LE(std::abs(rows[i].price - exact[0][i].mean), limit * error) << p.words();
                EXPECT_LE(error, 0.02 * exact[0][1].mean);
            }
        }
    }
}

// Prices on the same paths of the exact vector at 4, 8, 16 and 32 steps a year: each doubling changes the
// price by less. The order is the smaller of 1 and 3 H + 1/2 (Friz, Salkeld and Wagenhofer 2022), less a
// tenth because these steps are not yet short. Two comparisons: one false alarm in 75,000.
TEST(rough_volatility, the_weak_order_of_the_scheme) {
    for (const rough& p : {rough{1.2}, rough{1.2, -0.7, 0.3}}) {
        std::vector<std::vector<estimate>> levels;
        const matrix seen = calls_on(p, 0.04, even_grid(1, 32), {115}, {8, 4, 2, 1}, 1 << 18, 77, levels);
        std::vector<double> change, error;
        for (std::size_t s = 0; s + 1 < seen.size(); ++s) {
            double sum = 0, squares = 0;
            for (std::size_t i = 0; i < seen[s].size(); ++i) {
                const double d = seen[s][i] - seen[s + 1][i];
                sum += d, squares += d * d;
            }
            const auto count = static_cast<double>(seen[s].size());
            change.push_back(sum / count);
            error.push_back(std::sqrt((squares / count - change[s] * change[s]) / count));
        }
        const double order = std::log2(change.front() / change.back()) / 2;
        const double within =
            std::hypot(error.front() / change.front(), error.back() / change.back()) / 2 / std::log(2.0);
        fmt::print(
            "H {}: {:.4f} at 32 steps; twice as many change {:.4f}, {:.4f}, {:.4f}: order {:.2f} +- "
            "{:.2f}\n",
            p.hurst, levels.back()[0].mean, change[0], change[1], change[2], order, within);
        EXPECT_LE(within, 0.1);
        EXPECT_LE(std::abs(order - std::min(1.0, 3 * p.hurst + 0.5)), limit * within + 0.1) << p.hurst;
    }
}

// With eta = 0 the asset is lognormal. 6 calls: one false alarm in 25,000.
TEST(rough_volatility, without_volatility_of_variance_it_is_lognormal) {
    const rough p{0, -0.9, 0.07, "{0.3: 0.09, 0.8: 0.01, 2: 0.05}"};
    const double total = 0.3 * 0.09 + 0.5 * 0.01 + 0.7 * 0.05;
    for (const char* precision : {"double", "single"}) {
        std::vector<std::string> trades;
        const std::vector<double> strikes{80, 100, 120};
        for (const double k : strikes)
            trades.push_back(
                fmt::format("product: european, underlying: A, option: call, strike: {}, maturity: 1.5", k));
        const auto rows =
            price(market_of(p.words(", steps_per_year: 4"), 0.03), trades, 1 << 18, 3, precision);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double truth =
                truth::black(truth::side::call, 100 * std::exp(0.045), strikes[i], total, std::exp(-0.045));
            EXPECT_LE(std::abs(rows[i].price - truth), limit * rows[i].standard_error) << precision;
        }
    }
}

// The mean of the variance is xi: the mean of -2 log S is the integral of xi, and a squared return over a
// step h has the mean xi h + xi^2 h^2 exp(eta^2 var Y) / 4. 9 comparisons: one false alarm in 16,000.
TEST(rough_volatility, a_variance_swap_is_the_integral_of_xi) {
    const std::string xi = "{0.25: 0.09, 0.5: 0.02, 1: 0.04}";
    for (const double hurst : {0.02, 0.1, 0.5}) {
        const rough p{0.8, -0.9, hurst, xi};
        const auto rows = price(market_of(p.words(", steps_per_year: 8")),
                                {"product: log_contract, underlying: A, maturity: 0.4",
                                 "product: log_contract, underlying: A, maturity: 2",
                                 "product: variance_swap, underlying: A, strike: 0, annualisation: 8, "
                                 "fixings: {start: 0, end: 1, count: 8, include_start: true}"},
                                1 << 20, 61);
        double squares = 0;
        for (int i = 0; i < 8; ++i) {
            const double level = i < 2 ? 0.09 : i < 4 ? 0.02 : 0.04, mean = level / 8;
            squares += mean + 0.25 * mean * mean * std::exp(0.64 * std::pow(i / 8.0, 2 * hurst));
        }
        const std::vector<double> truths{0.25 * 0.09 + 0.15 * 0.02, 0.25 * (0.09 + 0.02) + 1.5 * 0.04,
                                         squares};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_LE(std::abs(rows[i].price - truths[i]), limit * rows[i].standard_error)
                << hurst << " " << i << ": " << rows[i].price << " +- " << rows[i].standard_error
                << ", truth " << truths[i];
            EXPECT_LE(rows[i].standard_error, 0.016 * truths[i]);
        }
    }
}

// With H = 1/2, eta = 2 nu and xi = sigma^2 exp(nu^2 t) the model is SABR with beta = 1, whose calls given
// the volatility's path are Black's. 3 calls within 4.5 errors of both: one false alarm in 50,000. Euler's
// 200 steps a year have an allowance of 1e-3 of the price at the money.
TEST(rough_volatility, of_one_half_is_lognormal_sabr) {
    constexpr double sigma = 0.25, nu = 0.4, rho = -0.6;
    constexpr int steps = 200;
    const std::vector<double> strikes{80, 100, 125};
    std::string xi;
    for (int i = 0; i < steps; ++i)
        xi += fmt::format("{}{:.17g}: {:.17g}", i > 0 ? ", " : "{", (i + 1.0) / steps,
                          sigma * sigma * std::exp(nu * nu * i / steps));
    std::vector<std::string> trades;
    for (const double k : strikes)
        trades.push_back(
            fmt::format("product: european, underlying: A, option: call, strike: {}, maturity: 1", k));
    const auto rows = price(market_of(rough{2 * nu, rho, 0.5, xi + "}"}.words(", steps_per_year: 200")),
                            trades, 1 << 18, 31);

    constexpr int paths = 1 << 16;
    std::mt19937_64 bits(11);
    std::normal_distribution<double> normal;
    std::vector<double> sum(3), squares(3);
    for (int path = 0; path < paths; ++path) {
        double z = 0, variance = 0.5 * sigma * sigma, last = sigma;
        for (int i = 1; i <= steps; ++i) {
            z += normal(bits) / std::sqrt(steps);
            last = sigma * std::exp(nu * z - 0.5 * nu * nu * i / steps);
            variance += (i < steps ? 1 : 0.5) * last * last;
        }
        variance /= steps;
        const double forward = 100 * std::exp(rho * (last - sigma) / nu - 0.5 * rho * rho * variance);
        for (std::size_t k = 0; k < 3; ++k) {
            const double call =
                truth::black(truth::side::call, forward, strikes[k], (1 - rho * rho) * variance, 1);
            sum[k] += call, squares[k] += call * call;
        }
    }
    for (std::size_t k = 0; k < 3; ++k) {
        const double mean = sum[k] / paths, error = std::sqrt((squares[k] / paths - mean * mean) / paths);
        fmt::print("SABR {}: {:.4f} +- {:.4f}, simulated {:.4f} +- {:.4f}\n", strikes[k], rows[k].price,
                   rows[k].standard_error, mean, error);
        EXPECT_LE(std::abs(rows[k].price - mean),
                  limit * std::hypot(error, rows[k].standard_error) + 1e-3 * sum[1] / paths);
    }
}

// To first order in eta, the skew of implied volatility at the money is rho eta sqrt(2H) T^(H - 1/2) / (2 (H
// + 1/2) (H + 3/2)) (Bergomi and Guyon 2012). It is measured as the price of a risk reversal over twice the
// distance of its strikes and Black's vega. An allowance of a tenth covers the second order, a fraction
// eta^2, and the 100 steps. 3 powers within 4.5 errors and 9 skews: one false alarm in 12,000.
TEST(rough_volatility, the_skew_at_the_money_is_a_power_of_time) {
    for (const double hurst : {0.07, 0.2, 0.5}) {
        const rough p{0.5, -0.9, hurst};
        const std::vector<double> years{0.01, 0.08, 0.64};
        std::vector<double> skews, errors;
        for (const double t : years) {
            const double deviation = 0.2 * std::sqrt(t), k = 0.2 * deviation;
            const auto rows = price(
                market_of(p.words(fmt::format(", steps_per_year: {}", 100 / t))),
                {fmt::format("product: lean, underlying: A, factor: {:.17g}, maturity: {}", std::exp(k), t)},
                1 << 19, 9);
            const double d1 = -k / deviation + 0.5 * deviation;
            const double per_skew = 2 * k * 100 * std::sqrt(t) * truth::normal_density(d1);
            skews.push_back(rows[0].price / per_skew);
            errors.push_back(rows[0].standard_error / per_skew);
            const double first = p.rho * p.eta * std::sqrt(2 * hurst) * std::pow(t, hurst - 0.5) /
                                 (2 * (hurst + 0.5) * (hurst + 1.5));
            fmt::print("H {} T {}: skew {:.4f} +- {:.4f}, first order {:.4f}\n", hurst, t, skews.back(),
                       errors.back(), first);
            EXPECT_LE(std::abs(skews.back() - first), limit * errors.back() + 0.1 * std::abs(first))
                << hurst << " " << t;
        }
        const double power = std::log(skews[2] / skews[0]) / std::log(years[2] / years[0]);
        const double within = std::hypot(errors[2] / skews[2], errors[0] / skews[0]) / std::log(64);
        fmt::print("H {}: power {:.3f} +- {:.3f}\n", hurst, power, within);
        EXPECT_LE(std::abs(power - (hurst - 0.5)), limit * within + 0.01) << hurst;
    }
}

// The variance factor is correlated by name with another asset and with the rate into the payment currency:
// under the measure of either, Y shifts by eta rho sigma sqrt(2H) t^(H + 1/2) / (H + 1/2). The model's own
// asset is independent of both. Two comparisons: one false alarm in 75,000.
TEST(rough_volatility, an_own_factor_is_correlated_as_it_is_named) {
    const rough p{1, -0.5, 0.15};
    const std::string market = fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: 0}}, EUR: {{rate: 0}}}}\nfx: {{EURUSD: {{rate: 1, "
        "volatility: 0.5}}}}\nassets:\n  A: {{currency: USD, spot: 100, model: {{{}}}}}\n  B: {{currency: "
        "USD, spot: 100, volatility: 0.5}}\ncorrelations: [[A, B, 0], [A.variance, B, 0.5], [A, EURUSD, 0], "
        "[A.variance, EURUSD, -0.5], [B, EURUSD, 0]]\n",
        p.words(", steps_per_year: 20"));
    const auto rows = price(market,
                            {"product: weighted, underlying: A, by: B, maturity: 1",
                             "product: log_contract, underlying: A, maturity: 1, currency: EUR"},
                            1 << 20, 15);
    for (std::size_t k = 0; k < 2; ++k) {
        double truth = 0;
        for (int i = 0; i < 20; ++i) {
            const double moved = p.eta * (k == 0 ? 0.5 : -0.5) * 0.5 * std::sqrt(2 * p.hurst) *
                                 std::pow(i / 20.0, p.hurst + 0.5) / (p.hurst + 0.5);
            truth += 0.04 / 20 * std::exp(moved);
        }
        fmt::print("with {}: {:.5f} +- {:.5f}, truth {:.5f}\n", k == 0 ? "an asset" : "a rate", rows[k].price,
                   rows[k].standard_error, truth);
        EXPECT_LE(std::abs(rows[k].price - truth), limit * rows[k].standard_error);
        EXPECT_GT(std::abs(truth - 0.04), 2 * limit * rows[k].standard_error);
    }
}

// 4 laws, 4 dates, in double and in single: 32 comparisons, one false alarm in 4,600.
TEST(rough_volatility, the_discounted_asset_is_a_martingale) {
    std::uint64_t seed = 700;
    for (const rough& p : {rough{}, rough{3, -0.999, 0.05}, rough{1, 0, 0.3}, rough{0.7, -1, 0.5}}) {
        for (const char* precision : {"double", "single"}) {
            std::vector<std::string> trades;
            for (const double t : {0.01, 0.5, 1.0, 5.0})
                trades.push_back(
                    fmt::format("product: late_call, underlying: A, strike: 0, dates: [{}, {}]", t / 3, t));
            for (const price_row& row : price(market_of(p.words(", steps_per_year: 50"), 0.03), trades,
                                              1 << 15, ++seed, precision)) {
                EXPECT_LE(std::abs(row.price - 100), limit * known_error(row) + 1e-4)
                    << p.words() << " " << precision << ": " << row.price << " +- " << row.standard_error;
            }
        }
    }
}

TEST(rough_volatility, extremes_are_finite) {
    struct extreme {
        rough of;
        double rate = 0.03, spot = 100;
        std::string more{};
    };
    const rough usual;
    std::vector<extreme> all;
    for (const rough& of : {rough{3, -0.999, 0.07}, rough{3, -1, 0.5}, rough{5, 0, 0.001},
                            rough{1.9, -0.9, 0.499999}, rough{1.9, -0.9, 0.4999999}})
        all.push_back({of});
    for (const char* xi : {"0", "25", "{0.001: 25, 0.5: 0, 3: 0.04}"})
        all.push_back({rough{1.9, -0.9, 0.07, xi}});
    all.push_back({usual, -0.02});
    all.push_back({usual, 0.03, 1e-6});
    all.push_back({usual, 0.03, 1e9});
    all.push_back({usual, 0.03, 100, ", steps_per_year: 0.01"});
    for (const extreme& x : all) {
        std::vector<std::string> trades;
        std::vector<double> most;
        for (const double years : {0.00273, 1.0, 50.0}) {
            trades.push_back(
                fmt::format("product: european, underlying: A, option: put, strike: {:.17g}, "
                            "maturity: {}",
                            x.spot, years));
            most.push_back(x.spot * std::exp(-x.rate * years));
        }
        trades.push_back(
            fmt::format("product: barrier, underlying: A, option: put, strike: {:.17g}, "
                        "maturity: 0.1, direction: down, barrier: {:.17g}",
                        x.spot, 0.8 * x.spot));
        most.push_back(most[1]);
        for (const char* precision : {"double", "single"}) {
            const auto rows =
                price(market_of(x.of.words(x.more), x.rate, x.spot), trades, 256, 77, precision);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                EXPECT_TRUE(is_sound(rows[i])) << x.of.words() << " " << trades[i];
                EXPECT_GE(rows[i].price, 0) << x.of.words() << " " << trades[i];
                EXPECT_LE(rows[i].price, most[i] * (1 + 1e-5)) << x.of.words() << " " << trades[i];
            }
        }
    }
}

// A path of a year takes the model's steps per year, if given; by default at least 50 steps.
TEST(rough_volatility, steps_are_those_that_were_asked_for) {
    const auto steps = [](const std::string& more, const std::string& maturity) {
        run_options how = tests::plain_paths();
        how.overrides.paths = 1024;
        how.overrides.random = "philox";
        how.overrides.device = "cpu";
        const results r = engine().price(
            book::parse("trades: [{id: c, product: european, underlying: A, strike: 100, maturity: " +
                        maturity + "}]\n"),
            market::parse(market_of(rough{.eta = 0.5}.words(more))), how);
        EXPECT_EQ(r.rows.at(0).status, trade_status::priced) << r.rows.at(0).message;
        return r.manifest.path_steps / 1024;
    };
    EXPECT_EQ(steps(", steps_per_year: 8", "1.0"), 8U);
    EXPECT_EQ(steps(", steps_per_year: 8", "2.5"), 20U);
    EXPECT_EQ(steps(", steps_per_year: 8", "0.1"), 1U);
    EXPECT_EQ(steps("", "1.0"), 250U);
    EXPECT_EQ(steps("", "0.1"), 50U);
}

TEST(rough_volatility, the_plan_says_what_keeps_the_past) {
    const auto plan_of = [](const std::string& model) {
        const book trades =
            book::parse("trades:\n  - {id: t, product: european, underlying: A, strike: 100, maturity: 1}\n");
        const auto plans = engine().explain(trades, market::parse(market_of(model)));
        // A market's description does not mention the exponentials, which depend on the grid.
        EXPECT_EQ(plans.at(0).asset_list.at(0).model.find("exponentials"), std::string::npos)
            << plans.at(0).asset_list.at(0).model;
        return plans.at(0).models;
    };
    const auto usual = plan_of(rough{}.words());
    ASSERT_EQ(usual.size(), 1u);
    EXPECT_TRUE(
        usual[0].starts_with("A: rough_bergomi, hurst 0.07, at least 1525 steps a year, the past in 10 "
                             "exponentials within "))
        << usual[0];
    const auto flat = plan_of(rough{1, -0.5, 0.5}.words());
    EXPECT_TRUE(flat.at(0).ends_with("in 1 exponentials within 0.0e+00 of the kernel")) << flat[0];
}

TEST(rough_volatility, complaints_name_what_was_found_and_expected) {
    struct bad {
        std::string model, message;
    };
    for (const bad& b : {
             bad{"xi: -0.04, eta: 1, rho: -0.9, hurst: 0.1",
                 "found -0.04, expected a number between 0 and 25"},
             bad{"xi: {1: 0.04, 2: 26}, eta: 1, rho: -0.9, hurst: 0.1",
                 "found 26, expected a number between 0 and 25"},
             bad{"xi: {2: 0.04, 1: 0.05}, eta: 1, rho: -0.9, hurst: 0.1",
                 "found the pillar 1, expected one after the one before"},
             bad{"xi: 0.04, eta: -1, rho: -0.9, hurst: 0.1", "found -1, expected a number between 0 and 5"},
             bad{"xi: 0.04, eta: 5.1, rho: -0.9, hurst: 0.1", "found 5.1, expected a number between 0 and 5"},
             bad{"xi: 0.04, eta: 1, rho: 0.1, hurst: 0.1", "found 0.1, expected a number between -1 and 0"},
             bad{"xi: 0.04, eta: 1, rho: -1.1, hurst: 0.1", "found -1.1, expected a number between -1 and 0"},
             bad{"xi: 0.04, eta: 1, rho: -0.9, hurst: 0",
                 "found 0, expected a number above 0 and at most 0.5"},
             bad{"xi: 0.04, eta: 1, rho: -0.9, hurst: 0.51",
                 "found 0.51, expected a number above 0 and at most 0.5"},
             bad{"xi: 0.04, eta: 1, rho: -0.9, hurst: 0.1, steps_per_year: 0",
                 "found 0, expected a number between 0.01 and 1e+05"},
             bad{"xi: 0.04, eta: 1, rho: -0.9, hurts: 0.1", "did you mean 'hurst'"},
             bad{"xi: 0.04, eta: 1, rho: -0.9", "hurst"},
         }) {
        try {
            market::parse(market_of("rough_bergomi: {" + b.model + "}"), "bad.yaml");
            ADD_FAILURE() << b.model;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << b.model;
            EXPECT_NE(std::string(e.what()).find(b.message), std::string::npos) << e.what();
            EXPECT_EQ(e.where().file, "bad.yaml");
            EXPECT_EQ(e.where().line, 4u) << e.what();
            EXPECT_GT(e.where().column, 1u) << e.what();
        }
    }
}

}  // namespace
}  // namespace tilewalk::rough_volatility_test
