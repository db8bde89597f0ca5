// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Cash dividends that reduce the whole spot, against quadratures over the spot on ex-dates, which share
// nothing with the engine; paths whose spot is less than the dividend; refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/market_text.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tilewalk/engine.h"

namespace tilewalk::spot_dividends_test {
namespace {

using tests::product_in_words;

constexpr double z_limit = 4.5;  // one false alarm in 150,000 per comparison
constexpr double rate = 0.04, yield = 0.01, spot = 100;

std::string market_of(const std::string& asset, const std::string& more = "") {
    return "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.04}, AUD: {rate: 0.04, model: {hull_white: "
           "{mean_reversion: 0.03, volatility: 0.01}}}}\nassets:\n  A: {currency: USD, spot: 100, "
           "dividend_yield: 0.01, " +
           asset + "}\n" + more;
}

const std::string products =
    "products:\n" +
    product_in_words("forward", "The price itself.", "underlying: asset, maturity: date",
                     "on maturity:\n"
                     "    pay spot(underlying)\n") +
    product_in_words("forward_seen", "A forward price as seen earlier.",
                     "underlying: asset, fixing: date, maturity: date",
                     "on fixing:\n"
                     "    pay forward(underlying, maturity)\n");

price_row price(const std::string& asset, const std::string& trade, std::uint64_t paths = 1 << 17,
                const std::string& precision = "double", run_options options = {}) {
    options.overrides.paths = paths;
    options.overrides.precision = tests::named{precision};
    return engine()
        .price(book::parse(products + "trades:\n  - {id: t, underlying: A, " + trade + "}\n"),
               market::parse(market_of(asset)), options)
        .rows.at(0);
}

void expect_near(const price_row& row, double truth, const std::string& what) {
    ASSERT_EQ(row.status, trade_status::priced) << what << ": " << row.message;
    EXPECT_LT(std::abs(row.price - truth), z_limit * row.standard_error)
        << what << ": " << row.price << " +- " << row.standard_error << ", truth " << truth;
}

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

double black_call(double forward, double strike, double deviation) {
    if (forward <= 0) return 0;
    const double d1 = std::log(forward / strike) / deviation + deviation / 2;
    return forward * normal_cdf(d1) - strike * normal_cdf(d1 - deviation);
}

// The mean of f(z) for a standard normal z; f may have kinks.
double mean_of(const std::function<double(double)>& f) {
    constexpr int n = 40'000;
    constexpr double reach = 9;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const double z = -reach + (i + 0.5) * (2 * reach / n);
        sum += f(z) * std::exp(-z * z / 2);
    }
    return sum * (2 * reach / n) / std::sqrt(2 * std::acos(-1.0));
}

double moved(double from, double years, double sigma, double z) {
    return from * std::exp((rate - yield - sigma * sigma / 2) * years + sigma * std::sqrt(years) * z);
}

double call_after_one(double sigma, double ex_date, double amount, double strike, double maturity) {
    const double left = maturity - ex_date, growth = std::exp((rate - yield) * left);
    return std::exp(-rate * maturity) * mean_of([&](double z) {
               const double after = std::max(moved(spot, ex_date, sigma, z) - amount, 0.0);
               return black_call(after * growth, strike, sigma * std::sqrt(left));
           });
}

std::string lognormal(double sigma, const std::string& dividends) {
    return "volatility: " + std::to_string(sigma) + ", dividend_model: spot, dividends: [" + dividends + "]";
}

TEST(spot_dividends, a_call_is_the_integral_over_the_spot_on_the_ex_date) {
    for (const auto& [sigma, ex_date, amount] :
         std::vector<std::array<double, 3>>{{0.2, 0.5, 5}, {0.3, 0.05, 7}, {0.3, 0.95, 7}, {0.6, 0.8, 60}}) {
        for (const double strike : {20.0, 95.0}) {
            const std::string dividends =
                "{date: " + std::to_string(ex_date) + ", amount: " + std::to_string(amount) + "}";
            const std::string terms = "product: european, maturity: 1.0, strike: " + std::to_string(strike);
            const price_row row = price(lognormal(sigma, dividends), terms);
            expect_near(row, call_after_one(sigma, ex_date, amount, strike, 1.0), dividends + " " + terms);
        }
    }
    // The same dividend as an escrowed one gives another price: the test tells the two apart.
    const price_row escrowed = price("volatility: 0.3, dividends: [{date: 0.95, amount: 7}]",
                                     "product: european, maturity: 1.0, strike: 95");
    EXPECT_GT(std::abs(escrowed.price - call_after_one(0.3, 0.95, 7, 95, 1.0)), 8 * escrowed.standard_error);
}

// A call by recursion from maturity over a grid of log spots; each step's mean is a quadrature.
double call_by_recursion(double sigma, const std::vector<std::pair<double, double>>& dividends, double strike,
                         double maturity) {
    constexpr int n = 4000, points = 600;
    constexpr double low = -6, high = 8, reach = 8;
    const double step = (high - low) / (n - 1);
    std::vector<double> value(n);
    for (int i = 0; i < n; ++i)
        value[static_cast<std::size_t>(i)] = std::max(std::exp(low + i * step) - strike, 0.0);
    const auto at = [&](const std::vector<double>& v, double level) {
        if (level <= std::exp(low)) return 0.0;
        const double place = (std::log(level) - low) / step;
        const auto i = static_cast<std::size_t>(std::min(std::max(place, 0.0), n - 2.0));
        const double share = place - static_cast<double>(i);
        return v[i] + share * (v[i + 1] - v[i]);  // linear beyond the ends as well
    };
    double until = maturity;
    for (std::size_t k = dividends.size() + 1; k-- > 0;) {
        const double from = k == 0 ? 0 : dividends[k - 1].first, years = until - from;
        std::vector<double> before(n);
        for (int i = 0; i < n; ++i) {
            const double level = std::exp(low + i * step);
            double sum = 0;
            for (int j = 0; j < points; ++j) {
                const double z = -reach + (j + 0.5) * (2 * reach / points);
                sum += at(value, moved(level, years, sigma, z)) * std::exp(-z * z / 2);
            }
            before[static_cast<std::size_t>(i)] = sum * (2 * reach / points) / std::sqrt(2 * std::acos(-1.0));
        }
        if (k == 0) return std::exp(-rate * maturity) * at(before, spot);
        for (int i = 0; i < n; ++i) {
            const double level = std::exp(low + i * step);
            value[static_cast<std::size_t>(i)] = at(before, std::max(level - dividends[k - 1].second, 0.0));
        }
        until = from;
    }
    return 0;
}

TEST(spot_dividends, several_are_a_recursion_of_quadratures) {
    EXPECT_NEAR(call_by_recursion(0.3, {{0.5, 7}}, 95, 1.0), call_after_one(0.3, 0.5, 7, 95, 1.0), 2e-3);
    const double truth = call_by_recursion(0.3, {{0.25, 4}, {0.5, 3}, {0.9, 5}}, 95, 1.0);
    expect_near(
        price(lognormal(0.3, "{date: 0.25, amount: 4}, {date: 0.5, amount: 3}, {date: 0.9, amount: 5}"),
              "product: european, maturity: 1.0, strike: 95", 1 << 17, "double", tests::plain_paths()),
        truth, "three dividends");
}

TEST(spot_dividends, on_one_day_follow_the_order_of_the_file) {
    const double grown = 100 * std::exp(0.5 * (rate - yield)), discounted = std::exp(-0.5 * rate);
    expect_near(price(lognormal(0.2, "{date: 0.5, amount: 10}, {date: 0.5, proportion: 0.1}"),
                      "product: forward, maturity: 0.5"),
                (grown - 10) * 0.9 * discounted, "cash first");
    expect_near(price(lognormal(0.2, "{date: 0.5, proportion: 0.1}, {date: 0.5, amount: 10}"),
                      "product: forward, maturity: 0.5"),
                (grown * 0.9 - 10) * discounted, "cash last");
}

TEST(spot_dividends, a_path_with_less_than_the_dividend_pays_what_it_has) {
    const double sigma = 0.8;
    const auto left = [&](double z) { return std::max(moved(spot, 1, sigma, z) - 90, 0.0); };
    const double truth = std::exp(-rate - yield) * mean_of(left);  // a year's carry, two of discounting
    const price_row row =
        price(lognormal(sigma, "{date: 1.0, amount: 90}"), "product: forward, maturity: 2.0");
    expect_near(row, truth, "floored");
    const trade_plan said =
        engine()
            .explain(
                book::parse(products + "trades: [{id: t, underlying: A, product: forward, maturity: 2.0}]"),
                market::parse(market_of(lognormal(sigma, "{date: 1.0, amount: 90}"))))
            .at(0);
    EXPECT_GT(row.price, said.asset_list.at(0).forwards.at(0) * std::exp(-2 * rate) + 10 * row.standard_error)
        << "the forward of the curves counts the dividend that many paths do not have";
    for (const std::string precision : {"single", "mixed"})
        expect_near(price(lognormal(sigma, "{date: 1.0, amount: 90}"), "product: forward, maturity: 2.0",
                          1 << 17, precision),
                    truth, precision);
}

// A down-and-out call under continuous monitoring whose spot falls once, on an ex-date: by the bridge up to
// the ex-date, and by the closed form of Merton (1973) after it.
TEST(spot_dividends, a_watched_barrier_sees_the_fall) {
    const double sigma = 0.4, ex_date = 0.9, amount = 12, barrier = 80, strike = 80, maturity = 1.0;
    const auto knocked_call = [&](double from, double years) {
        if (from <= barrier) return 0.0;
        const double forward = from * std::exp((rate - yield) * years), deviation = sigma * std::sqrt(years),
                     mirrored = forward * barrier * barrier / (from * from),
                     power = std::pow(barrier / from, 2 * (rate - yield) / (sigma * sigma) - 1);
        return black_call(forward, strike, deviation) - power * black_call(mirrored, strike, deviation);
    };
    const double truth = std::exp(-rate * maturity) * mean_of([&](double z) {
                             const double before = moved(spot, ex_date, sigma, z);
                             if (before <= barrier) return 0.0;
                             const double untouched =
                                 1 - std::exp(-2 * std::log(spot / barrier) * std::log(before / barrier) /
                                              (sigma * sigma * ex_date));
                             return untouched * knocked_call(before - amount, maturity - ex_date);
                         });
    const std::string terms =
        "product: barrier, strike: 80, maturity: 1.0, direction: down, barrier: 80, option: call";
    expect_near(price(lognormal(sigma, "{date: 0.9, amount: 12}"), terms), truth, "down and out");
    const price_row none = price("volatility: 0.4", terms);
    EXPECT_GT(none.price - truth, 20 * none.standard_error);
}

TEST(spot_dividends, paths_stop_on_ex_dates) {
    const auto plan = engine().explain(
        book::parse("trades: [{id: t, product: european, underlying: A, strike: 100, maturity: 1.0}]"),
        market::parse(market_of(lognormal(
            0.2, "{date: 0.3, amount: 1}, {date: 0.6, proportion: 0.01}, {date: 2.0, amount: 1}"))));
    EXPECT_EQ(plan.at(0).grid, (std::vector<double>{0, 0.3, 1.0})) << plan.at(0).failure;
}

TEST(spot_dividends, escrowed_is_the_default_to_the_bit) {
    const std::string dividends =
                          "dividends: [{date: 0.3, amount: 3}, {date: 0.7, amount: 3}], volatility: 0.2",
                      terms = "product: barrier, strike: 95, maturity: 1.0, direction: down, barrier: 80";
    const double said = price(dividends + ", dividend_model: escrowed", terms, 4096).price,
                 left_out = price(dividends, terms, 4096).price;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(said), std::bit_cast<std::uint64_t>(left_out));
    const std::string none = "volatility: 0.2, dividends: [{date: 0.3, proportion: 0.01}]";
    EXPECT_EQ(std::bit_cast<std::uint64_t>(price(none, terms, 4096).price),
              std::bit_cast<std::uint64_t>(price(none + ", dividend_model: spot", terms, 4096).price))
        << "nothing falls by cash";
}

