// SPDX-License-Identifier: Apache-2.0
// Assets under stochastic local volatility: the implied surface comes back, its two limits are the models
// that it is made of, and what must hold of any model holds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/fourier/characteristic.h"
#include "engine/fourier/price.h"
#include "engine/market/black.h"
#include "engine/models/leverage.h"
#include "tests/model_market.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {
namespace {

// The asset under test beside a lognormal one that the same noise drives, so that the difference of two
// options, one of them known, has a small error.
const std::string own_products = R"(
products:
  - product: forward
    summary: The price on a date.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
    example: {underlying: A, maturity: 1.0}
    script: |
      on maturity:
          pay spot(underlying)
  - product: forward_start_beside
    summary: A call on what one asset makes of a later price, less the same of another.
    parameters:
      one: {type: asset, help: The one.}
      other: {type: asset, help: The other.}
      fixing: {type: date, help: The day of the strike.}
      maturity: {type: date, help: The day.}
    example: {one: A, other: B, fixing: 0.5, maturity: 1.0}
    script: |
      level = 1
      other_level = 1
      on fixing:
          level = spot(one)
          other_level = spot(other)
      on maturity:
          pay 100 * max(spot(one) / level - 1, 0) - 100 * max(spot(other) / other_level - 1, 0)
  - product: beside
    summary: An option on one asset less the same on another.
    parameters:
      one: {type: asset, help: The one.}
      other: {type: asset, help: The other.}
      option: {type: choice, choices: [call, put], help: Which.}
      strike: {type: amount, help: The strike.}
      maturity: {type: date, help: The day.}
    example: {one: A, other: B, option: call, strike: 100, maturity: 1.0}
    script: |
      on maturity:
          if option == call:
              pay max(spot(one) - strike, 0) - max(spot(other) - strike, 0)
          else:
              pay max(strike - spot(one), 0) - max(strike - spot(other), 0)
)";

constexpr double rate = 0.02, spot = 100;

std::string market_of(const std::string& moves, double flat = 0.2) {
    return fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {}}}}}\nassets:\n"
        "  A: {{currency: USD, spot: {}, {}}}\n"
        "  B: {{currency: USD, spot: {}, volatility: {}}}\ncorrelations: [[A, B, 1]]\n",
        rate, spot, moves, spot, flat);
}

std::vector<price_row> price(const std::string& market_text, const std::vector<std::string>& trades,
                             std::uint64_t paths, std::uint64_t seed = 1,
                             const std::string& precision = "double") {
    return priced(own_products, market_text, trades, paths, seed, precision);
}

// SVI smiles of total variance whose skew flattens with time.
struct svi {
    double a, b, rho, m, sigma;
    double variance(double x) const { return a + b * (rho * (x - m) + std::hypot(x - m, sigma)); }
};
const std::vector<std::pair<double, svi>> smiles{{0.25, {0.002, 0.045, -0.55, 0.02, 0.12}},
                                                 {0.5, {0.005, 0.06, -0.55, 0.02, 0.15}},
                                                 {1.0, {0.012, 0.08, -0.5, 0.03, 0.2}},
                                                 {2.0, {0.03, 0.105, -0.45, 0.05, 0.28}}};
std::string svi_surface() {
    std::string text;
    for (const auto& [years, s] : smiles) {
        text += fmt::format("{}{}: {{a: {}, b: {}, rho: {}, m: {}, sigma: {}}}", text.empty() ? "" : ", ",
                            years, s.a, s.b, s.rho, s.m, s.sigma);
    }
    return "surface: {svi: {" + text + "}}";
}

const std::string usual_heston = "heston: {v0: 0.03, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}";

std::string leveraged(const std::string& surface, const std::string& heston, const std::string& more = "") {
    return "model: {stochastic_local_volatility: {" + surface + ", " + heston + more + "}}";
}

struct reading {
    double basis_points = 0, error = 0;  // of the implied volatility, less that of the surface
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
        const auto side = deviations[i] >= 0 ? markets::right::call : markets::right::put;
        const double discount = std::exp(-rate * years);
        const double known = discount * markets::black_price(side, forward, strike, middle);
        const double should =
            discount * markets::black_price(side, forward, strike, truth * std::sqrt(years));
        const double vega = discount * markets::black_vega(forward, strike, truth, years);
        out.push_back({1e4 * (rows[i].price + known - should) / vega, 1e4 * rows[i].standard_error / vega});
    }
    return out;
}

// The surface of the tests, for what needs no market file.
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

// Two assets of one noise, for differences.
std::string two_assets(const std::string& first, const std::string& second, double rho, bool both_vary) {
    std::string more = fmt::format(", [A.variance, B, {}]", rho);
    if (both_vary) more += fmt::format(", [B.variance, A, {}], [A.variance, B.variance, 1]", rho);
    return fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: {}}}}}\nassets:\n"
        "  A: {{currency: USD, spot: {}, {}}}\n  B: {{currency: USD, spot: {}, {}}}\n"
        "correlations: [[A, B, 1]{}]\n",
        rate, spot, first, spot, second, more);
}

std::string beside(double strike, double years) {
    return fmt::format("product: beside, one: A, other: B, option: {}, strike: {}, maturity: {}",
                       strike < spot ? "put" : "call", strike, years);
}

