// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Stochastic local volatility: the implied surface is recovered, the two limits are its component models, and
// rules for any model hold.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/models/local/leverage.h"
#include "engine/numerics/black.h"
#include "engine/numerics/characteristic.h"
#include "engine/numerics/price.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/svi_smiles.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::stochastic_local_volatility_test {
namespace {

using tests::dollar_market;
using tests::product_in_words;
using tests::smiles;
using tests::svi;
using tests::svi_surface;

const std::string own_products =
    "products:\n" + forward_product +
    product_in_words(
        "forward_start_beside", "A call on what one asset makes of a later price, less the same of another.",
        "one: asset, other: asset, fixing: date, maturity: date",
        "level = 1\n"
        "other_level = 1\n"
        "on fixing:\n"
        "    level = spot(one)\n"
        "    other_level = spot(other)\n"
        "on maturity:\n"
        "    pay 100 * max(spot(one) / level - 1, 0) - 100 * max(spot(other) / other_level - 1, 0)\n") +
    tests::beside_product;

constexpr double rate = 0.02, spot = 100;

std::string market_of(const std::string& moves, double flat = 0.2) {
    return dollar_market(rate,
                         {{"A", fmt::format("spot: {}, {}", spot, moves)},
                          {"B", fmt::format("spot: {}, volatility: {}", spot, flat)}},
                         "correlations: [[A, B, 1]]");
}

std::vector<price_row> price(const std::string& market_text, const std::vector<std::string>& trades,
                             std::uint64_t paths, std::uint64_t seed = 1,
                             const std::string& precision = "double") {
    return priced(own_products, market_text, trades, paths, seed, precision);
}

const std::string usual_heston = "heston: {v0: 0.03, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}";

std::string leveraged(const std::string& surface, const std::string& heston, const std::string& more = "") {
    return "model: {stochastic_local_volatility: {" + surface + ", " + heston + more + "}}";
}

struct reading {
    double basis_points = 0, error = 0;  // implied volatility less the surface's
};

std::vector<reading> read_back(double years, const svi& smile, const std::vector<double>& deviations,
                               const std::string& moves, std::uint64_t paths) {
    const double forward = spot * std::exp(rate * years), middle = std::sqrt(smile.variance(0));
    std::vector<std::string> trades;
    for (const double d : deviations) {
        trades.push_back(
            fmt::format("product: beside, one: A, other: B, option: {}, strike: {}, maturity: {}",
                        d >= 0 ? "call" : "put", forward * std::exp(d * middle), years));
    }
    const double flat = middle / std::sqrt(years);
    const auto rows = price(market_of(moves, flat), trades, paths);
    std::vector<reading> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        const double x = deviations[i] * middle, strike = forward * std::exp(x);
        const double truth = std::sqrt(smile.variance(x) / years);
        const auto side = deviations[i] >= 0 ? analytics::right::call : analytics::right::put;
        const double discount = std::exp(-rate * years);
        const double known = discount * analytics::black_price(side, forward, strike, middle);
        const double should =
            discount * analytics::black_price(side, forward, strike, truth * std::sqrt(years));
        const double vega = discount * analytics::black_vega(forward, strike, truth, years);
        out.push_back({1e4 * (rows[i].price + known - should) / vega, 1e4 * rows[i].standard_error / vega});
    }
    return out;
}

markets::local_volatility local_of_smiles() {
    std::vector<markets::expiry> expiries;
    for (const auto& [years, s] : smiles)
        expiries.push_back(markets::expiry::from_svi(years, {s.a, s.b, s.rho, s.m, s.sigma}));
    return markets::local_volatility::of_surface(
        markets::implied_surface(markets::implied_surface::written_by::svi, std::move(expiries)));
}
models::heston_parameters heston_of(double sigma, double rho) {
    models::heston_parameters p;
    p.v0 = 0.03;
    p.kappa = models::by_term::flat(1.5);
    p.theta = models::by_term::flat(0.05);
    p.sigma = models::by_term::flat(sigma);
    p.rho = models::by_term::flat(rho);
    return p;
}

