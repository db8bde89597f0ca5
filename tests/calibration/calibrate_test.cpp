// SPDX-License-Identifier: Apache-2.0
// Calibration of models to quotes: quotes made by a model give its parameters back, published fits are
// reached, noise in quotes is what fits leave over, impossible quotes are refused at their place, and paths
// in the market that calibration writes reproduce the quotes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/base/text/document.h"
#include "engine/base/text/written.h"
#include "engine/base/wording.h"
#include "engine/market/asset.h"
#include "engine/market/market_state.h"
#include "engine/market/smile.h"
#include "engine/models/rates/gaussian.h"
#include "engine/numerics/black.h"
#include "engine/numerics/price.h"
#include "engine/reading/market_reader.h"
#include "tests/own_folder.h"
#include "tilewalk/calibration.h"
#include "tilewalk/engine.h"
#include "tilewalk/write.h"

namespace calibrate_test {
namespace {

using namespace tilewalk;
using config::shown;

// Two assets, one with dividends of every kind, and a curve that is not flat.
const std::string market_text = R"(as_of: 2026-01-15
currencies:
  USD: {zero_rates: {1.0: 0.035, 5.0: 0.042, 30.0: 0.04}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.015}
  CASHCOW:
    currency: USD
    spot: 82.5
    dividends: [{date: 2026-06-10, amount: 2}, {date: 2026-12-09, proportion: 0.02}, {date: 2027-06-09, amount: 2}]
)";

markets::market_state market_of(const std::string& text) {
    return markets::read_market(config::parse(text, "market"));
}

double parameter_of(const model_fit& fit, const std::string& name) {
    const auto at = std::ranges::find(fit.parameters, name, &fitted_parameter::name);
    return at == fit.parameters.end() ? std::nan("") : at->value;
}

std::string text_of(const calibration& c) {
    std::ostringstream out;
    write(out, c, output_format::table);
    return out.str();
}

double uniform(std::mt19937_64& dice, double low, double high) {
    return low + (high - low) * (static_cast<double>(dice() >> 11) * 0x1p-53);
}

struct made_quotes {
    std::string text;
    std::size_t count = 0;
};
made_quotes quotes_by(
    const std::function<fourier::characteristic(double years)>& law, const std::string& asset,
    const std::vector<double>& expiries, const std::vector<double>& deviations, bool by_price,
    const std::function<double()>& noise = [] { return 0.0; }) {
    const markets::market_state market = market_of(market_text);
    const markets::asset& of = market.find_asset(asset);
    const markets::curve& carry = market.discount_curve("USD");
    made_quotes made;
    for (const double years : expiries) {
        const fourier::characteristic at = law(years);
        const markets::affine spot = markets::spot_map(of, carry, years);
        const double forward = spot.scale + spot.shift;
        for (const double d : deviations) {
            const double strike = forward * std::exp(0.3 * d * std::sqrt(years));
            const bool is_call = strike >= forward;
            const auto worth = fourier::vanilla(at, (strike - spot.shift) / spot.scale);
            const double price = spot.scale * (is_call ? worth.call : worth.put);
            const analytics::right option = is_call ? analytics::right::call : analytics::right::put;
            made.text += "        - {expiry: " + shown(years) + ", strike: " + shown(strike) + ", ";
            made.text += by_price ? "option: " + std::string(is_call ? "call" : "put") +
                                        ", price: " + shown(carry.discount(years) * price)
                                  : "volatility: " + shown(analytics::implied_volatility(
                                                               option, forward, strike, years, price) +
                                                           noise());
            made.text += "}\n";
            ++made.count;
        }
    }
    return made;
}

const std::vector<double> three_expiries{0.15, 0.75, 2.5}, seven_strikes{-2, -1.2, -0.6, 0, 0.5, 1, 1.6};

calibration fit_of(const std::string& of, const std::string& model, const std::string& quotes,
                   const std::string& more = "") {
    return calibrate(market_quotes::parse(market_text + "calibrate:\n  " + of + ":\n    " + model + ":\n" +
                                          more + "      quotes:\n" + quotes));
}

// Quotes are made by random parameters, half of them far beyond Feller's condition.
TEST(calibrate_test, heston_finds_the_parameters_that_made_its_quotes) {
    std::mt19937_64 dice(20261121);
    int beyond_feller = 0;
    for (int i = 0; i < 4; ++i) {
        const fourier::heston p{uniform(dice, 0.02, 0.12), uniform(dice, 0.5, 4), uniform(dice, 0.02, 0.12),
                                i % 2 == 0 ? uniform(dice, 0.6, 1.2) : uniform(dice, 0.15, 0.35),
                                uniform(dice, -0.85, 0.2)};
        beyond_feller += 2 * p.kappa * p.theta < p.sigma * p.sigma ? 1 : 0;
        const bool by_price = i == 2;
        const std::string asset = i == 1 ? "CASHCOW" : "ACME";
        const made_quotes made = quotes_by([&](double years) { return characteristic_of(p, years); }, asset,
                                           three_expiries, seven_strikes, by_price);
        const calibration found = fit_of(asset, "heston", made.text);
        ASSERT_EQ(found.fits.size(), 1U);
        const model_fit& fit = found.fits[0];
        EXPECT_EQ(fit.quotes.size(), made.count);
        EXPECT_TRUE(found.is_sound()) << text_of(found);
        EXPECT_LT(fit.largest, by_price ? 1e-6 : 1e-8) << text_of(found);
        for (const auto& [name, value] :
             {std::pair("v0", p.v0), std::pair("kappa", p.kappa), std::pair("theta", p.theta),
              std::pair("sigma", p.sigma), std::pair("rho", p.rho)}) {
            EXPECT_NEAR(parameter_of(fit, name), value, 1e-4 * std::abs(value) + 1e-6) << name << "\n"
                                                                                       << text_of(found);
        }
    }
    EXPECT_GE(beyond_feller, 2);
}

TEST(calibrate_test, bates_meets_its_quotes_and_holds_what_is_fixed) {
    const fourier::bates p{{0.03, 2, 0.04, 0.5, -0.6}, {0.4, -0.15, 0.1}};
    const made_quotes made = quotes_by([&](double years) { return characteristic_of(p, years); }, "ACME",
                                       three_expiries, seven_strikes, false);
    const calibration found =
        fit_of("ACME", "bates", made.text,
               "      fixed: {kappa: 2, jump_sd: 0.1}\n      bounds: {rho: [-0.9, 0.5]}\n");
    const model_fit& fit = found.fits[0];
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    EXPECT_LT(fit.largest, 1e-6) << text_of(found);
    EXPECT_EQ(parameter_of(fit, "kappa"), 2);
    EXPECT_EQ(fit.parameters[1].is, fitted_parameter::state::fixed);
    EXPECT_NEAR(parameter_of(fit, "jump_mean"), -0.15, 1e-3) << text_of(found);
    EXPECT_NEAR(parameter_of(fit, "jump_intensity"), 0.4, 1e-2) << text_of(found);
}

// The sum of 35 squared residuals is between 0.3 and 2.1 times its mean; it is outside with probability 1e-4
// on either side, and the seed is fixed.
TEST(calibrate_test, noise_in_the_quotes_is_what_a_fit_leaves_over) {
    std::mt19937_64 dice(7);
    const double size = 0.002;
    const auto noise = [&] {
        const double u = uniform(dice, 1e-12, 1), angle = 2 * std::numbers::pi * uniform(dice, 0, 1);
        return size * std::sqrt(-2 * std::log(u)) * std::cos(angle);
    };
    const fourier::heston p{0.05, 1.5, 0.06, 0.6, -0.65};
    const std::vector<double> five{0.15, 0.4, 0.75, 1.5, 2.5};
    const made_quotes made = quotes_by([&](double years) { return characteristic_of(p, years); }, "ACME",
                                       five, {-2, -1.2, -0.8, -0.4, 0, 0.4, 0.8, 1.4}, false, noise);
    const calibration found = fit_of("ACME", "heston", made.text);
    const double squares = found.fits[0].root_mean_square * found.fits[0].root_mean_square * 40;
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    EXPECT_GT(squares, 0.3 * 35 * size * size) << text_of(found);
    EXPECT_LT(squares, 2.1 * 35 * size * size) << text_of(found);
    EXPECT_NEAR(parameter_of(found.fits[0], "rho"), p.rho, 0.1);
    const calibration again = fit_of("ACME", "heston", made.text);
    EXPECT_EQ(found.market, again.market);
}

// Volatilities of the DAX on 5 July 2002 from A. Sepp, "Pricing European-style options under jump diffusion
// processes with stochastic volatility", 2003. Heston's best fit has a sum of squares of 177.2 points;
// QuantLib's test suite expects the same within 1.
TEST(calibrate_test, the_published_fit_of_the_dax_is_reached) {
    const std::array<double, 8> rates{0.0357, 0.0349, 0.0341, 0.0355, 0.0359, 0.0368, 0.0386, 0.0401};
    const std::array<int, 8> days{13, 41, 75, 165, 256, 345, 524, 703}, weeks{2, 6, 11, 24, 37, 49, 75, 100};
    const std::array<double, 13> strikes{3400, 3600, 3800, 4000, 4200, 4400, 4500,
                                         4600, 4800, 5000, 5200, 5400, 5600};
    const std::array<std::array<double, 8>, 13> volatilities{
        {{0.6625, 0.4875, 0.4204, 0.3667, 0.3431, 0.3267, 0.3121, 0.3121},
         {0.6007, 0.4543, 0.3967, 0.3511, 0.3279, 0.3154, 0.2984, 0.2921},
         {0.5084, 0.4221, 0.3718, 0.3327, 0.3155, 0.3027, 0.2919, 0.2889},
         {0.4541, 0.3869, 0.3492, 0.3149, 0.2963, 0.2926, 0.2819, 0.2800},
         {0.4060, 0.3607, 0.3330, 0.2999, 0.2887, 0.2811, 0.2751, 0.2775},
         {0.3726, 0.3396, 0.3108, 0.2781, 0.2788, 0.2722, 0.2661, 0.2686},
         {0.3550, 0.3277, 0.3012, 0.2781, 0.2781, 0.2661, 0.2661, 0.2681},
         {0.3428, 0.3209, 0.2958, 0.2740, 0.2688, 0.2627, 0.2580, 0.2620},
         {0.3302, 0.3062, 0.2799, 0.2631, 0.2573, 0.2533, 0.2504, 0.2544},
         {0.3343, 0.2959, 0.2705, 0.2540, 0.2504, 0.2464, 0.2448, 0.2462},
         {0.3460, 0.2845, 0.2624, 0.2463, 0.2425, 0.2385, 0.2373, 0.2422},
         {0.3857, 0.2860, 0.2578, 0.2399, 0.2357, 0.2327, 0.2312, 0.2351},
         {0.3976, 0.2860, 0.2607, 0.2356, 0.2297, 0.2268, 0.2241, 0.2320}}};
    std::string text = "as_of: 2002-07-05\ncurrencies:\n  EUR:\n    zero_rates: {";
    for (std::size_t i = 0; i < 8; ++i) {
        text += (i == 0 ? "" : ", ") + shown(days[i] / 365.0) + ": " + shown(rates[i]);
    }
    text +=
        "}\nassets: {DAX: {currency: EUR, spot: 4468.17}}\ncalibrate:\n  DAX:\n    heston:\n      "
        "by_strike:\n";
    for (std::size_t i = 0; i < 8; ++i) {
        text += "        " + shown(7.0 * weeks[i] / 365.0) + ": {";
        for (std::size_t k = 0; k < 13; ++k) {
            text += (k == 0 ? "" : ", ") + shown(strikes[k]) + ": " + shown(volatilities[k][i]);
        }
        text += "}\n";
    }
    const calibration found = calibrate(market_quotes::parse(text));
    double squares = 0;
    for (const fitted_quote& q : found.fits[0].quotes) squares += 1e4 * q.difference() * q.difference();
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    EXPECT_NEAR(squares, 177.2, 1.0) << text_of(found);
}

std::string svi_quotes(double years, const markets::svi_parameters& p, const std::vector<double>& moneyness) {
    std::string out;
    for (const double x : moneyness) {
        const double variance = markets::smile::svi(p).at(x).variance;
        out += "        - {expiry: " + shown(years) + ", moneyness: " + shown(std::exp(x)) +
               ", volatility: " + shown(std::sqrt(variance / years)) + "}\n";
    }
    return out;
}

const std::vector<double> nine_places{-0.6, -0.4, -0.25, -0.1, 0, 0.1, 0.2, 0.35, 0.5};

TEST(calibrate_test, svi_finds_the_smiles_that_made_its_quotes) {
    const markets::svi_parameters first{0.009, 0.08, -0.45, 0.02, 0.18},
        second{0.046, 0.14, -0.38, 0.05, 0.33};
    const calibration found =
        fit_of("ACME", "svi", svi_quotes(0.5, first, nine_places) + svi_quotes(2, second, nine_places));
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    ASSERT_EQ(found.fits.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const markets::svi_parameters& p = i == 0 ? first : second;
        const model_fit& fit = found.fits[i];
        EXPECT_TRUE(fit.remarks.empty()) << text_of(found);
        EXPECT_LT(fit.largest, 1e-8) << text_of(found);
        EXPECT_NEAR(parameter_of(fit, "a"), p.a, 1e-5);
        EXPECT_NEAR(parameter_of(fit, "b"), p.b, 1e-5);
        EXPECT_NEAR(parameter_of(fit, "rho"), p.rho, 1e-4);
        EXPECT_NEAR(parameter_of(fit, "m"), p.m, 1e-4);
        EXPECT_NEAR(parameter_of(fit, "sigma"), p.sigma, 1e-4);
    }
    EXPECT_NO_THROW(market::parse(found.market));
}

// Two quotes at practically one place conflict: one is moved up, one down with four times the weight. The
// best smile passes between them in the ratio of the weights; its five parameters meet all other quotes.
TEST(calibrate_test, quotes_in_conflict_are_met_by_their_weights) {
    constexpr double conflict = 1e-3;
    const auto both = [&](double volatility) {
        return "        - {expiry: 1, moneyness: 1, volatility: " + shown(volatility + conflict) +
               ", weight: 1}\n        - {expiry: 1, moneyness: 1.0000001, volatility: " +
               shown(volatility - conflict) + ", weight: 4}\n";
    };
    const markets::svi_parameters p{0.02, 0.1, -0.4, 0.02, 0.3};
    const double middle = std::sqrt(markets::smile::svi(p).at(0).variance);
    const double expected = middle - 0.6 * conflict;

    const calibration smile = fit_of("ACME", "svi", svi_quotes(1, p, {-0.5, -0.2, 0.2, 0.4}) + both(middle));
    ASSERT_EQ(smile.fits.size(), 1U);
    ASSERT_EQ(smile.fits[0].quotes.size(), 6U);
    EXPECT_NEAR(smile.fits[0].quotes[4].model, expected, 1e-6) << text_of(smile);
    EXPECT_NEAR(smile.fits[0].quotes[5].model, expected, 1e-6) << text_of(smile);
    // Weights sum to 9; residuals are 1.6 at weight 1 and 0.4 at weight 4.
    EXPECT_NEAR(smile.fits[0].root_mean_square, std::sqrt(3.2 / 9) * conflict, 1e-6) << text_of(smile);

    // Heston with one free parameter also passes between the two quotes in that ratio.
    const calibration level = fit_of("ACME", "heston", both(middle),
                                     "      fixed: {kappa: 1, theta: 0.04, sigma: 0.3, rho: -0.5}\n");
    ASSERT_EQ(level.fits.size(), 1U);
    ASSERT_EQ(level.fits[0].quotes.size(), 2U);
    EXPECT_NEAR(level.fits[0].root_mean_square, 0.8 * conflict, 1e-6) << text_of(level);
    for (const fitted_quote& q : level.fits[0].quotes) EXPECT_NEAR(q.model, expected, 1e-6) << text_of(level);
}

// Quoted smiles cross: the later one has the lower variance in the wings, which is an arbitrage. The fit
// allows no crossing, meets quotes less well, and says so; the market that it writes can be read.
TEST(calibrate_test, svi_is_held_off_the_arbitrage_of_its_quotes) {
    const markets::svi_parameters first{0.01, 0.30, -0.3, 0, 0.1}, second{0.04, 0.10, -0.3, 0, 0.1};
    const calibration found =
        fit_of("ACME", "svi", svi_quotes(0.5, first, nine_places) + svi_quotes(1, second, nine_places));
    ASSERT_EQ(found.fits.size(), 2U);
    const model_fit& later = found.fits[1];
    EXPECT_FALSE(later.has_arbitrage) << text_of(found);
    EXPECT_GT(later.root_mean_square, 1e-3) << text_of(found);
    ASSERT_FALSE(later.remarks.empty());
    EXPECT_NE(later.remarks[0].find("calendar arbitrage"), std::string::npos) << text_of(found);
    EXPECT_EQ(text_of(found).find("WITH ARBITRAGE"), std::string::npos);
    calibration with = found;
    with.fits[1].has_arbitrage = true;
    EXPECT_NE(text_of(with).find(", WITH ARBITRAGE"), std::string::npos) << text_of(with);
    std::ostringstream json;
    write(json, with, output_format::json);
    const auto told = nlohmann::json::parse(json.str());
    ASSERT_EQ(told.at("fits").size(), 2U) << json.str();
    EXPECT_EQ(told["fits"][1]["quotes"].size(), later.quotes.size());
    EXPECT_EQ(told["fits"][1]["parameters"].size(), later.parameters.size());
    EXPECT_EQ(told["fits"][1]["remarks"].size(), later.remarks.size());
    EXPECT_NO_THROW(market::parse(found.market)) << found.market;
}

// Quoted variance falls along two lines, the right one less steep. A right wing of SVI can't fall: the
// nearest is level, at a correlation of -1. The slope of the left wing, 2 b, is found.
TEST(calibrate_test, svi_with_a_level_wing_stops_at_its_correlation) {
    std::string quotes;
    for (const double x : nine_places)
        quotes += "        - {expiry: 1, moneyness: " + shown(std::exp(x)) +
                  ", volatility: " + shown(std::sqrt(0.06 - (x < 0 ? 0.2 : 0.02) * x)) + "}\n";
    const calibration found = fit_of("ACME", "svi", quotes);
    ASSERT_EQ(found.fits.size(), 1U);
    const model_fit& fit = found.fits[0];
    EXPECT_TRUE(fit.is_at_bound()) << text_of(found);
    EXPECT_NEAR(parameter_of(fit, "rho"), -1, 1e-4) << text_of(found);
    EXPECT_NEAR(parameter_of(fit, "b"), 0.1, 0.01) << text_of(found);
    for (const fitted_parameter& p : fit.parameters)
        EXPECT_EQ(p.is == fitted_parameter::state::at_bound, p.name == "rho") << p.name << text_of(found);
    EXPECT_NE(text_of(found).find("STOPPED AT A BOUND (rho)"), std::string::npos) << text_of(found);
}

double bachelier(double forward, double strike, double years, double volatility) {
    const double s = volatility * std::sqrt(years), d = (forward - strike) / s;
    return (forward - strike) * 0.5 * std::erfc(-d / std::numbers::sqrt2) +
           s * std::exp(-0.5 * d * d) / std::sqrt(2 * std::numbers::pi);
}

rates::swap_terms swap_of(double expiry, double tenor, double per_year) {
    rates::swap_terms swap{expiry, {}, {}};
    for (int i = 1; i <= static_cast<int>(std::lround(tenor * per_year)); ++i) {
        swap.payments.push_back(expiry + i / per_year);
        swap.accruals.push_back(1 / per_year);
    }
    return swap;
}

std::string swaptions_by(const rates::gaussian_rates& model, bool by_price) {
    const markets::market_state market = market_of(market_text);
    const markets::curve& curve = market.discount_curve("USD");
    std::string out;
    for (const double expiry : {0.5, 1.0, 3.0, 7.0}) {
        for (const double tenor : {1.0, 5.0, 10.0}) {
            const rates::swap_terms swap = swap_of(expiry, tenor, 2);
            const double rate = rates::swap_rate(curve, swap), annuity = rates::annuity(curve, swap),
                         strike = rate + (by_price ? 0.002 : 0);
            const double price = rates::swaption(analytics::right::call, model, curve, expiry, swap, strike);
            out += "        - {expiry: " + shown(expiry) + ", tenor: " + shown(tenor) +
                   ", payments_per_year: 2, ";
            if (by_price) {
                out += "strike: " + shown(strike) + ", price: " + shown(price) + "}\n";
            } else {
                const double volatility =
                    price / annuity * std::sqrt(2 * std::numbers::pi) / std::sqrt(expiry);
                EXPECT_NEAR(bachelier(rate, rate, expiry, volatility), price / annuity, 1e-14);
                out += "volatility: " + shown(volatility) + ", type: normal}\n";
            }
        }
    }
    return out;
}

calibration rates_fit(const std::string& model, const std::string& quotes) {
    return calibrate(market_quotes::parse(market_text + "calibrate:\n  USD:\n    " + model + ":\n" + quotes));
}

TEST(calibrate_test, hull_white_finds_the_parameters_that_made_its_swaptions) {
    for (const bool by_price : {false, true}) {
        const auto model = rates::hull_white(0.04, models::by_term::flat(0.011));
        const calibration found =
            rates_fit("hull_white", "      swaptions:\n" + swaptions_by(model, by_price));
        const model_fit& fit = found.fits[0];
        EXPECT_TRUE(found.is_sound()) << text_of(found);
        EXPECT_LT(fit.largest, 1e-10) << text_of(found);
        EXPECT_NEAR(parameter_of(fit, "mean_reversion"), 0.04, 1e-6);
        EXPECT_NEAR(parameter_of(fit, "volatility"), 0.011, 1e-8);
        EXPECT_NO_THROW(market::parse(found.market)) << found.market;
    }
}

// Caps are quoted by one flat volatility each, for all of their caplets.
TEST(calibrate_test, hull_white_is_fitted_to_caps_by_their_flat_volatility) {
    const auto model = rates::hull_white(0.08, models::by_term::flat(0.009));
    const markets::market_state market = market_of(market_text);
    const markets::curve& curve = market.discount_curve("USD");
    std::string quotes = "      caps:\n";
    for (const double maturity : {1.0, 3.0, 7.0}) {
        std::vector<rates::period> periods;
        for (double t = 0.25; t < maturity - 1e-9; t += 0.25) periods.push_back({t, t + 0.25, 0.25});
        const double strike = 0.04, price = rates::cap(analytics::right::call, model, curve, periods, strike);
        double low = 1e-5, high = 0.5;
        for (int i = 0; i < 100; ++i) {
            const double middle = 0.5 * (low + high);
            double worth = 0;
            for (const rates::period& p : periods) {
                const double from = curve.discount(p.start), to = curve.discount(p.end);
                worth += 0.25 * to * bachelier((from / to - 1) / 0.25, strike, p.start, middle);
            }
            (worth < price ? low : high) = middle;
        }
        quotes += "        - {maturity: " + shown(maturity) + ", strike: 0.04, volatility: " + shown(low) +
                  ", type: normal}\n";
    }
    const calibration found = rates_fit("hull_white", quotes);
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    EXPECT_LT(found.fits[0].largest, 1e-10) << text_of(found);
    EXPECT_NEAR(parameter_of(found.fits[0], "mean_reversion"), 0.08, 1e-5);
    EXPECT_NEAR(parameter_of(found.fits[0], "volatility"), 0.009, 1e-7);
}

// The expected strike is the rate of the cap's swap; on so steep a curve the mean forward rate differs.
TEST(calibrate_test, a_cap_without_a_strike_is_at_the_rate_of_its_swap) {
    const std::string steep = R"(as_of: 2026-01-15
currencies:
  USD: {zero_rates: {1.0: 0.01, 5.0: 0.05, 10.0: 0.08}}
assets: {}
)";
    const markets::market_state market = market_of(steep);
    const markets::curve& curve = market.discount_curve("USD");
    double annuity = 0, forwards = 0;
    for (int i = 1; i < 40; ++i) {
        annuity += 0.25 * curve.discount(0.25 * (i + 1));
        forwards += (curve.discount(0.25 * i) / curve.discount(0.25 * (i + 1)) - 1) / 0.25;
    }
    const double swap_rate = (curve.discount(0.25) - curve.discount(10)) / annuity;
    ASSERT_GT(forwards / 39, swap_rate + 0.002);
    const auto volatility_with = [&](const std::string& strike) {
        const calibration found = calibrate(market_quotes::parse(
            steep +
            "calibrate:\n  USD:\n    hull_white:\n      fixed: {mean_reversion: 0.05}\n      caps:\n" +
            "        - {maturity: 10, " + strike + "volatility: 0.009, type: normal}\n"));
        EXPECT_LT(found.fits[0].largest, 1e-10) << text_of(found);
        return parameter_of(found.fits[0], "volatility");
    };
    const double at_the_money = volatility_with("");
    EXPECT_NEAR(at_the_money, volatility_with("strike: " + shown(swap_rate) + ", "), 1e-9);
    EXPECT_GT(std::abs(at_the_money - volatility_with("strike: " + shown(forwards / 39) + ", ")), 1e-7);
}

