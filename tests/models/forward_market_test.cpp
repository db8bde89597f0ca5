// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// The forward market model: caplets by Black's formula, prices as martingales, closed forms for lognormal
// bonds, swaptions and ratchets against this file's own simulation in another measure, and refusals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/numerics/jacobi.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/moving_rates.h"

namespace tilewalk::forward_market_test {
namespace {

using tests::product_in_words;

const std::string own_products =
    "products:\n" + rate_products +
    product_in_words("a_sale", "The asset, sold when it comes down to the level, or else on the last day.",
                     "underlying: asset, level: amount, maturity: date",
                     "left = 1\n"
                     "between start and maturity:\n"
                     "    touched = touched_below(underlying, level)\n"
                     "    pay left * touched * level at touch_time_below(underlying, level)\n"
                     "    left = left * (1 - touched)\n"
                     "on maturity:\n"
                     "    pay left * spot(underlying)\n") +
    product_in_words("ratchet", "Option on how much more a period's rate is than that of the period before.",
                     "before: date, begin: date, end: date",
                     "earlier = 0\n"
                     "on before:\n"
                     "    earlier = forward_rate(currency, before, begin)\n"
                     "on begin:\n"
                     "    pay max(forward_rate(currency, begin, end) - earlier, 0) on end\n");

double usd_rate(double from, double to) {
    return (usd(from) / usd(to) - 1) / (to - from);
}

std::string market_of(const std::string& parameters, const std::string& rest = "") {
    return "as_of: 2026-01-15\ncurrencies:\n  USD: {zero_rates: {1: 0.02, 5: 0.03, 10: 0.035}, model: "
           "{forward_market: {" +
           parameters + "}}}\n" + rest;
}

double cdf(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double black(double forward, double strike, double deviation) {
    const double d1 = std::log(forward / strike) / deviation + deviation / 2;
    return forward * cdf(d1) - strike * cdf(d1 - deviation);
}

// Checks that A v = value v, that vectors are orthonormal, and that the largest value comes first.
TEST(forward_market_eigen_pairs, are_those_of_the_matrix) {
    std::mt19937_64 random(7);
    for (const std::size_t n : {1U, 2U, 5U, 40U}) {
        std::vector<double> a(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j <= i; ++j)
                a[i * n + j] = a[j * n + i] = std::normal_distribution<double>()(random);
        }
        const auto found = analytics::eigen_pairs(a, n);
        ASSERT_EQ(found.size(), n);
        for (std::size_t k = 0; k < n; ++k) {
            EXPECT_LE(found[k].value, found[k > 0 ? k - 1 : 0].value);
            for (std::size_t i = 0; i < n; ++i) {
                const double image =
                    std::inner_product(a.begin() + std::ptrdiff_t(i * n),
                                       a.begin() + std::ptrdiff_t(i * n + n), found[k].vector.begin(), 0.0);
                EXPECT_NEAR(image, found[k].value * found[k].vector[i], 1e-12 * double(n)) << n;
            }
            for (std::size_t l = 0; l <= k; ++l) {
                EXPECT_NEAR(std::inner_product(found[k].vector.begin(), found[k].vector.end(),
                                               found[l].vector.begin(), 0.0),
                            k == l ? 1 : 0, 1e-13 * double(n));
            }
        }
    }
}

// Each displaced forward is lognormal in the measure of the bond that pays the caplet: 57 comparisons at 4.5
// standard errors, one false alarm in 2,600.
TEST(forward_market, meets_blacks_formula_for_every_caplet) {
    const struct {
        std::string said;
        double tenor, displacement;
        std::vector<std::pair<double, std::vector<double>>> variance;  // until, by dates ahead or one for all
        std::vector<double> by_period;
    } all[] = {
        {"tenor: 0.5, until: 10, volatility: 0.3, displacement: 0.02, correlation_decay: 0.1, factors: 3",
         0.5,
         0.02,
         {{99, {0.09}}},
         {}},
        {"tenor: 0.5, until: 10, volatility: {0.75: 0.5, 3: 0.2, 9: 0.3}, factors: 1",
         0.5,
         0,
         {{0.75, {0.25}}, {3, {0.04}}, {99, {0.09}}},
         {}},
        {"tenor: 1, until: 10, volatility: [0.1, 0.4, 0.2], correlation_decay: 0.5, factors: 2, "
         "displacement: 0.01",
         1,
         0.01,
         {},
         {0.01, 0.16, 0.04}},
        {"tenor: 1, until: 10, displacement: 1, steps_per_year: 2, loadings: [[0.02, 0.01], [0.01, 0], "
         "[0.015, -0.005]]",
         1,
         1,
         {{99, {0.0005, 0.0001, 0.00025}}},
         {}},
    };
    std::uint64_t seed = 1;
    double worst = 0;
    for (const auto& of : all) {
        std::vector<std::string> trades;
        std::vector<double> truth;
        for (int j = 1; (j + 1) * of.tenor <= 10; ++j) {
            const double from = j * of.tenor, to = from + of.tenor, forward = usd_rate(from, to);
            const auto at = [&](const std::vector<double>& rows, std::size_t row) {
                return rows[std::min(row, rows.size() - 1)];
            };
            double variance = of.by_period.empty() ? 0 : at(of.by_period, std::size_t(j - 1)) * from;
            double done = 0;
            for (const auto& [until, rows] : of.variance) {
                for (int i = 0; i < j; ++i) {
                    const double begin = std::max(done, i * of.tenor),
                                 end = std::min(until, (i + 1) * of.tenor);
                    if (end > begin) variance += at(rows, std::size_t(j - i - 1)) * (end - begin);
                }
                done = until;
            }
            const double strike = forward * (j % 3 == 0 ? 1.2 : j % 3 == 1 ? 1.0 : 0.8);
            trades.push_back(
                fmt::format("currency: USD, product: cap_floor, notional: 1, strike: {:.17g}, "
                            "begin: {}, payments: [{}]",
                            strike, from, to));
            truth.push_back(usd(to) * of.tenor *
                            black(forward + of.displacement, strike + of.displacement, std::sqrt(variance)));
        }
        const auto rows = priced(own_products, market_of(of.said), trades, 1 << 15, ++seed);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_GT(rows[i].standard_error, 0) << trades[i] << ": can this fail?";
            EXPECT_NEAR(rows[i].price, truth[i], limit * rows[i].standard_error) << of.said << trades[i];
            worst = std::max(worst, std::abs(rows[i].price - truth[i]) / rows[i].standard_error);
        }
    }
    fmt::print("caplets: worst z {:.2f}\n", worst);
}

std::string hybrid(const std::string& usd_model) {
    return market_of(
        usd_model,
        "  EUR: {rate: 0.01, model: {forward_market: {dates: [2026-07-15, 2027-01-15, 2027-09-01, 2, 3, 4, "
        "5, 6, 7, 8, 9], volatility: 0.2, displacement: 0.05, factors: 2, correlation_decay: 0.2}}}\n"
        "fx: {EURUSD: {rate: 1.1, volatility: {1: 0.08, 5: 0.1}}}\n"
        "assets:\n"
        "  A: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: {1: 0.2, 5: 0.25}}\n"
        "  B: {currency: EUR, spot: 50, dividend_yield: 0.02, model: {heston: {v0: 0.04, kappa: 1.5, theta: "
        "0.05, sigma: 0.6, rho: -0.7}}}\n"
        "  C: {currency: USD, spot: 100, volatility: 0.2}\n"
        "correlations: [[A, USD.rate, -0.4], [B, EUR.rate, 0.3], [USD.rate, EURUSD, 0.3], [EUR.rate_2, "
        "EURUSD, -0.3], [EUR.rate, USD.rate, 0.5], [A, EURUSD, 0.2], [A, B, 0.5], [C, USD.rate, -0.5]]\n");
}

const std::string lognormal = "tenor: 0.5, until: 30, volatility: 0.25, correlation_decay: 0.1, factors: 3",
                  by_loadings =
                      "tenor: 1, until: 30, displacement: 0.3, loadings: {1.5: [[0.05, 0.01]], 30: "
                      "[[0.02, 0.03], [0.04, 0.01]]}",
                  quarters = "tenor: 0.25, until: 10, volatility: {2: 0.6, 5: 0.4}, displacement: 0.01";

// Prices in units of the numeraire are martingales, at period dates and between, beside assets and exchange
// rates: 42 comparisons at 4.5 standard errors, one false alarm in 3,500.
TEST(forward_market, leaves_every_price_a_martingale) {
    const auto eur = [](double years) { return std::exp(-0.01 * years); };
    const struct {
        const char* trade;
        double price;
    } all[] = {
        {"currency: USD, product: a_payment, looked: 4, maturity: 4", usd(4)},
        {"currency: USD, product: a_payment, looked: 4.3, maturity: 4.3", usd(4.3)},
        {"currency: USD, product: a_payment, looked: 0.7, maturity: 8.9", usd(8.9)},
        {"currency: USD, product: a_bond, looked: 7, maturity: 9", usd(9)},
        {"currency: USD, product: a_bond, looked: 5.1, maturity: 9.6", usd(9.6)},
        {"currency: USD, product: a_bond, looked: 5.1, maturity: 5.12", usd(5.12)},
        {"currency: EUR, product: a_bond, looked: 3.3, maturity: 8.4", eur(8.4)},
        {"currency: USD, product: in_other, looked: 3, maturity: 3, of: EUR", 1.1 * eur(3)},
        {"currency: USD, product: in_other, looked: 3.3, maturity: 8.4, of: EUR", 1.1 * eur(8.4)},
        {"currency: EUR, product: in_other, looked: 3.3, maturity: 8, of: USD", usd(8) / 1.1},
        {"currency: USD, product: a_spot, looked: 6.2, underlying: A, of: USD", 100 * std::exp(-0.062)},
        {"currency: EUR, product: a_spot, looked: 6, underlying: A, of: USD", 100 * std::exp(-0.06) / 1.1},
        {"currency: USD, product: a_spot, looked: 3, underlying: B, of: EUR", 55 * std::exp(-0.06)},
        {"currency: USD, product: a_sale, underlying: C, level: 90, maturity: 2", 100},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.emplace_back(one.trade);
    std::uint64_t seed = 10;
    for (const std::string& model : {lognormal, by_loadings, quarters}) {
        const auto rows = priced(own_products, hybrid(model), trades, 1 << 15, ++seed);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_GT(rows[i].standard_error, 0) << trades[i] << ": can this fail?";
            EXPECT_NEAR(rows[i].price, all[i].price, limit * rows[i].standard_error) << trades[i] << model;
        }
    }
}

// With a displacement of one over the period, 1 + period F is lognormal, and the drift depends on no rate.
// Bonds are then lognormal, and Black's formula holds for options on them and on an asset correlated with
// both factors; so too for a correlation with as many factors as rates. Ten comparisons: one false alarm in
// 15,000.
TEST(forward_market, with_lognormal_bonds_meets_blacks_formula_for_all_factors) {
    const std::vector<std::array<double, 2>> rows{{0.02, 0.01}, {0.015, 0}, {0.02, -0.01}, {0.025, -0.015}};
    const std::string model =
        "tenor: 1, until: 10, displacement: 1, loadings: [[0.02, 0.01], [0.015, 0], [0.02, -0.01], [0.025, "
        "-0.015]]";
    const auto row = [&](int ahead) { return rows[std::min(std::size_t(ahead), rows.size() - 1)]; };
    std::vector<std::string> trades;
    std::vector<double> truth;
    const auto add_call = [&](int looked, int maturity) {
        double variance = 0;
        for (int i = 0; i < looked; ++i) {
            std::array<double, 2> sum{};
            for (int j = looked; j < maturity; ++j) {
                for (std::size_t f = 0; f < 2; ++f) sum[f] += row(j - i - 1)[f];
            }
            variance += sum[0] * sum[0] + sum[1] * sum[1];
        }
        const double strike = usd(maturity) / usd(looked) * 1.01;
        trades.push_back(
            fmt::format("currency: USD, product: bond_calls, days: [{}.0], maturity: {}, strike: {:.17g}",
                        looked, maturity, strike));
        truth.push_back(usd(looked) * black(usd(maturity) / usd(looked), strike, std::sqrt(variance)));
    };
    for (const auto& [looked, maturity] :
         {std::pair(1, 2), std::pair(1, 6), std::pair(3, 10), std::pair(5, 7), std::pair(9, 10)})
        add_call(looked, maturity);
    // One section of the program serves days with different numbers of rates ahead of them.
    trades.emplace_back(
        "currency: USD, product: bond_calls, days: [1.0, 3.0, 5.0], maturity: 6, strike: 1e-9");
    truth.push_back(3 * usd(6) - 1e-9 * (usd(1) + usd(3) + usd(5)));
    constexpr double rho_1 = -0.5, rho_2 = 0.4, sigma = 0.2;
    for (const int maturity : {2, 6}) {
        double variance = sigma * sigma * maturity;
        for (int i = 0; i < maturity; ++i) {
            std::array<double, 2> sum{};
            for (int j = i + 1; j < maturity; ++j) {
                for (std::size_t f = 0; f < 2; ++f) sum[f] += row(j - i - 1)[f];
            }
            variance += sum[0] * sum[0] + sum[1] * sum[1] + 2 * sigma * (rho_1 * sum[0] + rho_2 * sum[1]);
        }
        trades.push_back(fmt::format(
            "currency: USD, product: european, underlying: A, strike: 110, maturity: {}", maturity));
        truth.push_back(usd(maturity) * black(100 / usd(maturity), 110, std::sqrt(variance)));
    }
    auto got = priced(own_products,
                      market_of(model,
                                "assets: {A: {currency: USD, spot: 100, volatility: 0.2}}\n"
                                "correlations: [[A, USD.rate, -0.5], [A, USD.rate_2, 0.4]]\n"),
                      trades, 1 << 17, 21);
    const std::size_t correlated = trades.size();
    for (const char* const decay : {"0.2", "1.5"}) {
        const double variance = 0.02 * 0.02 * (2 + 2 * std::exp(-std::stod(decay)));
        const double strike = usd(3) / usd(1);
        trades.push_back(fmt::format(
            "currency: USD, product: bond_calls, days: [1.0], maturity: 3, strike: {:.17g}", strike));
        truth.push_back(usd(1) * black(strike, strike, std::sqrt(variance)));
        got.push_back(priced(own_products,
                             market_of("tenor: 1, until: 3, displacement: 1, volatility: 0.02, factors: 2, "
                                       "correlation_decay: " +
                                       std::string(decay)),
                             {trades.back()}, 1 << 17, 22 + trades.size() - correlated)
                          .at(0));
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].status, trade_status::priced) << got[i].message;
        EXPECT_NEAR(got[i].price, truth[i], limit * got[i].standard_error) << trades[i];
    }
}

