// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Local volatility: the implied surface is recovered, published prices are met, and rules for any model hold.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/numerics/black.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tests/svi_smiles.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::local_volatility_test {
namespace {

using tests::smiles;
using tests::svi;
using tests::svi_surface;

// A sound engine with new random numbers misses one comparison at 4.5 standard errors once in 150,000 times.
constexpr double limit = 4.5;

std::string market_of(const std::string& local, double spot, double rate, double flat,
                      const std::string& more = "") {
    return fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {1}}}}}\nassets:\n"
        "  A: {{currency: USD, spot: {0}, model: {{local_volatility: {{{2}}}}}{4}}}\n"
        "  B: {{currency: USD, spot: {0}, volatility: {3}}}\ncorrelations: [[A, B, 1]]\n",
        spot, rate, local, flat, more);
}

results priced(const std::string& market_text, const std::string& trades, std::uint64_t paths,
               std::uint64_t seed = 1) {
    run_options options = tests::plain_paths();
    options.overrides.paths = paths;
    options.overrides.seed = seed;
    options.overrides.random = "sobol";
    options.overrides.construction = construction::bridge;
    return engine().price(book::parse("products:\n" + tests::beside_product + "trades:\n" + trades),
                          market::parse(market_text), options);
}

struct reading {
    double basis_points = 0, error = 0;  // implied volatility less the surface's
};

reading read_back(double years, const svi& smile, double deviations, const std::string& more,
                  std::uint64_t paths) {
    constexpr double rate = 0.02, spot = 100;
    const double forward = spot * std::exp(rate * years), middle = std::sqrt(smile.variance(0));
    const double x = deviations * middle, strike = forward * std::exp(x);
    const double truth = std::sqrt(smile.variance(x) / years), flat = truth;
    const bool call = x >= 0;
    const auto got =
        priced(market_of(svi_surface() + more, spot, rate, flat),
               fmt::format("  - {{id: t, product: beside, one: A, other: B, option: {}, strike: {}, "
                           "maturity: {}}}\n",
                           call ? "call" : "put", strike, years),
               paths);
    const price_row& row = got.rows.at(0);
    EXPECT_EQ(row.status, trade_status::priced) << row.message;
    const double vega = std::exp(-rate * years) * analytics::black_vega(forward, strike, truth, years);
    return {1e4 * row.price / vega, 1e4 * row.standard_error / vega};
}

// Prices give the implied surface back within 2 basis points of volatility, for three maturities and seven
// strikes up to two standard deviations from the forward.
TEST(local_volatility, gives_the_implied_surface_back) {
    double worst = 0;
    for (const auto& [years, smile] : smiles) {
        if (years == 0.5) continue;
        for (const double deviations : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5}) {
            const reading r = read_back(years, smile, deviations, "", 1 << 18);
            fmt::print("{} years, {:4} deviations: {:6.2f} basis points +- {:.2f}\n", years, deviations,
                       r.basis_points, r.error);
            EXPECT_LE(std::abs(r.basis_points), 2 + limit * r.error) << years << " years, " << deviations;
            worst = std::max(worst, std::abs(r.basis_points));
        }
    }
    fmt::print("worst {:.2f} basis points\n", worst);
}

// Half a deviation above the forward, where Euler's bias is largest, half the step leaves half of Euler's
// error. The other scheme is at once as good as Euler with many more steps.
TEST(local_volatility, schemes_have_their_orders) {
    const auto& [years, smile] = smiles.front();
    const auto at = [&](const char* scheme, int steps) {
        const reading r = read_back(years, smile, 0.5,
                                    fmt::format(", scheme: {}, steps_per_year: {}", scheme, steps), 1 << 18);
        fmt::print("{}, {} steps a year: {:6.2f} basis points +- {:.2f}\n", scheme, steps, r.basis_points,
                   r.error);
        return r;
    };
    const reading coarse = at("euler", 100), middle = at("euler", 200), fine = at("euler", 400);
    EXPECT_GT(coarse.basis_points, 10 * coarse.error) << "can this fail?";
    EXPECT_LE(std::abs(middle.basis_points - coarse.basis_points / 2),
              1 + limit * std::hypot(middle.error, coarse.error));
    EXPECT_LE(std::abs(fine.basis_points - middle.basis_points / 2),
              1 + limit * std::hypot(fine.error, middle.error));
    const reading second = at("second_order", 100);
    EXPECT_LE(std::abs(second.basis_points), coarse.basis_points / 6 + limit * second.error);
}