TEST(calibrate_test, g2_meets_the_swaptions_that_it_made) {
    const calibration found =
        rates_fit("g2", "      swaptions:\n" + swaptions_by(rates::g2(0.6, 0.012, 0.04, 0.009, -0.7), false));
    const model_fit& fit = found.fits[0];
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    EXPECT_LT(fit.largest, 1e-8) << text_of(found);
    EXPECT_NEAR(parameter_of(fit, "rho"), -0.7, 1e-2) << text_of(found);
    EXPECT_NEAR(std::max(parameter_of(fit, "a"), parameter_of(fit, "b")), 0.6, 1e-2) << text_of(found);
    EXPECT_NO_THROW(market::parse(found.market)) << found.market;
}

// QuantLib's test suite fits these volatilities by Hull and White to relative errors: a = 0.0464 and sigma =
// 0.00580. Its swaps have calendars, day counts and a lag of two days, which we leave out: this shifts the
// first number by up to a twentieth and the second by up to a hundredth.
TEST(calibrate_test, the_kept_fit_of_hull_white_is_reached_but_for_calendars) {
    std::string text =
        "as_of: 2002-02-15\ncurrencies: {EUR: {rate: 0.04875825}}\ncalibrate:\n  EUR:\n    hull_white:\n"
        "      swaptions:\n";
    for (const auto& [expiry, tenor, volatility] :
         {std::array{1.0, 5.0, 0.1148}, std::array{2.0, 4.0, 0.1108}, std::array{3.0, 3.0, 0.1070},
          std::array{4.0, 2.0, 0.1021}, std::array{5.0, 1.0, 0.1000}}) {
        text += "        - {expiry: " + shown(expiry) + ", tenor: " + shown(tenor) +
                ", volatility: " + shown(volatility) +
                ", type: black, weight: " + shown(1 / (volatility * volatility)) + "}\n";
    }
    const calibration found = calibrate(market_quotes::parse(text));
    EXPECT_TRUE(found.is_sound()) << text_of(found);
    EXPECT_NEAR(parameter_of(found.fits[0], "mean_reversion"), 0.0464, 0.05 * 0.0464) << text_of(found);
    EXPECT_NEAR(parameter_of(found.fits[0], "volatility"), 0.00580, 0.01 * 0.00580) << text_of(found);
}