// An independent simulation of three factors on half-years in the measure of the last bond, with many Euler
// steps of the logarithms and random numbers of the standard library.
struct simulated {
    double price = 0, error = 0;
};
constexpr int own_periods = 10;
constexpr double own_tenor = 0.5, own_displacement = 0.015;
const std::array<std::array<double, 3>, own_periods> own_rows{{{0.25, 0.15, 0.05},
                                                               {0.25, 0.12, 0},
                                                               {0.25, 0.08, -0.04},
                                                               {0.24, 0.04, -0.06},
                                                               {0.23, 0, -0.06},
                                                               {0.22, -0.04, -0.04},
                                                               {0.21, -0.08, -0.02},
                                                               {0.2, -0.1, 0},
                                                               {0.19, -0.12, 0.03},
                                                               {0.18, -0.14, 0.06}}};

// Two options at date `expiry`: on the swap from there to the end, and on the excess of the last rate over
// the one before it.
std::array<simulated, 2> simulate(int expiry, double strike, int paths, int steps_a_period) {
    std::mt19937_64 bits(20260115);
    std::normal_distribution<double> normal;
    std::array<double, 2> sum{}, squares{};
    const double h = own_tenor / steps_a_period, root = std::sqrt(h), last = usd(own_periods * own_tenor);
    std::array<double, own_periods> start{};
    for (int j = 0; j < own_periods; ++j)
        start[std::size_t(j)] = usd_rate(j * own_tenor, (j + 1) * own_tenor);
    for (int p = 0; p < paths; ++p) {
        auto rate = start;
        std::array<double, 2> paid{};
        double earlier = 0;
        for (int i = 0; i < own_periods; ++i) {  // i is the current period
            std::array<double, own_periods + 1> growth{};
            growth[own_periods] = 1;
            for (int j = own_periods - 1; j >= i; --j)
                growth[std::size_t(j)] = growth[std::size_t(j) + 1] * (1 + own_tenor * rate[std::size_t(j)]);
            if (i == expiry) {
                double swap = growth[std::size_t(i)] - 1;
                for (int j = i + 1; j <= own_periods; ++j)
                    swap -= strike * own_tenor * growth[std::size_t(j)];
                paid[0] = std::max(swap, 0.0);
            }
            if (i == own_periods - 2) earlier = rate[std::size_t(i)];
            if (i == own_periods - 1) paid[1] = std::max(rate[std::size_t(i)] - earlier, 0.0);
            if (i == own_periods - 1) break;
            for (int s = 0; s < steps_a_period; ++s) {
                const std::array<double, 3> z{normal(bits) * root, normal(bits) * root, normal(bits) * root};
                std::array<double, 3> later{};
                for (int j = own_periods - 1; j > i; --j) {
                    const auto& l = own_rows[std::size_t(j - i - 1)];
                    double& f = rate[std::size_t(j)];
                    const double displaced = f + own_displacement;
                    double move = 0;
                    for (std::size_t k = 0; k < 3; ++k)
                        move += l[k] * z[k] - (l[k] * later[k] + 0.5 * l[k] * l[k]) * h;
                    const double weight = own_tenor * displaced / (1 + own_tenor * f);
                    for (std::size_t k = 0; k < 3; ++k) later[k] += weight * l[k];
                    f = displaced * std::exp(move) - own_displacement;
                }
            }
        }
        for (std::size_t k = 0; k < 2; ++k) {
            sum[k] += paid[k];
            squares[k] += paid[k] * paid[k];
        }
    }
    std::array<simulated, 2> out;
    for (std::size_t k = 0; k < 2; ++k) {
        const double mean = sum[k] / paths, variance = squares[k] / paths - mean * mean;
        out[k] = {last * mean, last * std::sqrt(variance / paths)};
    }
    return out;
}

