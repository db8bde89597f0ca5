// SPDX-License-Identifier: Apache-2.0
// Sensitivities to market quotes: derivatives of fitted parameters against fits to moved quotes; the quotes
// view of a book against vegas by Black and Bachelier and against differences of recalibrated prices; sums of
// rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/calibration/quoted_models.h"
#include "engine/market/market_state.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::quotes_view_test {
namespace {

// A sound value is further off than so many errors once in 150,000 times. Of the values compared, 20 are
// independent of their references; six, of an Asian, share paths with them.
constexpr double most_errors = 4.5;

// A file of quotes in which each quoted number stands between "<" and ">".
struct marked_quotes {
    std::string text;
    std::size_t count() const { return static_cast<std::size_t>(std::ranges::count(text, '<')); }
    double value(std::size_t number) const {
        std::size_t at = 0;
        for (std::size_t i = 0; i <= number; ++i) at = text.find('<', at) + 1;
        return std::stod(text.substr(at));
    }
    std::string with(std::size_t number, double by) const {
        std::string out;
        std::size_t seen = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '<') {
                out += text[i];
                continue;
            }
            const std::size_t end = text.find('>', i);
            char moved[32];
            std::snprintf(moved, sizeof moved, "%.17g", std::stod(text.substr(i + 1)) + by);
            out += seen++ == number ? moved : text.substr(i + 1, end - i - 1);
            i = end;
        }
        return out;
    }
    std::string plain() const { return with(count(), 0); }
    market fitted(std::size_t number, double by) const {
        return market::parse(calibrate(market_quotes::parse(with(number, by))).market);
    }
    market fitted() const { return fitted(count(), 0); }
};

const std::string day_and_curve =
    "as_of: 2026-01-15\ncurrencies: {USD: {zero_rates: {1.0: 0.0351, 5.0: 0.0361}}}\n";

// Quotes of Heston outnumber its parameters and leave residuals, which add second-order terms to derivatives.
const marked_quotes heston_quotes{day_and_curve +
                                  "assets: {INDEX: {currency: USD, spot: 6900, dividend_yield: 0.0125}}\n"
                                  "calibrate:\n"
                                  "  INDEX:\n"
                                  "    heston:\n"
                                  "      fixed: {kappa: 2.5}\n"
                                  "      by_strike:\n"
                                  "        2026-04-17: {6200: <0.213>, 6900: <0.163>, 7800: <0.132>}\n"
                                  "        2027-01-15: {6000: <0.214>, 6900: <0.179>, 8000: <0.152>}\n"};
const marked_quotes bates_quotes{
    day_and_curve +
    "assets: {CHIPS: {currency: USD, spot: 140}}\n"
    "calibrate:\n"
    "  CHIPS:\n"
    "    bates:\n"
    "      fixed: {kappa: 2, sigma: 0.6, rho: -0.5, jump_sd: 0.15}\n"
    "      quotes:\n"
    "        - {expiry: 2026-03-20, strike: 120, option: put, price: <1.59>, weight: 2}\n"
    "        - {expiry: 2026-03-20, strike: 140, option: call, price: <8.24>, weight: 3}\n"
    "        - {expiry: 2026-03-20, strike: 140, option: put, price: <7.40>}\n"
    "        - {expiry: 2026-07-17, strike: 110, option: put, price: <2.84>}\n"
    "        - {expiry: 2026-07-17, strike: 175, option: call, price: <3.11>, weight: 0}\n"
    "        - {expiry: 2027-01-15, strike: 100, option: put, price: <3.67>}\n"
    "        - {expiry: 2027-01-15, strike: 190, option: call, price: <5.26>}\n"};
const marked_quotes svi_quotes{
    day_and_curve +
    "assets: {MAKER: {currency: USD, spot: 41.30}}\n"
    "calibrate:\n"
    "  MAKER:\n"
    "    svi:\n"
    "      by_moneyness:\n"
    "        0.5: {0.7: <0.296>, 0.8: <0.252>, 0.9: <0.217>, 1: <0.194>, 1.1: <0.185>, 1.2: <0.187>, 1.3: "
    "<0.1943>}\n"
    "        1.0: {0.6: <0.318>, 0.75: <0.261>, 0.9: <0.218>, 1: <0.2>, 1.1: <0.191>, 1.25: <0.1912>, 1.4: "
    "<0.2003>}\n"};