std::string two_assets(const std::string& first, const std::string& second, double rho, bool both_vary) {
    std::string more = fmt::format(", [A.variance, B, {}]", rho);
    if (both_vary) more += fmt::format(", [B.variance, A, {}], [A.variance, B.variance, 1]", rho);
    return dollar_market(
        rate,
        {{"A", fmt::format("spot: {}, {}", spot, first)}, {"B", fmt::format("spot: {}, {}", spot, second)}},
        "correlations: [[A, B, 1]" + more + "]");
}

std::string beside(double strike, double years) {
    return fmt::format("product: beside, one: A, other: B, option: {}, strike: {}, maturity: {}",
                       strike < spot ? "put" : "call", strike, years);
}

// The noise of 16,384 particles in an implied volatility, as `particles_are_noise` measures it.
constexpr double noise = 2.5;

// Prices 6 options on paths other than those of the particles. Implied volatilities may differ from the
// surface by 2 basis points, for the error of 0.01-year steps, plus 4.5 standard deviations of the noise that
// particles and paths make together.
TEST(stochastic_local_volatility, gives_the_implied_surface_back) {
    const std::vector<double> deviations{-1.0, 0.0, 1.0};
    for (const std::size_t expiry : {0U, 2U}) {
        const auto& [years, smile] = smiles[expiry];
        const auto got = read_back(years, smile, deviations, leveraged(svi_surface(), usual_heston), 1 << 19);
        for (std::size_t i = 0; i < got.size(); ++i) {
            fmt::print("{} years, {:4} deviations: {:6.2f} basis points +- {:.2f}\n", years, deviations[i],
                       got[i].basis_points, got[i].error);
            EXPECT_LE(std::abs(got[i].basis_points), 2 + limit * std::hypot(noise, got[i].error))
                << years << " years, " << deviations[i];
        }
    }
}

TEST(stochastic_local_volatility, particles_are_noise) {
    const auto with = [](int particles) {
        return leveraged(svi_surface(), usual_heston, fmt::format(", particles: {}", particles));
    };
    const struct {
        double strike, years;
    } options[] = {{92, 0.25}, {100, 0.25}, {108, 0.25}, {85, 1}, {100, 1}, {115, 1}};
    std::vector<std::string> trades;
    for (const auto& o : options) trades.push_back(beside(o.strike, o.years));
    double sum = 0;
    const auto rows = price(two_assets(with(16'000), with(16'900), -0.7, true), trades, 1 << 13);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        const auto& [strike, years] = options[i];
        const double vega = std::exp(-rate * years) *
                            analytics::black_vega(spot * std::exp(rate * years), strike, 0.18, years);
        const double off = 1e4 * rows[i].price / vega, error = 1e4 * rows[i].standard_error / vega;
        fmt::print("strike {} in {} years: {:.2f} +- {:.2f} basis points\n", strike, years, off, error);
        EXPECT_LE(std::abs(off), limit * std::hypot(noise * std::sqrt(2), error));
        sum += off * off / 2;
    }
    fmt::print("noise: {:.2f} basis points\n", std::sqrt(sum / static_cast<double>(rows.size())));
}

// With `mixing: 0` the variance has no volatility, and the leverage makes up for its mean exactly. 3
// comparisons on common paths; integrating a step's variance by its ends leaves about 1e-5 of the price.
TEST(stochastic_local_volatility, without_mixing_is_local_volatility) {
    const auto rows = price(two_assets(leveraged(svi_surface(), usual_heston, ", mixing: 0, particles: 256"),
                                       "model: {local_volatility: {" + svi_surface() + "}}", -0.7, false),
                            {beside(90, 0.25), beside(100, 1), beside(120, 1)}, 1 << 14);
    for (const price_row& row : rows) {
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        EXPECT_LE(std::abs(row.price), 2e-4 + limit * known_error(row)) << row.trade;
    }
}