// Rebonato's formula: the displaced swap rate is taken as lognormal, with today's weights.
double approximate_swaption(int expiry, double strike) {
    double annuity = 0, swap_rate = 0, variance = 0;
    for (int j = expiry; j < own_periods; ++j) annuity += own_tenor * usd((j + 1) * own_tenor);
    swap_rate = (usd(expiry * own_tenor) - usd(own_periods * own_tenor)) / annuity;
    for (int i = 0; i < expiry; ++i) {
        std::array<double, 3> sum{};
        for (int j = expiry; j < own_periods; ++j) {
            const double weight = own_tenor * usd((j + 1) * own_tenor) / annuity *
                                  (usd_rate(j * own_tenor, (j + 1) * own_tenor) + own_displacement);
            for (std::size_t k = 0; k < 3; ++k) sum[k] += weight * own_rows[std::size_t(j - i - 1)][k];
        }
        for (const double s : sum) variance += s * s * own_tenor;
    }
    variance /= (swap_rate + own_displacement) * (swap_rate + own_displacement);
    return annuity * black(swap_rate + own_displacement, strike + own_displacement, std::sqrt(variance));
}

// Six comparisons at 4.5 standard errors of both prices: one false alarm in 25,000. Rebonato's formula is off
// by less than 0.1 % here (by four million paths) and may be off by 0.2 %.
TEST(forward_market, meets_a_simulation_in_another_measure) {
    std::string loadings;
    for (const auto& l : own_rows)
        loadings += (loadings.empty() ? "[" : ", [") + fmt::format("{}, {}, {}]", l[0], l[1], l[2]);
    for (const int expiry : {2, 4, 6}) {
        const double from = expiry * own_tenor, to = own_periods * own_tenor,
                     strike = usd_rate(from, to) * (1 + 0.05 * (expiry - 4));
        const auto truth = simulate(expiry, strike, 1 << 17, 4);
        const auto rows =
            priced(own_products,
                   market_of(fmt::format("tenor: 0.5, until: 5, displacement: {}, loadings: [{}]",
                                         own_displacement, loadings)),
                   {fmt::format("currency: USD, product: swaption, notional: 1, strike: {:.17g}, expiry: {}, "
                                "payments: {{start: {}, end: {}, count: {}}}",
                                strike, from, from, to, own_periods - expiry),
                    "currency: USD, product: ratchet, before: 4, begin: 4.5, end: 5"},
                   1 << 20, 30 + std::uint64_t(expiry));
        for (std::size_t k = 0; k < 2; ++k) {
            ASSERT_EQ(rows[k].status, trade_status::priced) << rows[k].message;
            EXPECT_NEAR(rows[k].price, truth[k].price,
                        limit * std::hypot(rows[k].standard_error, truth[k].error))
                << expiry << " " << k;
        }
        const double near = approximate_swaption(expiry, strike);
        fmt::print("swaption at {}: {:.6f} +- {:.6f}, own simulation {:.6f} +- {:.6f}, Rebonato {:.6f}\n",
                   from, rows[0].price, rows[0].standard_error, truth[0].price, truth[0].error, near);
        EXPECT_NEAR(rows[0].price, near, 0.002 * near + limit * rows[0].standard_error);
    }
}