const marked_quotes hull_white_quotes{
    day_and_curve +
    "calibrate:\n"
    "  USD:\n"
    "    hull_white:\n"
    "      swaptions:\n"
    "        - {expiry: 1, tenor: 4, volatility: <0.0084>, type: normal}\n"
    "        - {expiry: 2, tenor: 3, strike: 0.036, option: receiver, volatility: <0.0083>, type: normal}\n"
    "      caps:\n"
    "        - {maturity: 2, strike: 0.035, volatility: <0.0090>, type: normal, weight: 0.5}\n"
    "        - {start: 1, maturity: 4, strike: 0.035, option: floor, volatility: <0.0087>, type: normal}\n"};

std::vector<calibrations::fitted_numbers> followed(const marked_quotes& quotes) {
    return calibrations::follow_quotes(quotes.fitted(), nullptr);
}

run_options with_paths(std::uint64_t paths) {
    run_options out;
    out.overrides.paths = paths;
    out.overrides.device = "cpu";
    return out;
}

results view_of(const std::string& trades, const market& in, std::uint64_t paths,
                std::vector<std::string> wanted = {}) {
    return engine().greeks(book::parse("trades:\n" + trades), in,
                           {std::move(wanted), greek_method::automatic, greek_view::quotes},
                           with_paths(paths));
}

const greek_row& row_of(const results& r, const std::string& trade, const std::string& key) {
    const auto at =
        std::ranges::find_if(r.greeks, [&](const greek_row& g) { return g.trade == trade && g.key == key; });
    if (at == r.greeks.end()) throw std::logic_error(trade + " has no sensitivity to " + key);
    return *at;
}

void expect_near(const greek_row& row, double truth, double rounding) {
    EXPECT_TRUE(row.message.empty()) << row.message;
    EXPECT_GT(row.standard_error, 0) << row.trade << " " << row.key;
    EXPECT_LE(std::abs(row.value - truth), most_errors * row.standard_error + row.bias + rounding)
        << row.trade << " " << row.key << ": " << row.value << " +- " << row.standard_error << " and "
        << row.bias << ", expected " << truth;
}

double bell(double x) {
    return std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}

}  // namespace

// Derivatives of fits, found without differentiating the search, must say where fits to moved quotes end.
TEST(quotes_view, fitted_numbers_follow_as_fits_to_moved_quotes_do) {
    std::size_t compared = 0;
    for (const marked_quotes* of : {&heston_quotes, &bates_quotes, &svi_quotes, &hull_white_quotes}) {
        for (const calibrations::fitted_numbers& fit : followed(*of)) {
            for (std::size_t q = 0; q < fit.quotes.size(); ++q) {
                // The quote is found in the text by its value: no two of a file are equal.
                std::size_t place = 0;
                while (of->value(place) != fit.quotes[q].market) ++place;
                const double h = 3e-4 * of->value(place);
                const market up = of->fitted(place, h), down = of->fitted(place, -h);
                for (std::size_t k = 0; k < fit.keys.size(); ++k) {
                    const double difference =
                        (up.number(fit.keys[k]).value - down.number(fit.keys[k]).value) / (2 * h);
                    double most = 0;
                    for (const double m : fit.moves[k]) most = std::max(most, std::abs(m));
                    EXPECT_NEAR(fit.moves[k][q], difference, 2e-3 * most)
                        << fit.keys[k] << " by " << fit.quotes[q].key;
                    ++compared;
                }
            }
        }
    }
    // Parameters times quotes: Heston 4 x 6, Bates 4 x 6, SVI 2 x 5 x 7, Hull and White 2 x 4.
    EXPECT_EQ(compared, 126u);
}