// On Heston's own surface the leverage has nothing to correct, for a forward start either. On common paths
// prices are off by up to 0.016, 4 basis points of volatility: from particles, a surface with expiries a few
// weeks apart, and both schemes.
TEST(stochastic_local_volatility, of_its_own_surface_is_heston) {
    const fourier::heston p{0.04, 1.5, 0.05, 0.4, -0.6};
    std::string surface;
    for (double years = 0.05; years < 1.31; years += years < 0.3 ? 0.05 : 0.1) {
        std::string quotes;
        const double wide = std::sqrt(0.045 * years);
        for (double d = -4; d < 3.1; d += 0.25) {
            const double k = std::exp(d * wide);
            const auto made = fourier::vanilla(characteristic_of(p, years), k);
            const auto side = k < 1 ? analytics::right::put : analytics::right::call;
            quotes +=
                fmt::format("{}{:.12f}: {:.12f}", quotes.empty() ? "" : ", ", k,
                            analytics::implied_volatility(side, 1, k, years, k < 1 ? made.put : made.call));
        }
        surface += fmt::format("{}{:.2f}: {{{}}}", surface.empty() ? "" : ", ", years, quotes);
    }
    const std::string words = "heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.4, rho: -0.6}";
    const auto rows =
        price(two_assets(leveraged("surface: {by_moneyness: {" + surface + "}, arbitrage: repair}", words),
                         "model: {" + words + "}", -0.6, true),
              {beside(90, 0.5), beside(100, 0.5), beside(110, 0.5), beside(85, 1), beside(100, 1),
               beside(115, 1), "product: forward_start_beside, one: A, other: B, fixing: 0.5, maturity: 1.0"},
              1 << 16);
    for (const price_row& row : rows) {
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        EXPECT_LE(std::abs(row.price), 0.025 + limit * known_error(row)) << row.trade;
    }
}

// Options priced on the particles themselves, as the mean of three draws with a noise of 0.8 basis points: a
// quarter of the step leaves less than an eighth of the error, where order 1 would leave a quarter.
TEST(stochastic_local_volatility, the_weak_order) {
    const auto worst = [&](double steps) {
        std::vector<double> sums(3);
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            models::leverage l(local_of_smiles(), heston_of(0.6, -0.7), {1 << 16, steps, seed});
            const auto all = l.differences(0.25);
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += 1e4 * all.at(i).volatility / 3;
        }
        fmt::print("{} steps a year: {:.2f}, {:.2f} and {:.2f} basis points\n", steps, sums[0], sums[1],
                   sums[2]);
        return std::max({std::abs(sums[0]), std::abs(sums[1]), std::abs(sums[2])});
    };
    const double coarse = worst(25), fine = worst(100);
    EXPECT_GT(coarse, 30) << "can this fail?";
    EXPECT_LE(fine, coarse / 8 + limit * 0.8);
}

TEST(stochastic_local_volatility, the_leverage_makes_up_for_the_mean_variance) {
    const markets::local_volatility local = local_of_smiles();
    models::leverage of(local, heston_of(0.6, -0.7), {1024, 50});
    constexpr double from = 0.5, to = 0.52;
    const models::step_table lever = of.table(from, to, 9);
    std::vector<double> volatility(lever.numbers.size());
    local.table(from, to, lever.low, lever.high, volatility);
    const double width = (lever.high - lever.low) / 8;
    double least = 1, most = 0;
    for (std::size_t i = 0; i < volatility.size(); ++i) {
        const double x = lever.low + width * static_cast<double>(i);
        const double mean = (of.mean_variance(from, x) + of.mean_variance(to, x)) / 2;
        EXPECT_NEAR(lever.numbers[i] * std::sqrt(mean), volatility[i], 1e-12) << x;
        least = std::min(least, mean);
        most = std::max(most, mean);
    }
    EXPECT_GT(most, 1.5 * least) << "where the asset is tells of its variance";
}

