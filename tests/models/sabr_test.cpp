// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// CEV and SABR against closed forms, finite differences for monitored barriers, the models they contain, and
// rules for any model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/draws.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/plain_paths.h"
#include "tests/power_volatility.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::sabr_test {
namespace {

using tests::dollar_market;

const std::string own_products = "products:\n" + forward_product + late_forward_product;

std::vector<price_row> price(const std::string& market_text, const std::vector<std::string>& trades,
                             std::uint64_t paths, std::uint64_t seed, const std::string& precision = "double",
                             const run_options& options = {}) {
    return priced(own_products, market_text, trades, paths, seed, precision, options);
}

std::string market_of(const std::string& model, double spot = 1, double rate = 0,
                      const std::string& more = "") {
    return dollar_market(rate, {{"A", fmt::format("spot: {}, model: {{{}}}{}", spot, model, more)}});
}

std::string words(const truth::cev& p, const std::string& more = "") {
    return fmt::format("cev: {{volatility: {}, beta: {}{}}}", p.volatility, p.beta, more);
}
std::string words(const truth::sabr& p, const std::string& more = "") {
    return fmt::format("sabr: {{alpha: {}, beta: {}, rho: {}, nu: {}{}}}", p.alpha, p.beta, p.rho, p.nu,
                       more);
}

std::string call_at(double strike, double years) {
    return fmt::format("product: european, underlying: A, strike: {}, maturity: {}", strike, years);
}

void expect_met(const price_row& row, double truth, double allowed, const std::string& of) {
    ASSERT_EQ(row.status, trade_status::priced) << of << ": " << row.message;
    EXPECT_LE(std::abs(row.price - truth), limit * known_error(row) + allowed)
        << of << ": " << row.price << " +- " << row.standard_error << ", truth " << truth;
}

using draws = random_parameters;

// Checks the closed forms of tests against each other: a call falls one for one with a strike below the
// price, the absorbed probability is the slope of a call at 0, and both closed forms of SABR converge to
// CEV's and Bachelier's as nu vanishes.
TEST(sabr, the_truths_agree) {
    const truth::cev c{1, 0.3, 0.4, 5};
    EXPECT_NEAR(c.call(1e-12), 1, 1e-11);
    for (const double k : {0.01, 0.5, 1.0, 2.0}) {
        constexpr double h = 1e-4;
        EXPECT_NEAR((c.call(k - h) - c.call(k + h)) / (2 * h), c.above(k), 1e-6) << k;
        EXPECT_NEAR((truth::sabr{1, 0.3, 0.4, 0, 0.02, 5}.call(k)), c.call(k), 1e-4) << k;
    }
    const double deviation = 0.3 * std::sqrt(5), d = (1 - 0.7) / deviation;
    EXPECT_NEAR((truth::sabr{1, 0.3, 0, -0.2, 0.02, 5}.normal_call(0.7)),
                deviation * (d * truth::normal_cdf(d) + truth::normal_density(d)), 2e-3);
}

// 12 laws, two maturities, each with three calls and the probabilities of three levels including 0: 144
// comparisons, one false alarm in 1,000. The default steps miss a probability at or near 0 by up to 0.002,
// which falls with the step (see below), and a call by less than 0.0005 of the price at the money.
TEST(sabr, cev_is_the_noncentral_chi_squared_law) {
    draws d(1);
    std::uint64_t seed = 100;
    for (int i = 0; i < 12; ++i) {
        truth::cev of{d.between(0.5, 2), 0, d.between(0.05, 0.95), 0};
        of.volatility = d.between(0.1, 0.5) * std::pow(of.forward, 1 - of.beta);
        std::vector<std::string> trades;
        std::vector<double> truths, allowed;
        for (const double years : {0.5, 4.0}) {
            of.years = years;
            const double at_the_money = of.call(of.forward);
            for (const double share : {0.5, 1.0, 1.4}) {
                trades.push_back(call_at(share * of.forward, years));
                truths.push_back(of.call(share * of.forward));
                allowed.push_back(5e-4 * at_the_money);
            }
            for (const double share : {0.0, 0.05, 0.7}) {
                const double level = share * of.forward;
                trades.push_back(
                    fmt::format("product: not_above, underlying: A, level: {}, maturity: {}", level, years));
                truths.push_back(1 - of.above(level));
                allowed.push_back(share < 0.1 ? 2e-3 : 5e-4);
            }
        }
        const auto rows = price(market_of(words(of), of.forward), trades, 1 << 16, ++seed);
        for (std::size_t k = 0; k < rows.size(); ++k)
            expect_met(rows[k], truths[k], allowed[k], words(of) + "\n" + trades[k]);
    }
}

// Steps are so long that the errors show. Half the step leaves less than 0.6 of the error in the absorbed
// share (order 1), and less than 0.4 in the call. 4 comparisons: one false alarm in 37,000.
TEST(sabr, the_error_falls_with_the_step) {
    const truth::cev of{1, 0.25, 0.6, 10};
    const double absorbed = 1 - of.above(0);
    const auto misses = [&](const std::string& model, const std::string& trade, double truth) {
        const price_row row = price(market_of(model), {trade}, 1 << 20, 11).at(0);
        EXPECT_EQ(row.status, trade_status::priced) << row.message;
        return std::pair(row.price - truth, row.standard_error);
    };
    const std::string share = "product: not_above, underlying: A, level: 0, maturity: 10";
    // The truth by finite differences, to 1e-4 of an implied volatility.
    const truth::sabr moves{1, 0.25, 0.3, -0.8, 0.3, 10};
    const double call = truth::black(truth::side::call, 1, 1.2, 0.199360 * 0.199360 * 10, 1);
    std::pair<double, double> last_share, last_call;
    for (const char* steps : {"0.5", "1", "2"}) {
        const std::string more = fmt::format(", steps_per_year: {}", steps);
        const auto by_share = misses(words(of, more), share, absorbed);
        const auto by_call = misses(words(moves, more), call_at(1.2, 10), call);
        fmt::print("{} steps a year: absorbed {:.5f} +- {:.5f}, call {:.5f} +- {:.5f}\n", steps,
                   by_share.first, by_share.second, by_call.first, by_call.second);
        if (std::string(steps) != "0.5") {
            EXPECT_LE(std::abs(by_share.first), 0.6 * last_share.first + limit * by_share.second) << steps;
            EXPECT_LE(std::abs(by_call.first), 0.4 * last_call.first + limit * by_call.second + 1.3e-4)
                << steps;
        } else {
            EXPECT_GT(by_share.first, 20 * by_share.second) << "can this fail?";
            EXPECT_GT(by_call.first, 10 * by_call.second) << "can this fail?";
        }
        last_share = by_share, last_call = by_call;
    }
}

// 6 laws each of normal and lognormal SABR, two maturities, three calls: 72 comparisons, one false alarm in
// 2,000.
TEST(sabr, calls_are_those_of_the_closed_forms) {
    draws d(3);
    std::uint64_t seed = 300;
    for (const bool is_normal : {true, false}) {
        for (int i = 0; i < 6; ++i) {
            truth::sabr of{d.between(0.5, 2),
                           0,
                           is_normal ? 0 : d.between(0.1, 0.9),
                           is_normal ? d.between(-0.9, 0.9) : 0,
                           d.between(0.2, 0.9),
                           0};
            of.alpha = d.between(0.1, 0.4) * std::pow(of.forward, 1 - of.beta);
            std::vector<std::string> trades;
            std::vector<double> truths, allowed;
            for (const double years : {0.25, 2.0}) {
                of.years = years;
                const auto call = [&](double k) { return is_normal ? of.normal_call(k) : of.call(k); };
                for (const double share : {0.5, 1.0, 1.4}) {
                    trades.push_back(call_at(share * of.forward, years));
                    truths.push_back(call(share * of.forward));
                    allowed.push_back(1e-3 * call(of.forward));
                }
            }
            const auto rows = price(market_of(words(of), of.forward), trades, 1 << 16, ++seed);
            for (std::size_t k = 0; k < rows.size(); ++k)
                expect_met(rows[k], truths[k], allowed[k], words(of) + "\n" + trades[k]);
        }
    }
}

// Rates, a yield and a cash dividend stay outside of the model, which moves F, the part of the spot that does
// not pay future dividends. 12 comparisons, one false alarm in 12,000.
TEST(sabr, carry_stands_outside_of_the_power) {
    const double rate = 0.04, yield = 0.01, years = 2, cash = 0.1;
    for (const double beta : {0.0, 0.4, 1.0}) {
        for (const bool has_cash : {false, true}) {
            const double paid = has_cash ? cash * std::exp(-rate) : 0;  // discounted by the rate alone
            const double forward = 1.2 - paid * std::exp(yield), growth = std::exp((rate - yield) * years);
            const truth::cev of{forward, 0.2, beta, years};
            const std::string more =
                has_cash
                    ? fmt::format(", dividend_yield: {}, dividends: [{{date: 1.0, amount: {}}}]", yield, cash)
                    : fmt::format(", dividend_yield: {}", yield);
            const auto rows =
                price(market_of(words(of), 1.2, rate, more),
                      {call_at(1.1, years), "product: forward, underlying: A, maturity: 2"}, 1 << 16, 17);
            const double strike = 1.1 / growth, deviation = 0.2 * std::sqrt(years),
                         d = (forward - strike) / deviation;
            const double call = beta == 0 ? deviation * (d * truth::normal_cdf(d) + truth::normal_density(d))
                                : beta == 1
                                    ? truth::black(truth::side::call, forward, strike, 0.04 * years, 1)
                                    : of.call(strike);
            const double carried = growth * std::exp(-rate * years);
            expect_met(rows[0], carried * call, 1e-4, words(of) + more);
            expect_met(rows[1], carried * forward, 1e-9, words(of) + more);
        }
    }
}

// SABR with nu = 0 is CEV, and with beta = 1 as well the lognormal model: equal prices on the same shocks.
TEST(sabr, what_it_contains) {
    const std::vector<std::string> trades{
        call_at(0.8, 1), call_at(1.1, 1),
        "product: barrier, underlying: A, strike: 1, maturity: 1, direction: down, barrier: 0.8"};
    const auto of = [&](const std::string& market_text) {
        return price(market_text, trades, 1 << 14, 23, "double", tests::plain_paths());
    };
    for (const double beta : {0.0, 0.5, 1.0}) {
        const auto cev = of(market_of(words(truth::cev{1, 0.3, beta, 1})));
        const auto sabr = of(market_of(words(truth::sabr{1, 0.3, beta, -0.6, 0, 1})));
        for (std::size_t i = 0; i < trades.size(); ++i) {
            ASSERT_EQ(sabr[i].status, trade_status::priced) << sabr[i].message;
            expect_met(sabr[i], cev[i].price, limit * cev[i].standard_error, fmt::format("beta {}", beta));
        }
    }
    const auto power = of(market_of("cev: {volatility: 0.3, beta: 1}"));
    const auto plain = of(dollar_market(0, {{"A", "spot: 1, volatility: 0.3"}}));
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(power[i].price, plain[i].price, 1e-12);
    EXPECT_NEAR(power[2].price, plain[2].price, limit * plain[2].standard_error);
}

// 6 laws, 5 times and a path with many dates, in double and in single: at least 66 comparisons, one false
// alarm in 2,000.
TEST(sabr, the_asset_is_a_martingale) {
    const std::vector<double> times{0.01, 0.5, 1, 5, 20};
    std::uint64_t seed = 400;
    int thin = 0;
    for (const std::string model : {"cev: {volatility: 0.4, beta: 0.2}", "cev: {volatility: 0.3, beta: 0.9}",
                                    "sabr: {alpha: 0.3, beta: 0.4, rho: -0.9, nu: 0.4}",
                                    "sabr: {alpha: 0.2, beta: 0.7, rho: 0.8, nu: 0.3}",
                                    "sabr: {alpha: 0.3, beta: 0, rho: 0.5, nu: 0.3}",
                                    "sabr: {alpha: 0.2, beta: 1, rho: -0.7, nu: 0.5}"}) {
        std::vector<std::string> trades;
        for (const double t : times)
            trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", t));
        trades.emplace_back("product: late_forward, underlying: A, dates: {start: 0, end: 1, count: 100}");
        for (const char* precision : {"double", "single"}) {
            const auto rows =
                price(market_of(model), trades, 1 << 14, ++seed, precision, tests::plain_paths());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                // Few paths carry the mean of so large a volatility of volatility over 5 or 20 years: the
                // standard error of a row marked thin is meaningless.
                const bool may_be_thin = model.starts_with("sabr") && (i == 3 || i == 4);
                EXPECT_TRUE(may_be_thin || !rows[i].thin) << model << " " << trades[i] << " " << precision;
                if (rows[i].thin) {
                    ++thin;
                    continue;
                }
                expect_met(rows[i], 1, 1e-5, model + " " + trades[i] + " " + precision);
            }
        }
    }
    EXPECT_LE(thin, 6);
}