// As many quotes as parameters: the fit meets all exactly. A quoted option then has Black's vega to its own
// quote and none to others.
TEST(quotes_view, an_option_that_is_met_has_its_own_vega_alone) {
    const marked_quotes quotes{day_and_curve +
                               "assets: {INDEX: {currency: USD, spot: 100}}\n"
                               "calibrate:\n"
                               "  INDEX:\n"
                               "    heston:\n"
                               "      fixed: {kappa: 2}\n"
                               "      quotes:\n"
                               "        - {expiry: 0.5, strike: 90, volatility: <0.235>}\n"
                               "        - {expiry: 0.5, strike: 105, volatility: <0.2>}\n"
                               "        - {expiry: 1, strike: 90, volatility: <0.232>}\n"
                               "        - {expiry: 1, strike: 110, volatility: <0.2>}\n"};
    const market in = quotes.fitted();
    const std::vector<std::pair<double, double>> options{{0.5, 90}, {0.5, 105}, {1, 90}, {1, 110}};
    std::string trades;
    for (std::size_t i = 0; i < options.size(); ++i) {
        trades += "  - {id: o" + std::to_string(i) +
                  ", product: european, underlying: INDEX, quantity: " + std::to_string(i + 1) +
                  ", option: call, strike: " + std::to_string(options[i].second) +
                  ", maturity: " + std::to_string(options[i].first) + "}\n";
    }
    const results r = view_of(trades, in, 1 << 17, {"*.quote*"});
    const auto keys = followed(quotes).front().quotes;
    ASSERT_EQ(keys.size(), options.size());
    EXPECT_EQ(keys[1].key, "INDEX.quote@0.5y,105");
    for (std::size_t i = 0; i < options.size(); ++i) {
        const auto [years, strike] = options[i];
        const double discount = state_of(in).discount_curve("USD").discount(years);
        const double deviation = quotes.value(i) * std::sqrt(years);
        const double d1 = std::log(100 / (strike * discount)) / deviation + deviation / 2;
        const double vega = 0.01 * 100 * bell(d1) * std::sqrt(years) * static_cast<double>(i + 1);
        for (std::size_t q = 0; q < keys.size(); ++q) {
            const greek_row& row = row_of(r, "o" + std::to_string(i), keys[q].key);
            // Tolerance for the error that Heston's time steps make.
            expect_near(row, q == i ? vega : 0, 0.01 * vega);
            EXPECT_EQ(row.measure, "vega");
            EXPECT_EQ(row.unit, "USD per 1 % of volatility");
        }
    }
    for (const greek_row& g : r.greeks) EXPECT_EQ(g.measure, "vega") << g.key;
}

TEST(quotes_view, a_caplet_that_is_met_has_its_own_vega_alone) {
    const marked_quotes quotes{
        day_and_curve +
        "calibrate:\n"
        "  USD:\n"
        "    hull_white:\n"
        "      caps:\n"
        "        - {start: 1, maturity: 2, payments_per_year: 1, strike: 0.034, volatility: <0.0090>, type: "
        "normal}\n"
        "        - {start: 3, maturity: 4, payments_per_year: 1, strike: 0.036, volatility: <0.0084>, type: "
        "normal}\n"};
    const market in = quotes.fitted();
    const results r = view_of(
        "  - {id: a, product: cap_floor, currency: USD, strike: 0.034, begin: 1, payments: [2]}\n"
        "  - {id: b, product: cap_floor, currency: USD, strike: 0.036, begin: 3, payments: [4]}\n",
        in, 1 << 16);
    const std::vector<std::string> keys{"USD.quote@1y,2y,0.034,cap", "USD.quote@3y,4y,0.036,cap"};
    const std::vector<double> begins{1, 3}, strikes{0.034, 0.036};
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& curve = state_of(in).discount_curve("USD");
        const double end = curve.discount(begins[i] + 1), forward = curve.discount(begins[i]) / end - 1;
        const double deviation = quotes.value(i) * std::sqrt(begins[i]);
        const double vega =
            1e-4 * 100 * end * std::sqrt(begins[i]) * bell((forward - strikes[i]) / deviation);
        for (std::size_t q = 0; q < 2; ++q) {
            const greek_row& row = row_of(r, i == 0 ? "a" : "b", keys[q]);
            expect_near(row, q == i ? vega : 0, 1e-5 * vega);
            EXPECT_EQ(row.unit, "USD per 1 bp of normal volatility");
        }
    }
}