TEST(stochastic_local_volatility, the_leverage_depends_on_the_market_alone) {
    const auto fresh = [] { return models::leverage(local_of_smiles(), heston_of(0.6, -0.7), {1024, 50}); };
    auto at_once = fresh(), in_turn = fresh();
    const auto expected = at_once.table(0.5, 0.52, 20);
    in_turn.table(0.02, 0.03, 20);
    in_turn.mean_variance(0.3, 0.1);
    EXPECT_EQ(in_turn.table(0.5, 0.52, 20).numbers, expected.numbers);
    in_turn.table(1.5, 1.6, 20);
    EXPECT_EQ(in_turn.table(0.5, 0.52, 20).numbers, expected.numbers);
    auto shared = fresh();
    std::vector<std::vector<double>> got(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < got.size(); ++i) {
            threads.emplace_back([&, i] {
                shared.table(0.1 * static_cast<double>(i), 0.1 * static_cast<double>(i) + 0.05, 20);
                got[i] = shared.table(0.5, 0.52, 20).numbers;
            });
        }
    }
    for (const auto& numbers : got) EXPECT_EQ(numbers, expected.numbers);
    for (const double l : expected.numbers) EXPECT_GT(l, 0.1);
}

// 5 dates, 4 models, in double and in single: 40 comparisons, one false alarm in 3,700.
TEST(stochastic_local_volatility, the_discounted_asset_is_a_martingale) {
    const std::vector<double> dates{0.004, 0.1, 0.5, 1.0, 3.0};
    std::vector<std::string> trades;
    for (const double t : dates)
        trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", t));
    std::uint64_t seed = 500;
    for (const std::string& heston :
         {std::string(usual_heston),
          std::string("heston: {v0: 0.03, kappa: 1.5, theta: 0.05, sigma: 1, rho: -0.9}"),
          std::string("heston: {v0: 0.03, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: 0.5}"),
          std::string(
              "heston: {v0: 0.09, kappa: {0.5: 1, 2: 4}, theta: {0.3: 0.1, 1: 0.03}, sigma: 0.5, rho: "
              "{1: -0.3, 2: -0.8}}")}) {
        const std::string market =
            market_of(leveraged(svi_surface(), heston, ", particles: 2048, steps_per_year: 50"));
        for (const char* precision : {"double", "single"}) {
            const auto rows = price(market, trades, 1 << 15, ++seed, precision);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
                EXPECT_LE(std::abs(rows[i].price - spot), limit * rows[i].standard_error + 1e-3)
                    << heston << " " << trades[i] << " " << precision << ": " << rows[i].price << " +- "
                    << rows[i].standard_error;
            }
        }
    }
}

TEST(stochastic_local_volatility, survives_extremes) {
    const struct {
        const char* heston;
        double rate, spot, years;
    } cases[] = {
        {"{v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 3, rho: -0.999}", 0.02, 100, 1},
        {"{v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 3, rho: 0.999}", 0.02, 100, 1},
        {"{v0: 0.04, kappa: 0, theta: 0.04, sigma: 1, rho: -0.7}", -0.03, 1e-6, 2},
        {"{v0: 0.04, kappa: 0, theta: 0, sigma: 0, rho: 1}", 0.02, 1e9, 1},
        {"{v0: 25, kappa: 100, theta: 0.01, sigma: 20, rho: 1}", 0.02, 100, 1},
        {"{v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.6, rho: -0.7}", 0.02, 100, 0.00274},
        {"{v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.6, rho: -0.7}", 0.02, 100, 50},
    };
    for (const auto& c : cases) {
        const std::string market = dollar_market(
            c.rate, {{"A", fmt::format("spot: {}, {}", c.spot,
                                       leveraged(svi_surface(), fmt::format("heston: {}", c.heston),
                                                 ", particles: 512, steps_per_year: 10"))}});
        for (const char* precision : {"double", "single"}) {
            const auto rows =
                price(market,
                      {fmt::format("product: european, underlying: A, option: call, strike: {}, "
                                   "maturity: {}",
                                   c.spot, c.years)},
                      1 << 12, 1, precision);
            ASSERT_EQ(rows[0].status, trade_status::priced) << c.heston << ": " << rows[0].message;
            EXPECT_TRUE(is_sound(rows[0])) << c.heston;
            EXPECT_GT(rows[0].price, 0) << c.heston << " " << c.years;
        }
    }
}