// Calibration keeps the other parts of the market, and paths in it price the quoted options: within 4.5
// standard errors, which a sound engine misses in one of 20,000 runs of these eight options.
TEST(calibrate_test, the_written_market_gives_the_quotes_back_by_paths) {
    const fourier::heston p{0.05, 1.5, 0.06, 0.6, -0.65};
    const std::vector<double> expiries{0.5, 1.5}, strikes{-1, 0, 0.6, 1};
    const made_quotes made = quotes_by([&](double years) { return characteristic_of(p, years); }, "CASHCOW",
                                       expiries, strikes, true);
    const calibration found = fit_of("CASHCOW", "heston", made.text);
    const market written = market::parse(found.market);
    std::string book = "trades:\n";
    const config::node quotes = config::parse("quotes:\n" + made.text, "quotes");
    for (const config::node& q : quotes.at("quotes").items()) {
        book += "  - {id: at_" + q.at("strike").text() + "_" + q.at("expiry").text() +
                ", product: european, underlying: CASHCOW, option: " + q.at("option").text() +
                ", strike: " + q.at("strike").text() + ", maturity: " + q.at("expiry").text() + "}\n";
    }
    run_options how;
    how.overrides.paths = 40000;
    how.overrides.device = "cpu";
    const results priced = engine().price(book::parse(book), written, how);
    ASSERT_EQ(priced.rows.size(), made.count);
    for (std::size_t i = 0; i < priced.rows.size(); ++i) {
        const price_row& row = priced.rows[i];
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        EXPECT_NEAR(row.price, quotes.at("quotes").items()[i].at("price").number(), 4.5 * row.standard_error)
            << row.trade;
    }
}