// An Asian, which has no formula, with quotes that no model fits exactly: sensitivities against prices in
// markets fitted to moved quotes, on the same paths.
TEST(quotes_view, of_an_average_is_what_calibrating_again_gives) {
    const std::string trade =
        "  - {id: asian, product: asian, underlying: INDEX, strike: 6900, quantity: -2, averaging_dates: "
        "{start: 0, end: 1, count: 6}}\n";
    const market in = heston_quotes.fitted();
    const results r = view_of(trade, in, 1 << 16);
    const book asian = book::parse("trades:\n" + trade);
    for (std::size_t q = 0; q < heston_quotes.count(); ++q) {
        const double h = 2e-3;
        const auto price = [&](double by) {
            return engine().price(asian, heston_quotes.fitted(q, by), with_paths(1 << 16)).rows[0].price;
        };
        const double truth = -2 * 0.01 * (price(h) - price(-h)) / (2 * h);
        const greek_row& row = row_of(r, "asian", followed(heston_quotes).front().quotes[q].key);
        expect_near(row, truth, 2e-3 * std::abs(truth));
    }
    // kappa was fixed during the fit, so its sensitivity stays a row of its own.
    EXPECT_EQ(row_of(r, "asian", "INDEX.heston.kappa").measure, "parameter");
    EXPECT_THROW(row_of(r, "asian", "INDEX.heston.v0"), std::logic_error);
}

TEST(quotes_view, leaves_prices_and_other_rows_and_sums_quotes) {
    const std::string trades =
        "  - {id: c, product: european, underlying: INDEX, option: call, strike: 7000, maturity: 0.75}\n"
        "  - {id: p, product: european, underlying: INDEX, option: put, strike: 7000, maturity: 0.75}\n";
    const market in = heston_quotes.fitted();
    const results seen = view_of(trades, in, 1 << 14),
                  plain = engine().greeks(book::parse("trades:\n" + trades), in, {}, with_paths(1 << 14));
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(seen.rows[i].part_means, plain.rows[i].part_means);
    for (const greek_row& g : plain.greeks) {
        if (g.key.starts_with("INDEX.heston.") && !g.key.ends_with("kappa")) continue;
        EXPECT_EQ(row_of(seen, g.trade, g.key).part_means, g.part_means) << g.key;
    }
    double sum = 0, call = 0, put = 0;
    for (const greek_row& g : seen.greeks) {
        if (g.measure != "vega" || g.key.empty()) continue;
        if (g.trade == "c") sum += g.value;
        (g.trade == "c" ? call : put) += g.value;
    }
    EXPECT_NEAR(row_of(seen, "c", "").value, sum, 1e-12 * std::abs(sum));
    EXPECT_GT(std::abs(call), 1);
    const auto totals = seen.greek_totals();
    const auto all = std::ranges::find_if(totals, [](const greek_row& g) {
        return g.measure == "vega" && g.key == "INDEX.quote@2027-01-15,6900";
    });
    ASSERT_NE(all, totals.end());
    EXPECT_NEAR(all->value, row_of(seen, "c", all->key).value + row_of(seen, "p", all->key).value,
                1e-12 * std::abs(all->value));
    EXPECT_GT(all->standard_error, 0);
    EXPECT_EQ(view_of(trades, in, 1 << 14, {"delta"}).greeks.size(), 2u);
    EXPECT_EQ(view_of(trades, in, 1 << 14, {"INDEX.quote@*,6900"}).greeks.size(), 6u);
}