// A knock-out call by the equation F_t = 1/2 sigma^2 F^(2 beta) C_FF between `low` and `high`
// (Crank-Nicolson, after four implicit half steps).
double barrier_call(const truth::cev& of, double strike, double low, double high) {
    constexpr std::size_t cells = 800;
    constexpr int steps = 400;
    const double width = (high - low) / cells;
    std::vector<double> c(cells + 1), rate(cells + 1);
    for (std::size_t i = 0; i <= cells; ++i) {
        const double f = low + width * static_cast<double>(i),
                     v = of.volatility * std::pow(f, of.beta) / width;
        c[i] = i > 0 && i < cells ? std::max(f - strike, 0.0) : 0.0;
        rate[i] = 0.5 * v * v;
    }
    const auto solve = [&](double length, double implicit) {
        std::vector<double> upper(cells + 1), right(cells + 1);
        for (std::size_t i = 1; i < cells; ++i) {
            const double explicit_part = (1 - implicit) * length * rate[i] * (c[i - 1] - 2 * c[i] + c[i + 1]);
            const double off = -implicit * length * rate[i], pivot = 1 - 2 * off - off * upper[i - 1];
            upper[i] = off / pivot;
            right[i] = (c[i] + explicit_part - off * right[i - 1]) / pivot;
        }
        for (std::size_t i = cells - 1; i > 0; --i) c[i] = right[i] - upper[i] * c[i + 1];
    };
    const double length = of.years / steps;
    for (int i = 0; i < 4; ++i) solve(length / 2, 1);
    for (int i = 2; i < steps; ++i) solve(length, 0.5);
    const double at = (of.forward - low) / width;
    const auto cell = static_cast<std::size_t>(at);
    return c[cell] + (at - std::floor(at)) * (c[cell + 1] - c[cell]);
}