TEST(forward_market, without_volatility_is_the_curve) {
    const std::vector<std::pair<std::string, double>> all{
        {"currency: USD, product: a_bond, looked: 1.7, maturity: 4.2", usd(4.2)},
        {"currency: USD, product: a_payment, looked: 1.5, maturity: 4", usd(4)},
        {"currency: USD, product: a_bond, looked: 6.3, maturity: 9.9", usd(9.9)},
        {"currency: USD, product: a_bond, looked: 0.1, maturity: 0.2", usd(0.2)},
        {"currency: USD, product: a_bond, looked: 2026-01-15, maturity: 6.1", usd(6.1)},
    };
    std::vector<std::string> trades;
    for (const auto& [trade, price] : all) trades.push_back(trade);
    const auto rows =
        priced(own_products, market_of("tenor: 0.5, volatility: 0, factors: 2"), trades, 1 << 10, 3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        EXPECT_NEAR(rows[i].price, all[i].second, 2e-14) << trades[i];
    }
}

// Time-stepping error on two-year rates with a volatility of 100 %: a caplet at 8 years is too low by 9.4 %
// in two-year steps, 3.0 % in one-year and 0.7 % in half-year ones. (With 60 % on yearly rates and steps, a
// caplet at 9 years is 0.63 % +- 0.05 % too low by 2^24 paths, and 0.12 % +- 0.08 % with four steps a year.)
// Half the step leaves a third to a quarter; the test asks for order 1.5. Six comparisons at 4.5 standard
// errors.
TEST(forward_market, in_shorter_steps_is_nearer) {
    struct lean {
        double of = 0, error = 0;
    };
    const auto leans = [](const std::string& steps, std::uint64_t seed) {
        std::vector<std::string> trades;
        std::vector<double> truth;
        for (const int from : {4, 8}) {
            const double rate = usd_rate(from, from + 2);
            trades.push_back(
                fmt::format("currency: USD, product: cap_floor, notional: 1, strike: {:.17g}, "
                            "begin: {}, payments: [{}]",
                            rate, from, from + 2));
            truth.push_back(2 * usd(from + 2) * black(rate, rate, std::sqrt(from)));
        }
        const auto rows = priced(own_products, market_of("tenor: 2, until: 10, volatility: 1" + steps),
                                 trades, 1 << 20, seed);
        std::vector<lean> out;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            out.push_back({rows[i].price / truth[i] - 1, rows[i].standard_error / truth[i]});
        }
        return out;
    };
    const auto two_years = leans("", 40), one = leans(", steps_per_year: 1", 41),
               half = leans(", steps_per_year: 2", 42);
    for (std::size_t i = 0; i < half.size(); ++i) {
        EXPECT_LT(two_years[i].of, -limit * two_years[i].error) << "can this fail?";
        for (const auto& [coarse, fine] : {std::pair(two_years[i], one[i]), std::pair(one[i], half[i])}) {
            const double ratio = std::pow(2, -1.5);
            fmt::print("off by {:.3f} % +- {:.3f} %, in steps of half as long {:.3f} % +- {:.3f} %\n",
                       100 * coarse.of, 100 * coarse.error, 100 * fine.of, 100 * fine.error);
            EXPECT_LE(std::abs(fine.of),
                      std::abs(coarse.of) * ratio + limit * std::hypot(fine.error, ratio * coarse.error));
        }
    }
}