TEST(calibrate_test, the_market_keeps_all_else_and_reads_back_exactly) {
    const fourier::heston p{0.05, 1.5, 0.06, 0.6, -0.65};
    const made_quotes made = quotes_by([&](double years) { return characteristic_of(p, years); }, "ACME",
                                       three_expiries, seven_strikes, false);
    // The correlation names a factor of the fitted Heston model, which replaces the constant volatility.
    const std::string text =
        "as_of: 2026-01-15\n"
        "currencies: {USD: {zero_rates: {1.0: 0.035, 5.0: 0.042, 30.0: 0.04}}}\n"
        "assets:\n"
        "  ACME: {currency: USD, spot: 100, dividend_yield: 0.015, volatility: 0.2}\n"
        "  \"ODD, {NAME}\\\"'#\":\n    {currency: USD, spot: 3, volatility: 0.3}\n"
        "correlations: [[ACME.variance, \"ODD, {NAME}\\\"'#\", 0.3]]\n"
        "fixings: {ACME: {2026-01-02: 99.5}}\n";
    EXPECT_THROW(market::parse(text), error);  // the other asset's name has a space
    const std::string sound = [&] {
        std::string out = text;
        for (std::size_t at = 0; (at = out.find("ODD, {NAME}", at)) != std::string::npos;) {
            out.replace(at, 11, "ODD,{NAME}");
        }
        return out;
    }();
    const calibration found = calibrate(
        market_quotes::parse(sound + "calibrate:\n  ACME:\n    heston:\n      quotes:\n" + made.text));
    const config::node root = config::parse(found.market, "written");
    EXPECT_EQ(root.find("calibrate"), nullptr);
    const config::node& acme = root.at("assets").at("ACME");
    EXPECT_EQ(acme.find("volatility"), nullptr);
    for (const fitted_parameter& q : found.fits[0].parameters) {
        EXPECT_EQ(acme.at("model").at("heston").at(q.name).number(), q.value) << q.name;
    }
    EXPECT_EQ(config::written(root), found.market.substr(found.market.find("as_of")));
    const markets::market_state read = markets::read_market(root);
    EXPECT_EQ(read.correlation("ACME.variance", "ODD,{NAME}\"'#"), 0.3);
    EXPECT_EQ(read.fixings.at("ACME").size(), 1U);
}