// Between two steps a monitored path is a bridge of constant variance, for which the allowance is 4e-4. 12
// comparisons, one false alarm in 12,000.
TEST(sabr, watched_paths_die_at_their_barriers) {
    for (const double beta : {0.0, 0.3, 0.6}) {
        const truth::cev of{1, 0.35, beta, 1};
        const double most = 5;  // too far to be reached
        const struct {
            const char* words;
            double low, high;
        } barriers[] = {{"barrier, direction: down, barrier: 0.7", 0.7, most},
                        {"barrier, direction: up, barrier: 1.6", beta == 0 ? -most : 0, 1.6},
                        {"double_barrier, lower: 0.6, upper: 1.8", 0.6, 1.8},
                        {"barrier, direction: down, barrier: 0.2", 0.2, most}};
        std::vector<std::string> trades;
        for (const auto& b : barriers) {
            trades.push_back(fmt::format("strike: 0.9, underlying: A, maturity: 1, product: {}", b.words));
        }
        const auto rows = price(market_of(words(of)), trades, 1 << 16, 31);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            expect_met(rows[i], barrier_call(of, 0.9, barriers[i].low, barriers[i].high), 4e-4,
                       words(of) + trades[i]);
        }
    }
}

TEST(sabr, nothing_is_below_zero) {
    const auto rows =
        price(market_of("cev: {volatility: 0.9, beta: 0.3}"),
              {"product: not_above, underlying: A, level: 0, maturity: 2",
               "product: not_above, underlying: A, level: -1e-9, maturity: 2",
               "product: one_touch, underlying: A, maturity: 2, direction: down, barrier: 0.001",
               "product: lookback, underlying: A, option: put, strike: 1, maturity: 2"},
              1 << 14, 37);
    for (const price_row& row : rows) ASSERT_EQ(row.status, trade_status::priced) << row.message;
    EXPECT_GT(rows[0].price, 0.2);
    EXPECT_EQ(rows[1].price, 0);
    EXPECT_GE(rows[2].price, rows[0].price);
    EXPECT_LE(rows[2].price, rows[0].price + 0.02);
    EXPECT_LE(rows[3].price, 1);
}