TEST(quotes_view, keys_say_which_quote_it_is) {
    std::vector<std::string> keys;
    for (const marked_quotes* of : {&bates_quotes, &hull_white_quotes})
        for (const calibrations::fitted_numbers& fit : followed(*of))
            for (const fitted_quote& q : fit.quotes) keys.push_back(q.key);
    EXPECT_EQ(keys,
              (std::vector<std::string>{"CHIPS.quote@2026-03-20,120,put", "CHIPS.quote@2026-03-20,140,call",
                                        "CHIPS.quote@2026-03-20,140,put", "CHIPS.quote@2026-07-17,110,put",
                                        "CHIPS.quote@2027-01-15,100,put", "CHIPS.quote@2027-01-15,190,call",
                                        "USD.quote@1y,4y,payer", "USD.quote@2y,3y,0.036,receiver",
                                        "USD.quote@2y,0.035,cap", "USD.quote@1y,4y,0.035,floor"}));
}

TEST(quotes_view, refuses_what_it_can_not_tell) {
    const std::string trade =
        "  - {id: c, product: european, underlying: INDEX, option: call, strike: 7000, maturity: 0.75}\n";
    const market in = heston_quotes.fitted();
    const auto refused = [&](const market& where, std::vector<std::string> wanted = {},
                             const std::string& view = "quotes") {
        try {
            engine().greeks(book::parse("trades:\n" + trade), where,
                            {std::move(wanted), greek_method::automatic, greek_view_named(view)},
                            with_paths(1024));
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const auto says = [](const std::string& message, const std::string& what) {
        return message.find(what) != std::string::npos;
    };
    EXPECT_TRUE(says(refused(in, {}, "quote"), "did you mean 'quotes'")) << refused(in, {}, "quote");
    EXPECT_TRUE(says(refused(in, {"INDEX.heston.v0"}), "INDEX.quote@2026-04-17,6200"));
    EXPECT_TRUE(says(refused(in, {"INDEX.quot@*"}), "INDEX.quot@*"));
    for (const auto& [key, by] : {std::pair{"INDEX.spot", 70.0},
                                  {"INDEX.heston.rho", 0.01},
                                  {"INDEX.heston.kappa", 0.1},
                                  {"USD.rate@1y", 1e-3}}) {
        const std::string message = refused(in.shifted(key, by));
        EXPECT_TRUE(says(message, "INDEX") && says(message, "unchanged")) << key << ": " << message;
    }
    const std::string text = calibrate(market_quotes::parse(heston_quotes.plain())).market;
    const std::string without = text.substr(0, text.find("calibrated:"));
    EXPECT_TRUE(says(refused(market::parse(without)), "'calibrated'"));
    std::string flat = without.substr(0, without.find("    model:")) + "    volatility: 0.2\n";
    EXPECT_TRUE(
        says(refused(market::parse(flat + text.substr(text.find("calibrated:")))), "INDEX.heston.v0"));
    for (const auto& [quotes, what] : std::vector<std::pair<std::string, std::string>>{
             {"calibrated: 3\n", "mapping"},
             {"calibrated: {INDX: {heston: {quotes: []}}}\n", "did you mean 'INDEX'"},
             {"calibrated: {INDEX: {heston: {}, svi: {}}}\n", "one model"},
             {"calibrated: {INDEX: [heston]}\n", "one model"}}) {
        try {
            market::parse(without + quotes);
            ADD_FAILURE() << quotes;
        } catch (const error& e) {
            EXPECT_TRUE(says(e.what(), what)) << e.what();
        }
    }
    for (const auto& [quotes, what] : std::vector<std::pair<std::string, std::string>>{
             {"calibrated: {INDEX: {hestn: {quotes: []}}}\n", "heston"},
             {"calibrated: {INDEX: {heston: {by_strike: {2027-01-15: {6000: 0.2, 6900: 1e400}}}}}\n",
              "1e400"},
             {"calibrated: {INDEX: {heston: {by_strike: {2025-01-15: {6000: 0.2, 6900: 0.2}}}}}\n",
              "2025-01-15"}})
        EXPECT_TRUE(says(refused(market::parse(without + quotes)), what))
            << refused(market::parse(without + quotes));
}

}  // namespace tilewalk::quotes_view_test