TEST(calibrate_test, what_is_written_reads_as_the_same_tree) {
    const config::node demo =
        config::load(std::filesystem::path(TILEWALK_SOURCE_DIR) / "configs/markets/demo.yaml");
    const std::string once = config::written(demo);
    EXPECT_EQ(config::written(config::parse(once, "once")), once);
    EXPECT_NO_THROW(market::parse(once));
    std::string many = "a: {b: {c: [";
    for (int i = 0; i < 1000; ++i) many += (i == 0 ? "" : ", ") + std::to_string(i);
    const config::node long_list =
        config::parse(many + "], d: \"tab\\t, quote \\\" and \\\\\", e: -1e-05, f: -x}}", "many");
    const std::string written = config::written(long_list);
    const config::node back = config::parse(written, "back");
    EXPECT_EQ(back.at("a").at("b").at("c").items().size(), 1000U);
    EXPECT_EQ(back.at("a").at("b").at("d").text(), "tab\t, quote \" and \\");
    EXPECT_EQ(back.at("a").at("b").at("e").number(), -1e-05);
    EXPECT_EQ(back.at("a").at("b").at("f").text(), "-x");
    std::istringstream lines(written);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U);
}

TEST(calibrate_test, a_fit_that_stops_at_a_bound_says_so) {
    const fourier::heston p{0.05, 1.5, 0.06, 0.6, -0.65};
    const made_quotes made = quotes_by([&](double years) { return characteristic_of(p, years); }, "ACME",
                                       three_expiries, seven_strikes, false);
    const calibration found = fit_of("ACME", "heston", made.text, "      bounds: {rho: [-0.4, 0.9]}\n");
    EXPECT_FALSE(found.is_sound());
    EXPECT_TRUE(found.fits[0].is_at_bound());
    EXPECT_NEAR(parameter_of(found.fits[0], "rho"), -0.4, 1e-3) << text_of(found);
    EXPECT_NE(text_of(found).find("STOPPED AT A BOUND (rho)"), std::string::npos) << text_of(found);
    EXPECT_NE(found.market.find("STOPPED AT A BOUND"), std::string::npos);
}

