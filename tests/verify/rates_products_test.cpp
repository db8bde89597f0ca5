// SPDX-License-Identifier: Apache-2.0
// label: sampled (published values and truths)
// Products on stochastic interest rates, under Hull-White with a changing volatility and under G2++. Random
// trades are held against closed forms and quadratures; cases by hand have periods that have begun, day
// counts, payments after the period, and a rate of another currency.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/rates/gaussian.h"
#include "engine/numerics/black.h"
#include "engine/verify/closed_forms.h"
#include "engine/verify/sample.h"
#include "tests/model_market.h"
#include "tests/plain_paths.h"

namespace tilewalk::rates_products_test {
namespace {

const std::vector<std::string_view> products{
    "zero_coupon_bond",   "coupon_bond", "floating_rate_note", "swap", "cap_floor", "swaption",
    "rate_range_accrual", "cms_leg",     "rate_future"};

// 320 comparisons at 4.5 standard errors: with new random numbers a sound engine would fail once in 460
// times; the seed is fixed.
TEST(rates_products, random_trades_are_what_the_truth_says) {
    std::vector<std::size_t> truths;
    for (std::size_t i = 0; i < verify::truths().size(); ++i) {
        if (std::ranges::find(products, verify::truths()[i].product) != products.end()) truths.push_back(i);
    }
    ASSERT_EQ(truths.size(), products.size());
    const auto trades = verify::draw_sample({320, 1 << 15, 20260115, "double", truths, 2});
    cuda::backend gpus;
    const auto got = verify::price_sample(trades, {"cpu", 2}, gpus);
    struct seen {
        double worst = 0, mean_square = 0;
        int trades = 0, two_factors = 0, noticed = 0;
    };
    std::map<std::string_view, seen> all;
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const double z = verify::score(trades[i], got[i], trades[i].price).z;
        EXPECT_EQ(got[i].failure, "") << trades[i].text;
        EXPECT_GT(got[i].standard_error, 0) << trades[i].text;
        EXPECT_LE(std::abs(z), limit)
            << fmt::format("{}price {}, standard error {}, truth {}", trades[i].text, got[i].price,
                           got[i].standard_error, trades[i].price);
        seen& s = all[verify::truths()[trades[i].truth].product];
        ++s.trades;
        s.worst = std::max(s.worst, std::abs(z));
        s.mean_square += z * z;
        s.two_factors += trades[i].text.find("g2:") != std::string::npos;
        // Counts trades that would notice a market whose money grows by a thousandth more in a year.
        s.noticed += std::abs(verify::score(trades[i], got[i], trades[i].price_of_high_forwards).z) > limit;
    }
    for (const auto& [product, s] : all) {
        fmt::print(
            "{:19}{:4} trades, {:3} of two factors: worst z {:.2f}, mean z squared {:.2f}; {} notice a "
            "thousandth\n",
            product, s.trades, s.two_factors, s.worst, s.mean_square / s.trades, s.noticed);
        EXPECT_GE(s.two_factors, s.trades / 5) << product;
        EXPECT_LT(s.two_factors, s.trades) << product;
        EXPECT_GE(s.noticed, 1) << product << " has to be able to fail";
    }
}

// A future that settles on dates is worth less than one that settles continuously. The difference is within
// its bound, and halves with the time between dates. Ten comparisons: one false alarm in 15,000.
TEST(rates_products, a_future_nears_the_closed_form_as_it_settles_more_often) {
    const struct {
        std::string words;
        rates::gaussian_rates model;
        double most_volatility;
    } all[] = {{"hull_white: {mean_reversion: 0, volatility: 0.015}",
                rates::hull_white(0, models::by_term::flat(0.015)), 0.015},
               {"g2: {a: 0, sigma: 0.008, b: 0.01, eta: 0.007, rho: 0.4}",
                rates::g2(0, 0.008, 0.01, 0.007, 0.4), 0.015}};
    constexpr double fixed = 10, years = 0.25, forward = 0.04;  // forward is compounded continuously
    for (const auto& m : all) {
        const double grown = std::exp(years * (forward + futures_convexity(m.model, fixed, fixed + years))),
                     rate = (grown - 1) / years;
        const std::string market = fmt::format(
            "{{as_of: 2026-01-15, currencies: {{USD: {{rate: {}, model: {{{}}}}}}}}}", forward, m.words);
        const auto lean = [&](int settlements) {
            const price_row row =
                priced(
                    "", market,
                    {fmt::format("product: rate_future, currency: USD, settlements: {{start: 0, end: {}, "
                                 "count: {}, include_start: true}}, end: {}, traded_rate: {}, notional: -1",
                                 fixed, settlements, fixed + years, rate)},
                    1 << 21, static_cast<std::uint64_t>(settlements), "double", tests::plain_paths())
                    .at(0);
            EXPECT_EQ(row.status, trade_status::priced) << row.message;
            const double bound =
                grown * 0.5 * m.most_volatility * m.most_volatility * fixed * fixed / settlements;
            EXPECT_LE(std::abs(row.price), bound + limit * row.standard_error) << m.words << settlements;
            fmt::print("{}, {} settlements: {:.6f} +- {:.6f}, at most {:.6f}\n", m.words, settlements,
                       row.price, row.standard_error, bound);
            return row;
        };
        const price_row five = lean(5), ten = lean(10);
        EXPECT_LT(five.price, -limit * five.standard_error) << m.words << ": can this fail?";
        EXPECT_LE(std::abs(ten.price - 0.5 * five.price),
                  limit * std::hypot(ten.standard_error, 0.5 * five.standard_error))
            << m.words;
        // The difference does not fall with the square of the interval.
        EXPECT_GT(std::abs(ten.price - 0.25 * five.price),
                  limit * std::hypot(ten.standard_error, 0.25 * five.standard_error))
            << m.words;
    }
}

const std::string moving =
    "as_of: 2026-01-15\n"
    "currencies:\n"
    "  USD: {zero_rates: {1: 0.03, 10: 0.04}, model: {hull_white: {mean_reversion: 0.05, volatility: {0.5: "
    "0.01, 50: "
    "0.015}}}}\n"
    "  EUR: {rate: 0.02}\n"
    "fx: {EURUSD: {rate: 1.2, volatility: 0.1}}\n";

double usd(double years) {
    return markets::curve::from_zero_rates({1, 10}, {0.03, 0.04}).discount(years);
}

const rates::gaussian_rates& of_usd() {
    static const rates::gaussian_rates model = rates::hull_white(0.05, {{0.5, 50}, {0.01, 0.015}});
    return model;
}

double option(analytics::right side, double start, double end, double accrual, double strike) {
    return rates::caplet(side, of_usd(), markets::curve::from_zero_rates({1, 10}, {0.03, 0.04}),
                         {start, end, accrual}, strike);
}

// Ten comparisons: one false alarm in 15,000.
TEST(rates_products, periods_that_have_begun_day_counts_and_other_currencies) {
    using analytics::right;
    const auto years = [](int days) { return days / 365.0; };
    // Periods end or begin on 2025-10-15, 2026-04-15 (in 90 days), 2026-10-15 (273) and 2027-04-15 (455).
    const double t1 = years(90), t2 = years(273), t3 = years(455);
    const std::string begun =
        "begin: 2025-10-15, payments: [2026-04-15, 2026-10-15, 2027-04-15], day_count: act_360, "
        "first_rate: 0.05";
    const struct {
        std::string trade;
        double price;
    } all[] = {
        {"product: cap_floor, strike: 0.03, " + begun,
         100 * (0.02 * 182 / 360.0 * usd(t1) + option(right::call, t1, t2, 183 / 360.0, 0.03) +
                option(right::call, t2, t3, 182 / 360.0, 0.03))},
        {"product: cap_floor, option: floorlets, strike: 0.03, " + begun,
         100 *
             (option(right::put, t1, t2, 183 / 360.0, 0.03) + option(right::put, t2, t3, 182 / 360.0, 0.03))},
        {"product: floating_rate_note, spread: 0.01, floor_rate: 0.035, cap_rate: 0.045, " + begun,
         100 * (0.045 * 182 / 360.0 * usd(t1) + usd(t1) +
                0.01 * (183 / 360.0 * usd(t2) + 182 / 360.0 * usd(t3)) +
                option(right::put, t1, t2, 183 / 360.0, 0.025) +
                option(right::put, t2, t3, 182 / 360.0, 0.025) -
                option(right::call, t1, t2, 183 / 360.0, 0.035) -
                option(right::call, t2, t3, 182 / 360.0, 0.035))},
        {"product: swap, side: receiver, begin: 2025-10-15, first_rate: 0.05, fixed_rate: 0.03, "
         "fixed_payments: "
         "[2026-10-15, 2027-04-15], floating_payments: [2026-04-15, 2026-10-15, 2027-04-15], "
         "fixed_day_count: "
         "thirty_360, floating_day_count: act_360",
         100 * (0.03 * (usd(t2) + 0.5 * usd(t3)) - 0.05 * 182 / 360.0 * usd(t1) - usd(t1) + usd(t3))},
        {"product: coupon_bond, coupon_dates: {start: 2025-10-15, end: 2027-04-15, every: 6m}, coupon: 0.04, "
         "day_count: thirty_360",
         100 * (0.02 * (usd(t1) + usd(t2) + usd(t3)) + usd(t3))},
        {"product: swaption, strike: 0.03, expiry: 2026-10-15, payments: [2027-04-15], day_count: act_360",
         100 * option(right::call, t2, t3, 182 / 360.0, 0.03)},
        // The rate of the other currency is deterministic, so its forward is paid without adjustment.
        {"product: cms_leg, begin: 1, payments: [2], swap_years: 1, payments_a_year: 1, rate_currency: EUR",
         100 * (std::exp(0.02) - 1) * usd(2)},
        // A stochastic rate that is paid when its period ends needs no convexity adjustment.
        {"product: cms_leg, begin: 1, payments: [2], swap_years: 1, payments_a_year: 1",
         100 * (usd(1) - usd(2))},
        // Two observations are past, and one of them counts; the third, on 2026-02-15, is sure to count.
        {"product: rate_range_accrual, begin: 2025-10-15, observations: [2025-11-15, 2025-12-15, "
         "2026-02-15], "
         "payments: [2026-04-15], coupon: 0.06, so_far: 1, redeems: true",
         100 * (0.06 * years(182) * 2 / 3 + 1) * usd(t1)},
        {"product: zero_coupon_bond, maturity: 2036-01-15", 100 * usd(3652 / 365.0)},
    };
    std::vector<std::string> trades;
    for (const auto& one : all) trades.push_back("currency: USD, " + one.trade);
    const auto rows = priced("", moving, trades, 1 << 17, 3);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message << "\n" << trades[i];
        EXPECT_GT(rows[i].standard_error, 0) << trades[i];
        EXPECT_LE(std::abs(rows[i].price - all[i].price), limit * rows[i].standard_error)
            << trades[i]
            << fmt::format("\nprice {}, standard error {}, truth {}", rows[i].price, rows[i].standard_error,
                           all[i].price);
    }
}

TEST(rates_products, the_book_of_rates_is_priced) {
    const auto folder = std::filesystem::path(TILEWALK_SOURCE_DIR) / "configs/books";
    const book all = book::load(folder / "rates.yaml");
    run_options options;
    options.overrides.paths = 1 << 12;
    options.overrides.device = "cpu";
    const results got = engine().price(all, *all.market(), options);
    std::map<std::string, int> seen;
    for (const price_row& row : got.rows) {
        EXPECT_EQ(row.status, trade_status::priced) << row.trade << ": " << row.message;
        EXPECT_GT(row.standard_error, 0) << row.trade;
        ++seen[row.product];
    }
    for (const std::string_view product : products) EXPECT_GE(seen[std::string(product)], 1) << product;
}

}  // namespace
}  // namespace tilewalk::rates_products_test