// The mean is the forward under every model whose steps are alike at any level: no path comes near 0.
TEST(spot_dividends, models_keep_the_forward) {
    const double truth =
        (100 * std::exp(0.5 * (rate - yield)) - 4) * std::exp(0.5 * (rate - yield)) * std::exp(-rate);
    for (const std::string model :
         {"heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.5, rho: -0.7}",
          "bates: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.4, rho: -0.6, jump_intensity: 0.5, jump_mean: "
          "-0.1, jump_sd: 0.15}",
          "merton: {volatility: 0.15, jump_intensity: 0.6, jump_mean: -0.1, jump_sd: 0.1}",
          "kou: {volatility: 0.16, jump_intensity: 2, p_up: 0.4, eta_up: 20, eta_down: 15}",
          "variance_gamma: {sigma: 0.2, nu: 0.3, theta: -0.15}", "nig: {alpha: 15, beta: -5, delta: 0.5}",
          "cgmy: {C: 0.5, G: 8, M: 12, Y: 0.7}",
          "schobel_zhu: {vol0: 0.2, kappa: 2, theta: 0.22, sigma: 0.2, rho: -0.5}",
          "rough_bergomi: {xi: 0.04, eta: 1.5, hurst: 0.15, rho: -0.6}"}) {
        expect_near(price("dividend_model: spot, dividends: [{date: 0.5, amount: 4}], model: {" + model + "}",
                          "product: forward, maturity: 1.0", 1 << 15),
                    truth, model);
    }
}