// If the variance never moves, quotes say nothing of its correlation; at one expiry the two numbers of a
// short rate have the same effect.
TEST(calibrate_test, what_the_quotes_do_not_determine_is_named) {
    const calibration flat = calibrate(market_quotes::parse(
        market_text +
        "calibrate: {ACME: {heston: {fixed: {sigma: 0, kappa: 2}, by_moneyness: {0.5: {0.9: 0.2, 1.1: "
        "0.2}, 1.5: {0.9: 0.21, 1.1: 0.21}}}}}\n"));
    ASSERT_EQ(flat.fits[0].remarks.size(), 1U) << text_of(flat);
    EXPECT_TRUE(flat.fits[0].remarks[0].starts_with("the quotes hardly determine rho:")) << text_of(flat);
    const calibration one =
        rates_fit("hull_white",
                  "      caps: [{start: 1, maturity: 1.25, strike: 0.03, volatility: 0.008, type: normal}, "
                  "{start: 1, maturity: 1.25, strike: 0.04, volatility: 0.008, type: normal}]\n");
    ASSERT_EQ(one.fits[0].remarks.size(), 1U) << text_of(one);
    EXPECT_TRUE(one.fits[0].remarks[0].starts_with("the quotes hardly determine mean_reversion, volatility:"))
        << text_of(one);
    const calibration all = rates_fit(
        "hull_white",
        "      swaptions:\n" + swaptions_by(rates::hull_white(0.04, models::by_term::flat(0.011)), false));
    EXPECT_TRUE(all.fits[0].remarks.empty()) << text_of(all);
}