TEST(stochastic_local_volatility, complaints_say_what_and_where) {
    const std::string surface = "surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: -0.2, m: 0, sigma: 0.2}}}";
    const auto with = [&](const std::string& heston, const std::string& more = "") {
        return leveraged(surface, heston, more);
    };
    const struct {
        std::string moves;
        std::vector<std::string> expected;
    } bad[] = {
        {leveraged("surface: {by_strike: {1.0: {90: 0.2, 100: 0.9, 110: 0.2}}}", usual_heston),
         {"market:4", "arbitrage"}},
        {with("heston: 3"), {"market:4", "heston", "expected the variance"}},
        {with("heston: {v0: 0, kappa: 1, theta: 0.04, sigma: 1, rho: 0}"), {"market:4", "v0", "0", "1e-08"}},
        {with("heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 1, rho: -1.2}"), {"market:4", "rho", "-1.2"}},
        {with("heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 1, rho: 0, scheme: full_truncation}"),
         {"market:4", "scheme"}},
        {with(usual_heston, ", mixing: 1.5"), {"market:4", "mixing", "1.5", "between 0 and 1"}},
        {with(usual_heston, ", particles: 100"), {"market:4", "particles", "100", "between 256 and 1048576"}},
        {with(usual_heston, ", particles: 300.5"), {"market:4", "300.5", "whole number"}},
        {with(usual_heston, ", mixng: 0.5"), {"market:4", "mixng", "mixing"}},
        {"model: {stochastic_local_volatility: {" + surface + "}}", {"market:4", "heston"}},
    };
    for (const auto& b : bad) {
        try {
            market::parse(market_of(b.moves), "market");
            ADD_FAILURE() << b.moves;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input);
            for (const std::string& part : b.expected)
                EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << b.moves << "\n" << e.what();
        }
    }
}

TEST(stochastic_local_volatility, a_variance_that_is_gone_is_refused) {
    const auto rows = price(
        market_of(leveraged(svi_surface(),
                            "heston: {v0: 0.04, kappa: {1: 0, 2: 100}, theta: 0, sigma: 0.5, rho: -1}",
                            ", particles: 512")),
        {"product: forward, underlying: A, maturity: 1", "product: forward, underlying: A, maturity: 2"},
        256);
    EXPECT_EQ(rows[0].status, trade_status::priced) << rows[0].message;
    EXPECT_EQ(rows[1].status, trade_status::failed);
    for (const char* part : {"mean variance of 'A'", "2 years", "theta"})
        EXPECT_NE(rows[1].message.find(part), std::string::npos) << rows[1].message;
    EXPECT_EQ(rows[1].where.line, 4);
}

TEST(stochastic_local_volatility, says_what_it_has_reached) {
    const auto plans = engine().explain(
        book::parse(
            "trades: [{id: t, product: european, underlying: A, option: call, strike: 100, maturity: 1.0}]"),
        market::parse(market_of(leveraged(svi_surface(), usual_heston, ", particles: 1000, mixing: 0.5"))));
    ASSERT_EQ(plans.at(0).models.size(), 2U);
    for (const char* part : {"1000 particles", "a mixing of 0.5", "at least 100 steps a year"})
        EXPECT_NE(plans[0].models[0].find(part), std::string::npos) << plans[0].models[0];
    EXPECT_NE(plans[0].models[1].find("basis points of volatility (at "), std::string::npos)
        << plans[0].models[1];
}

}  // namespace
}  // namespace tilewalk::stochastic_local_volatility_test