TEST(sabr, extremes) {
    for (const double spot : {1e-6, 1.0, 1e9}) {
        for (const double beta : {0.0, 0.01, 0.5, 0.99, 1.0}) {
            for (const double rho : {-0.999, 0.999, 1.0}) {
                for (const double nu : {0.0, 3.0}) {
                    const double alpha = 0.2 * std::pow(spot, 1 - beta);
                    const std::string model =
                        words(truth::sabr{spot, alpha, beta, rho, nu, 1}, ", steps_per_year: 4");
                    std::vector<std::string> trades;
                    for (const double years : {1.0 / 365, 1.0, 50.0}) trades.push_back(call_at(spot, years));
                    trades.push_back(
                        fmt::format("product: barrier, underlying: A, strike: {}, maturity: 0.1, "
                                    "direction: down, barrier: {}",
                                    spot, 0.9 * spot));
                    for (const char* precision : {"double", "single"}) {
                        for (const price_row& row :
                             price(market_of(model, spot, -0.01), trades, 512, 41, precision)) {
                            ASSERT_EQ(row.status, trade_status::priced) << model << row.message;
                            EXPECT_TRUE(is_sound(row)) << model;
                        }
                    }
                }
            }
        }
    }
    for (const char* model :
         {"cev: {volatility: 1e9, beta: 0.5}", "cev: {volatility: 0, beta: 0.5}",
          "sabr: {alpha: 0, beta: 0.5, rho: 0, nu: 1}", "cev: {volatility: 0.2, beta: 0}"}) {
        const price_row row = price(market_of(model), {call_at(0.5, 1)}, 512, 41).at(0);
        ASSERT_EQ(row.status, trade_status::priced) << model << row.message;
        EXPECT_TRUE(std::isfinite(row.price)) << model;
    }
}

TEST(sabr, refuses_what_it_cannot_be) {
    const struct {
        const char* model;
        std::vector<std::string> expected;
    } bad[] = {
        {"cev: {volatility: 0.2, beta: 1.5}", {"market", "1.5", "between 0 and 1"}},
        {"cev: {volatility: 0.2, beta: 0.001}", {"market", "0.001", "expected 0, which is normal", "0.01"}},
        {"cev: {volatility: -1, beta: 0.5}", {"market", "-1", "between 0 and"}},
        {"cev: {alpha: 1, beta: 0.5}", {"market", "alpha", "volatility"}},
        {"sabr: {alpha: 1, beta: 0.5, rho: -1.1, nu: 0.1}", {"market", "-1.1", "between -1 and 1"}},
        {"sabr: {alpha: 1, beta: 0.5, rho: 0}", {"market", "nu"}},
    };
    for (const auto& b : bad) {
        try {
            market::parse(market_of(b.model), "market");
            ADD_FAILURE() << b.model;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input);
            for (const std::string& part : b.expected)
                EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << b.model << "\n" << e.what();
        }
    }
}

}  // namespace
}  // namespace tilewalk::sabr_test