TEST(stochastic_local_volatility, gives_the_implied_surface_back) {
    const char* more = getenv("MORE") ? getenv("MORE") : "";
    const char* hes = getenv("HES") ? getenv("HES") : usual_heston.c_str();
    const std::uint64_t paths = getenv("PATHS") ? strtoull(getenv("PATHS"), nullptr, 10) : 1 << 18;
    double worst = 0;
    const std::vector<double> deviations{-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5};
    for (const auto& [years, smile] : smiles) {
        if (years == 0.5) continue;
        const auto got = read_back(years, smile, deviations, leveraged(svi_surface(), hes, more), paths);
        for (std::size_t i = 0; i < got.size(); ++i) {
            fmt::print("{} years, {:4} deviations: {:6.2f} basis points +- {:.2f}\n", years, deviations[i],
                       got[i].basis_points, got[i].error);
            worst = std::max(worst, std::abs(got[i].basis_points));
        }
    }
    fmt::print("worst {:.2f} basis points\n", worst);
}

// What another draw of the particles makes of a price, on the same paths.
TEST(stochastic_local_volatility, particles_are_noise_of_some_basis_points) {
    const auto with = [](int particles) {
        return leveraged(svi_surface(), usual_heston, fmt::format(", particles: {}", particles));
    };
    double sum = 0;
    int cases = 0;
    for (const int other : {14000, 18000}) {
        const auto rows = price(two_assets(with(16384), with(other), -0.7, true),
                                {beside(92, 0.25), beside(100, 0.25), beside(108, 0.25), beside(85, 1),
                                 beside(100, 1), beside(115, 1)},
                                1 << 14);
        for (const price_row& row : rows) {
            ASSERT_EQ(row.status, trade_status::priced) << row.message;
            const bool is_short = cases % 6 < 3;
            const double strikes[] = {92, 100, 108, 85, 100, 115};
            const double years = is_short ? 0.25 : 1;
            const double vega =
                std::exp(-rate * years) *
                markets::black_vega(spot * std::exp(rate * years), strikes[cases % 6], 0.18, years);
            const double off = 1e4 * row.price / vega;
            fmt::print("strike {} in {} years: {:.2f} +- {:.2f} basis points\n", strikes[cases % 6], years,
                       off, 1e4 * row.standard_error / vega);
            sum += off * off;
            ++cases;
        }
    }
    // A difference has twice the variance of one.
    fmt::print("noise of 16384 particles: {:.2f} basis points\n", std::sqrt(sum / cases / 2));
}

// No volatility of the variance: the leverage makes up for its mean, whatever it is.
TEST(stochastic_local_volatility, without_mixing_is_local_volatility) {
    const auto rows = price(two_assets(leveraged(svi_surface(), usual_heston, ", mixing: 0, particles: 256"),
                                       "model: {local_volatility: {" + svi_surface() + "}}", -0.7, false),
                            {beside(90, 0.25), beside(100, 1), beside(120, 1)}, 1 << 14);
    for (const price_row& row : rows) {
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        fmt::print("{} +- {}\n", row.price, row.standard_error);
    }
}

// With the surface that Heston's model makes there is nothing to make up for.
TEST(stochastic_local_volatility, of_its_own_surface_is_heston) {
    const fourier::heston p{0.04, 1.5, 0.05, 0.4, -0.6};
    std::string surface;
    for (double years = 0.05; years < 1.31; years += years < 0.3 ? 0.05 : 0.1) {
        std::string quotes;
        const double wide = std::sqrt(0.045 * years);
        for (double d = -4; d < 3.1; d += 0.25) {
            const double k = std::exp(d * wide);
            const auto made = fourier::vanilla(characteristic_of(p, years), k);
            const auto side = k < 1 ? markets::right::put : markets::right::call;
            quotes +=
                fmt::format("{}{:.12f}: {:.12f}", quotes.empty() ? "" : ", ", k,
                            markets::implied_volatility(side, 1, k, years, k < 1 ? made.put : made.call));
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
        fmt::print("{} +- {}\n", row.price, row.standard_error);
    }
}

// Of all that the leverage is read from, at one maturity, by many particles: half the step, a quarter of what
// is off.
TEST(stochastic_local_volatility, the_weak_order) {
    for (const double rho : {0.0, -0.7}) {
        for (const double steps : {25.0, 50.0, 100.0}) {
            models::leverage l(local_of_smiles(), heston_of(0.6, rho), {1 << 16, steps});
            fmt::print("rho {} steps {}:", rho, steps);
            for (const auto& d : l.differences(0.25)) fmt::print(" {:.2f}", 1e4 * d.volatility);
            fmt::print("\n");
        }
    }
}

// 6 dates, 4 models, in double and in single: 48 comparisons, a false alarm in 3,000.
TEST(stochastic_local_volatility, the_discounted_asset_is_a_martingale) {
    const std::vector<double> dates{0.004, 0.1, 0.5, 1.0, 3.0, 10.0};
    std::vector<std::string> trades;
    for (const double t : dates)
        trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", t));
    std::uint64_t seed = 500;
    for (const std::string& heston :
         {std::string(usual_heston), std::string("heston: {v0: 0.03, kappa: 1.5, theta: 0.05, sigma: 1, rho: -0.9}"),
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
                if (heston.find("sigma: 1") != heston.npos) fmt::print("{} {} {}: {} +- {}\n", heston, precision, trades[i], rows[i].price,
                           rows[i].standard_error);
                EXPECT_LE(std::abs(rows[i].price - spot), limit * rows[i].standard_error + 1e-3)
                    << heston << " " << trades[i] << " " << precision << ": " << rows[i].price << " +- "
                    << rows[i].standard_error;
            }
        }
    }
}

}  // namespace
}  // namespace tilewalk