TEST(forward_market, is_near_itself_in_other_precisions) {
    const std::vector<std::string> trades{
        "currency: USD, product: swaption, strike: 0.035, expiry: 3, payments: [4.0, 5.0, 6.0, 7.0]",
        "currency: USD, product: a_bond, looked: 5.1, maturity: 9.6"};
    const auto exact = priced(own_products, market_of(lognormal), trades, 1 << 14, 50);
    for (const char* const precision : {"single", "mixed"}) {
        const auto got = priced(own_products, market_of(lognormal), trades, 1 << 14, 50, precision);
        for (std::size_t i = 0; i < got.size(); ++i) {
            EXPECT_NEAR(got[i].price, exact[i].price,
                        limit * std::hypot(got[i].standard_error, exact[i].standard_error));
        }
    }
}

TEST(forward_market, is_finite_at_extremes) {
    for (const char* const model :
         {"tenor: 1, until: 51, volatility: 0.5, factors: 3, correlation_decay: 5, displacement: 0.1",
          "tenor: 5, until: 55, volatility: 3, displacement: 0.1",
          "tenor: 1, until: 51, volatility: 0.03, displacement: 1",
          "tenor: 1, until: 51, volatility: {0.02: 3, 51: 0}, displacement: 0.1"}) {
        for (const char* const rate : {"-0.05", "0.2"}) {
            const std::string text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: " + std::string(rate) +
                                     ", model: {forward_market: {" + model +
                                     "}}}}\nassets: {A: {currency: USD, spot: 1e9, volatility: "
                                     "0.3}}\ncorrelations: [[A, USD.rate, "
                                     "0.999]]\n";
            for (const char* const precision : {"double", "single"}) {
                const auto rows =
                    priced(own_products, text,
                           {"currency: USD, product: a_spot, looked: 2026-01-16, underlying: A, of: USD",
                            "currency: USD, product: a_spot, looked: 50, underlying: A, of: USD",
                            "currency: USD, product: swaption, strike: 0.1, expiry: 0.003, payments: {start: "
                            "0, end: 30, count: 30}",
                            "currency: USD, product: a_bond, looked: 49, maturity: 51"},
                           1 << 10, 7, precision);
                for (const auto& row : rows) {
                    const bool refused = row.message.find("move too far") != std::string::npos &&
                                         row.message.find("at most 16") != std::string::npos;
                    EXPECT_TRUE(row.status == trade_status::priced || refused) << row.message << model;
                    EXPECT_TRUE(refused || is_sound(row))
                        << row.trade << " " << row.price << " " << model << rate << " " << precision;
                }
            }
        }
    }
}