// sigma(S, t) = 0.15 + 0.15 (0.5 + 2 t) (S / 100 - 1.2)^2 / ((S / 100)^2 + 1.44), and an implied surface in
// closed form: L. von Sydow et al., BENCHOP, Int. J. Computer Mathematics 92(12), 2015, problem 3.
TEST(local_volatility, meets_published_prices) {
    std::string times, spots, rows;
    for (double t = 0; t <= 1.0001; t += 0.05) {
        times += fmt::format("{}{:.2f}", times.empty() ? "" : ", ", t);
        std::string row;
        for (double s = 20; s <= 300.1; s += 1) {
            const double m = s / 100,
                         v = 0.15 + 0.15 * (0.5 + 2 * t) * (m - 1.2) * (m - 1.2) / (m * m + 1.44);
            row += fmt::format("{}{:.9f}", row.empty() ? "" : ", ", v);
        }
        rows += (rows.empty() ? "[" : ", [") + row + "]";
    }
    for (double s = 20; s <= 300.1; s += 1) spots += fmt::format("{}{}", spots.empty() ? "" : ", ", s);
    const std::string local = "surface: {local: {times: [" + times + "], spots: [" + spots +
                              "], volatilities: [" + rows + "]}}, points: 256";
    const struct { double spot, price; } given[] = {{90, 2.95516741719}, {100, 7.6421703102}};
    for (const auto& g : given) {
        const auto got = priced(
            market_of(local, g.spot, 0.03, 0.15),
            "  - {id: t, product: european, underlying: A, option: call, strike: 100, maturity: 1.0}\n",
            1 << 19);
        const price_row& row = got.rows.at(0);
        fmt::print("spot {}: {} +- {}, published {}\n", g.spot, row.price, row.standard_error, g.price);
        EXPECT_LE(std::abs(row.price - g.price), limit * row.standard_error + 6e-5) << row.message;
    }

    std::string slices;
    for (double t = 0.02; t <= 0.6001; t += 0.02) {
        const double root = std::sqrt(t), r = 0.06 * (1 - 0.87 * root), l = 0.31 * (1 - 0.7 * root),
                     a = 0.01 + 0.03 * std::sqrt(t + 0.04), c = (r + l) / 2, b = (r - l) / 2,
                     q = 0.15 * (0.4 + 0.6 * std::sqrt(t + 0.04)), m = 0.03 + 0.01 * t;
        slices += fmt::format("{}{:.2f}: {{a: {}, b: {}, rho: {}, m: {}, sigma: {}}}",
                              slices.empty() ? "" : ", ", t, a * t, c * t, b / c, m, q);
    }
    const struct {
        double spot, price;
    } implied[] = {{90, 2.14329875736}, {100, 6.87396024338}, {110, 14.2982459745}};
    for (const auto& g : implied) {
        const auto got = priced(
            market_of("surface: {svi: {" + slices + "}, arbitrage: repair}, points: 256", g.spot, 0.03, 0.15),
            "  - {id: t, product: european, underlying: A, option: call, strike: 100, maturity: 0.5}\n",
            1 << 19);
        const price_row& row = got.rows.at(0);
        fmt::print("spot {}: {} +- {}, published {}\n", g.spot, row.price, row.standard_error, g.price);
        EXPECT_LE(std::abs(row.price - g.price), limit * row.standard_error + 1e-3) << row.message;
    }
}

TEST(local_volatility, a_flat_surface_is_black_and_scholes) {
    const std::string flat =
        "surface: {by_strike: {0.5: {80: 0.2, 100: 0.2, 120: 0.2}, 1.0: {80: 0.2, 100: 0.2, 120: 0.2}}}";
    const auto got =
        priced(market_of(flat, 100, 0.02, 0.2),
               "  - {id: t, product: beside, one: A, other: B, option: call, strike: 100, maturity: 1.0}\n",
               1 << 12);
    EXPECT_EQ(got.rows.at(0).status, trade_status::priced) << got.rows.at(0).message;
    EXPECT_NEAR(got.rows.at(0).price, 0, 1e-9);
}