TEST(spot_dividends, are_refused_by_name_where_they_make_no_sense) {
    const std::string cash = "dividend_model: spot, dividends: [{date: 0.5, amount: 4}], ";
    for (const std::string model :
         {"local_volatility: {surface: {by_moneyness: {1.0: {0.9: 0.2, 1.1: 0.2}}}}",
          "cev: {volatility: 2, beta: 0.5}", "sabr: {alpha: 2, beta: 0.5, rho: -0.3, nu: 0.4}",
          "stochastic_local_volatility: {surface: {by_moneyness: {1.0: {0.9: 0.2, 1.1: 0.2}}}, heston: {v0: "
          "0.04, "
          "kappa: 1.5, theta: 0.05, sigma: 0.5, rho: -0.7}, particles: 256}"}) {
        try {
            market::parse(market_of(cash + "model: {" + model + "}"));
            ADD_FAILURE() << model;
        } catch (const error& e) {
            const std::string name = model.substr(0, model.find(':'));
            EXPECT_NE(e.message().find("dividend_model spot beside the model " + name), std::string::npos)
                << e.message();
            EXPECT_EQ(e.key_path(), "assets.A.dividend_model");
        }
    }
    try {
        market::parse(market_of("volatility: 0.2, dividend_model: spott"));
        ADD_FAILURE();
    } catch (const error& e) {
        EXPECT_NE(e.message().find("expected one of escrowed, spot; did you mean 'spot'?"), std::string::npos)
            << e.message();
    }
    const std::string asset = lognormal(0.2, "{date: 0.5, amount: 4}");
    for (const std::string trade : {"product: forward_seen, fixing: 0.25, maturity: 1.0",
                                    "product: forward_seen, fixing: 0, maturity: 1.0",
                                    "product: chooser, choice_date: 0.25, maturity: 1.0, strike: 100"}) {
        const price_row row = price(asset, trade, 1024);
        EXPECT_EQ(row.status, trade_status::failed) << trade;
        EXPECT_NE(row.message.find("if a cash dividend falls"), std::string::npos) << row.message;
    }
    expect_near(
        price(asset, "product: forward_seen, fixing: 0.5, maturity: 1.0"),
        (100 * std::exp(0.5 * (rate - yield)) - 4) * std::exp(0.5 * (rate - yield)) * std::exp(-0.5 * rate),
        "after the dividend");
}

}  // namespace
}  // namespace tilewalk::spot_dividends_test