TEST(calibrate_test, scenarios_are_found_from_wherever_the_market_is_written) {
    const tests::own_folder folder;
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
    std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }";
    head += std::string(117 - head.size(), ' ') + '\n';
    bytes += static_cast<char>(head.size());
    bytes += std::string(1, '\0') + head;
    const std::array<double, 2> volatilities{0.2, 0.3};
    bytes.append(reinterpret_cast<const char*>(volatilities.data()), sizeof volatilities);
    folder.write("vols.npy", bytes);
    const auto file =
        folder.write("quotes.yaml",
                     market_text +
                         "  PATHS: {currency: USD, spot: 10, volatility: {scenarios: vols.npy, times: [1]}}\n"
                         "calibrate: {USD: {hull_white: {fixed: {mean_reversion: 0.05}, swaptions: "
                         "[{expiry: 1, tenor: 5, volatility: 0.008, type: normal}]}}}\n");
    const calibration found = calibrate(market_quotes::load(file));
    EXPECT_NO_THROW(market::parse(found.market)) << found.market;
}

struct bad_input {
    std::string calibrate;  // text after "calibrate: "
    std::string place;      // expected place of the refusal, line:column
    std::string said;
};

TEST(calibrate_test, bad_quotes_are_refused_where_they_stand) {
    const std::string heston = "{ACME: {heston: {quotes: [";
    const std::vector<bad_input> all{
        {"{}", "10:12", "found nothing to calibrate"},
        {"3", "10:12", "expected a mapping of assets and currencies"},
        {"{ACMF: {heston: {quotes: [{expiry: 1, strike: 100, volatility: 0.2}]}}}", "10:13",
         "unknown asset 'ACMF'; did you mean 'ACME'? known: ACME, CASHCOW"},
        {"{USD: {heston: {quotes: []}}}", "10:19", "which is a currency; expected a model of rates"},
        {"{ACME: {g2: {swaptions: []}}}", "10:20", "which is an asset; expected a model of assets"},
        {"{ACME: {hestn: {}}}", "10:20", "did you mean 'heston'?"},
        {"{ACME: {heston: {}, svi: {}}}", "10:19", "found 2 models"},
        {"{ACME: {heston: {qoutes: []}}}", "10:29", "unknown key 'qoutes'"},
        {"{ACME: {heston: {fixed: {kappa: 1}}}}", "10:28", "found 0 forms of quotes"},
        {"{ACME: {heston: {quotes: []}}}", "10:37", "found no quotes"},
        {heston + "{expiry: 1, strike: 100, volatility: 0.2}]}}}", "10:28",
         "found 1 quotes for 5 free parameters"},
        {heston + "{expiry: 2026-01-15, strike: 100, volatility: 0.2}]}}}", "10:47",
         "expected one after as_of"},
        {heston + "{expiry: 1, volatility: 0.2}]}}}", "10:38", "found neither strike nor moneyness"},
        {heston + "{expiry: 1, strike: 100}]}}}", "10:38", "found neither volatility nor price"},
        {heston + "{expiry: 1, strike: 100, price: 5}]}}}", "10:38", "missing key 'option'"},
        {heston + "{expiry: 1, strike: -4, volatility: 0.2}]}}}", "10:58", "found -4"},
        {heston + "{expiry: 1, strike: 100, volatility: 20}]}}}", "10:75", "found 20"},
        {heston + "{expiry: 1, strike: 100, volatility: 0.2, weight: -1}]}}}", "10:88", "found -1"},
        {heston + "{expiry: 1, strike: 300, volatility: 0.05}]}}}", "10:38", "not exact enough to fit less"},
        {heston + "{expiry: 1, strike: 80, option: call, price: 17}]}}}", "10:83",
         "found the price 17, expected more than"},
        {heston + "{expiry: 1, strike: 80, option: call, price: 120}]}}}", "10:83", "less than 98"},
        {heston + "{expiry: 1, strike: 90, volatility: 0.2}, {expiry: 2027-01-15, strike: 90, volatility: "
                  "0.3}]}}}",
         "10:80", "again, given first at quotes:10:38"},
        {heston +
             "{expiry: 1, strike: 90, volatility: 0.2}, {expiry: 1, strike: 91, option: put, price: 4}]}}}",
         "10:80", "or all to be prices"},
        {"{ACME: {heston: {fixed: {kapa: 1}, quotes: [{expiry: 1, strike: 90, volatility: 0.2}]}}}", "10:37",
         "did you mean 'kappa'?"},
        {"{ACME: {heston: {fixed: {rho: -2}, quotes: [{expiry: 1, strike: 90, volatility: 0.2}]}}}", "10:42",
         "found -2"},
        {"{ACME: {heston: {bounds: {rho: [0.5, 0.1]}, quotes: [{expiry: 1, strike: 90, volatility: 0.2}]}}}",
         "10:49", "expected a higher one"},
        {"{ACME: {heston: {bounds: {kappa: [2, 2]}, quotes: [{expiry: 1, strike: 90, volatility: 0.2}]}}}",
         "10:49", "expected a higher one"},
        {"{ACME: {svi: {by_moneynes: {1.0: {0.9: 0.2}}}}}", "10:26", "unknown key 'by_moneynes'"},
        {"{ACME: {svi: {by_moneyness: {1.0: {0.9: 0.2, 1: 0.19, 1.1: 0.2}}}}}", "10:47",
         "found 3 quotes at the expiry 1.0, expected 5 at least"},
        {"{USD: {hull_white: {}}}", "10:31", "found neither swaptions nor caps"},
        {"{USD: {hull_white: {swaptions: [{expiry: 1, tenor: 5, volatility: 0.01}]}}}", "10:44",
         "missing key 'type'"},
        {"{USD: {hull_white: {swaptions: [{expiry: 1, tenor: 0.7, volatility: 0.01, type: normal}]}}}",
         "10:63", "expected a whole number"},
        {"{USD: {hull_white: {caps: [{maturity: 5, strike: -0.01, volatility: 0.2, type: black}]}}}", "10:39",
         "or type: normal"},
        {"{USD: {hull_white: {swaptions: [{expiry: 1, tenor: 5, strike: 0.01, price: 0.05}]}}}", "10:87",
         "expected more than"},
    };
    for (const bad_input& bad : all) {
        const std::string text = market_text + "calibrate: " + bad.calibrate + "\n";
        try {
            const market_quotes read = market_quotes::parse(text);
            ADD_FAILURE() << bad.calibrate << " was read";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << e.what();
            EXPECT_TRUE(std::string(e.what()).starts_with("quotes:" + bad.place + ":"))
                << bad.calibrate << "\n"
                << e.what() << "\nexpected it at " << bad.place;
            EXPECT_NE(e.message().find(bad.said), std::string::npos)
                << bad.calibrate << "\n"
                << e.what() << "\nexpected '" << bad.said << "'";
        }
    }
}

}  // namespace

}  // namespace calibrate_test