TEST(forward_market, says_how_it_moves) {
    const book trades = book::parse(
        own_products + "trades:\n  - {id: t, currency: USD, product: a_bond, looked: 3, maturity: 4}\n");
    EXPECT_EQ(engine().explain(trades, market::parse(market_of(lognormal))).at(0).models,
              (std::vector<std::string>{
                  "USD: forward_market, 60 periods, 3 factors, predictor and corrector from date to date"}));
}

TEST(forward_market, refuses_what_can_not_be_where_it_stands) {
    const auto refused = [](const std::string& parameters, const std::string& rest) {
        try {
            market::parse(market_of(parameters, rest), "m");
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    const std::string asset = "assets:\n  A: {currency: USD, spot: 100, volatility: 0.2}\n";
    const struct {
        std::string parameters, rest;
        std::vector<std::string> expected;
    } all[] = {
        {"volatility: 0.2", "", {"m:3:", "either tenor", "or dates"}},
        {"tenor: 1, dates: [1.0], volatility: 0.2", "", {"m:3:", "either tenor"}},
        {"tenor: 1", "", {"m:3:", "volatility"}},
        {"tenor: 1, volatility: 3.5", "", {"m:3:", "3.5", "between 0 and 3"}},
        {"tenor: 1, volatility: [0.2, -1]", "", {"m:3:", "-1", "between 0 and 3"}},
        {"tenor: 1, volatility: []", "", {"m:3:", "expected a list of volatilities"}},
        {"tenor: 1, volatility: 0.2, factors: 4", "", {"m:3:", "found 4", "between 1 and 3"}},
        {"tenor: 1, volatility: 0.2, factors: 1.5", "", {"m:3:", "1.5", "whole number"}},
        {"tenor: 1, volatility: 0.2, displacement: 2", "", {"m:3:", "between -0.1 and 1"}},
        {"tenor: 1, until: 10, volatility: 0.2, displacement: -0.035",
         "",
         {"m:3:", "from 1 to 2 years is 0.03", "the displacement -0.035, expected one above -0.03"}},
        {"tenor: 2, volatility: 0.2, displacement: 0.6", "", {"m:3:", "0.6", "at most 0.5"}},
        {"tenor: 0.1, until: 30, volatility: 0.2", "", {"m:3:", "more than 240 periods"}},
        {"dates: [1.0, 1.0], volatility: 0.2", "", {"m:3:", "after the one before"}},
        {"dates: [2026-01-15], volatility: 0.2", "", {"m:3:", "after as_of (2026-01-15)"}},
        {"dates: [1.0], until: 3, volatility: 0.2", "", {"m:3:", "until beside dates"}},
        {"tenor: 1, volatility: 0.2, loadings: [[0.1]]", "", {"m:3:", "volatility beside loadings"}},
        {"tenor: 1, loadings: [[0.1, 0.2], [0.1]]", "", {"m:3:", "a row of 1", "as in the first, 2"}},
        {"tenor: 1, loadings: [[0.1, 0.2, 0.3, 0.4]]", "", {"m:3:", "a row of 4", "at most 3"}},
        {"tenor: 1, loadings: {2: [[0.1]], 1: [[0.1]]}", "", {"m:3:", "after the one before"}},
        {"tenor: 1, loadings: [[4]]", "", {"m:3:", "between -3 and 3"}},
        {"tenor: 1, volatilty: 0.2", "", {"m:3:", "did you mean 'volatility'"}},
        {"tenor: 1, volatility: 0.2, factors: 3, correlation_decay: 0.1",
         asset + "correlations: [[USD.rate_2, USD.rate_3, 0.1]]",
         {"m:6:", "USD.rate_2 with USD.rate_3, which their model sets to 0"}},
        {"tenor: 1, volatility: 0.2, factors: 2, correlation_decay: 0.1",
         asset + "correlations: [[A, USD.rate_3, 0.1]]",
         {"m:6:", "did you mean 'USD.rate_2'"}},
    };
    for (const auto& one : all) {
        const std::string told = refused(one.parameters, one.rest);
        for (const std::string& part : one.expected)
            EXPECT_NE(told.find(part), std::string::npos) << one.parameters << "\n" << told;
    }
    const struct {
        std::string parameters, trade;
        std::vector<std::string> expected;
    } trades[] = {
        {"tenor: 1, until: 5, volatility: 0.2",
         "product: a_bond, looked: 6, maturity: 7",
         {":3:", "end after 5 years", "a path goes on until 6", "later `until`"}},
        {"tenor: 1, until: 5, volatility: 0.2",
         "product: a_bond, looked: 4, maturity: 7",
         {":3:", "a bond is asked for that matures at 7"}},
        {"tenor: 0.25, until: 30, volatility: 0.2",
         "product: a_bond, looked: 10, maturity: 20",
         {":3:", "79 forward rates of USD", "at most 64"}},
        {"tenor: 1, volatility: 1",
         "product: a_bond, looked: 20, maturity: 21",
         {":3:", "the rates of USD move too far", "a variance of 17", "at most 16"}},
    };
    for (const auto& one : trades) {
        const auto row =
            priced(own_products, market_of(one.parameters), {"currency: USD, " + one.trade}, 1 << 10, 1)
                .at(0);
        EXPECT_NE(row.status, trade_status::priced) << one.trade;
        const std::string told = tilewalk::to_string(row.where) + " " + row.message;
        for (const std::string& part : one.expected) EXPECT_NE(told.find(part), std::string::npos) << told;
    }
}

}  // namespace
}  // namespace tilewalk::forward_market_test