// Sixteen comparisons: one false alarm in 9,000.
TEST(local_volatility, the_discounted_asset_is_a_martingale) {
    std::string trades;
    std::vector<double> dates{0.004, 0.1, 0.25, 0.5, 1.0, 1.7, 3.0, 10.0};
    for (const double t : dates) {
        trades += fmt::format(
            "  - {{id: t{0}, product: european, underlying: A, option: call, strike: 1e-6, maturity: {0}}}\n",
            t);
    }
    for (const char* precision : {"double", "single"}) {
        run_options options;
        options.overrides.paths = 1 << 15;
        options.overrides.precision = tests::named{precision};
        const auto got =
            engine().price(book::parse("products:\n" + tests::beside_product + "trades:\n" + trades),
                           market::parse(market_of(svi_surface(), 100, 0.02, 0.2)), options);
        for (const price_row& row : got.rows) {
            ASSERT_EQ(row.status, trade_status::priced) << row.message;
            EXPECT_LE(std::abs(row.price - 100), limit * row.standard_error + 1e-3)
                << row.trade << " " << precision;
        }
    }
}

TEST(local_volatility, can_be_watched) {
    const auto price = [](double steps) {
        return priced(
                   market_of(svi_surface() + fmt::format(", steps_per_year: {}", steps), 100, 0.02, 0.2),
                   "  - {id: t, product: barrier, underlying: A, option: call, strike: 100, maturity: 1.0, "
                   "direction: up, kind: knock_out, barrier: 125}\n",
                   1 << 17)
            .rows.at(0);
    };
    const price_row coarse = price(50), fine = price(400);
    ASSERT_EQ(coarse.status, trade_status::priced) << coarse.message;
    EXPECT_LE(std::abs(coarse.price - fine.price),
              limit * std::hypot(coarse.standard_error, fine.standard_error));
    EXPECT_GT(fine.price, 0.5);
}

TEST(local_volatility, complaints_say_what_and_where) {
    const struct {
        const char* local;
        std::vector<std::string> expected;
    } bad[] = {
        {"surface: {by_strike: {1.0: {90: 0.2, 100: 0.9, 110: 0.2}}}", {"market:4", "arbitrage"}},
        {"surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: -1.2, m: 0, sigma: 0.2}}}",
         {"market:4", "rho", "-1.2"}},
        {"surface: {by_strik: {}}", {"market:4", "by_strik", "by_strike"}},
        {"points: 100", {"surface"}},
        {"surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: -0.2, m: 0, sigma: 0.2}}}, points: 1",
         {"points", "1", "between 2 and 4096"}},
        {"surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: -0.2, m: 0, sigma: 0.2}}}, points: 2.5",
         {"2.5", "whole number"}},
        {"surface: {svi: {1.0: {a: 0.02, b: 0.1, rho: -0.2, m: 0, sigma: 0.2}}}, steps: 5",
         {"steps", "steps_per_year"}},
    };
    for (const auto& b : bad) {
        try {
            market::parse(market_of(b.local, 100, 0.02, 0.2), "market");
            ADD_FAILURE() << b.local;
        } catch (const error& e) {
            for (const std::string& part : b.expected)
                EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << b.local << "\n" << e.what();
        }
    }
    // A surface by strike is refused beside cash dividends: the asset's random part has no strikes.
    EXPECT_THROW(market::parse(market_of("surface: {by_strike: {1.0: {90: 0.2, 100: 0.2, 110: 0.2}}}", 100,
                                         0.02, 0.2, ", dividends: [{date: 2026-06-01, amount: 1}]")),
                 error);
    EXPECT_NO_THROW(market::parse(market_of("surface: {by_moneyness: {1.0: {0.9: 0.2, 1: 0.2, 1.1: 0.2}}}",
                                            100, 0.02, 0.2, ", dividends: [{date: 2026-06-01, amount: 1}]")));
}

TEST(local_volatility, a_repaired_surface_says_so) {
    const std::string bent = "surface: {by_strike: {1.0: {90: 0.2, 100: 0.9, 110: 0.2}}, arbitrage: repair}";
    const auto plans = engine().explain(
        book::parse(
            "trades: [{id: t, product: european, underlying: A, option: call, strike: 100, maturity: 1.0}]"),
        market::parse(market_of(bent, 100, 0.02, 0.2), "market"));
    ASSERT_GE(plans.at(0).models.size(), 2U);
    EXPECT_NE(plans.at(0).models.at(1).find("arbitrage at market:4"), std::string::npos)
        << plans.at(0).models.at(1);
}

}  // namespace
}  // namespace tilewalk::local_volatility_test
