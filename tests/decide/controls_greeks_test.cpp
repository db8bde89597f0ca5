// SPDX-License-Identifier: Apache-2.0
// Control variates beside sensitivities, early exercise and sessions: a control moves with the market, its
// mean is known in each market, and results are right with a smaller, honest error.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/controls/control.h"
#include "engine/decide/controls/controls.h"
#include "engine/decide/settled.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/study/asked.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/verify/closed_forms.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "kernels/math.h"
#include "products/program/trial.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tests/own_folder.h"
#include "tests/rights_books.h"
#include "tilewalk/session.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::controls_greeks_test {
namespace {

constexpr const char* market_text = R"(market:
  as_of: 2026-01-15
  currencies:
    USD: {rate: 0.05}
    EUR: {zero_rates: {1: 0.03, 10: 0.04}, model: {hull_white: {mean_reversion: 0.05, volatility: 0.01}}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 90, volatility: 0.3, dividend_yield: 0.02}
    H: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 20}}}
  correlations: {complete: true, pairs: [[A, B, 0.4], [A, H, 0.2], [B, H, 0.1], [A, EUR.rate, 0], [B, EUR.rate, 0], [H, EUR.rate, 0]]}
)";
constexpr const char* european_text = R"(trades:
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
  - {id: put, product: european, option: put, underlying: B, strike: 80, maturity: 0.5}
)";
constexpr const char* trades_text = R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital, product: digital, underlying: A, strike: 100, maturity: 1}
  - {id: basket, product: basket, basket: [A, B], strike: 190, maturity: 1}
  - {id: barrier, product: barrier, underlying: A, strike: 100, barrier: 120, direction: up, kind: knock_out, maturity: 1}
  - {id: heston, product: european, underlying: H, strike: 100, maturity: 1}
  - {id: swaption, product: swaption, currency: EUR, strike: 0.035, expiry: 2, payments: [3.0, 4.0, 5.0]}
)";

run_options with(const char* controls, const char* random = "philox", std::uint64_t paths = 65536) {
    run_options out;
    out.overrides.controls = tests::named{controls};
    out.overrides.random = random;
    out.overrides.paths = paths;
    out.overrides.device = "cpu";
    return out;
}

book book_of(const std::string& trades) {
    return book::parse(market_text + trades);
}

std::map<std::pair<std::string, std::string>, greek_row> greeks_of(const book& b, const run_options& options,
                                                                   const greek_options& wanted = {}) {
    std::map<std::pair<std::string, std::string>, greek_row> out;
    const results got = engine().greeks(b, *b.market(), wanted, options);
    for (const price_row& row : got.rows)
        if (row.status != trade_status::priced) throw std::runtime_error(row.trade + ": " + row.message);
    for (const greek_row& g : got.greeks) {
        if (g.has_failed()) throw std::runtime_error(g.trade + " " + g.key + ": " + g.message);
        if (!g.trade.empty()) out.emplace(std::pair(g.trade, g.measure + " " + g.key), g);
    }
    return out;
}

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

double derivative(const std::function<double(double)>& f, double at, double move) {
    return (8 * (f(at + move) - f(at - move)) - (f(at + 2 * move) - f(at - 2 * move))) / (12 * move);
}

struct option_at {
    truth::side side;
    double spot, strike, volatility, years, rate = 0.05, yield = 0;

    double price() const {
        return truth::black(side, spot * std::exp((rate - yield) * years), strike,
                            volatility * volatility * years, std::exp(-rate * years));
    }
    double to(double option_at::*number, double move) const {
        return derivative(
            [&](double x) {
                option_at there = *this;
                there.*number = x;
                return there.price();
            },
            this->*number, move);
    }
};

constexpr option_at call{truth::side::call, 100, 104, 0.2, 1},
    put{truth::side::put, 90, 80, 0.3, 0.5, 0.05, 0.02};

}  // namespace

TEST(controls_greeks, leave_a_european_option_exact) {
    const auto found = greeks_of(book_of(european_text), with("auto"));
    const struct {
        const char *trade, *key;
        double truth;
    } all[] = {{"call", "delta A.spot", call.to(&option_at::spot, 0.1)},
               {"call", "vega A.volatility", 0.01 * call.to(&option_at::volatility, 1e-3)},
               {"call", "rho USD.rate", 1e-4 * call.to(&option_at::rate, 1e-3)},
               {"put", "delta B.spot", put.to(&option_at::spot, 0.1)},
               {"put", "vega B.volatility", 0.01 * put.to(&option_at::volatility, 1e-3)},
               {"put", "rho USD.rate", 1e-4 * put.to(&option_at::rate, 1e-3)},
               {"put", "dividend B.dividend_yield", 1e-4 * put.to(&option_at::yield, 1e-3)}};
    for (const auto& one : all) {
        const greek_row& row = found.at({one.trade, one.key});
        EXPECT_EQ(row.method, "pathwise");
        EXPECT_NEAR(row.value, one.truth, 1e-8 * std::abs(one.truth)) << one.trade << one.key;
        EXPECT_GE(row.standard_error, 1e-8 * std::abs(row.value)) << one.trade << one.key;
        EXPECT_LE(row.standard_error, 1e-7 * std::abs(row.value)) << one.trade << one.key;
    }
}

// Bounds are 4.5 joint standard errors plus stated biases: one seed in 3,000 fails some comparison by chance.
TEST(controls_greeks, leave_the_sensitivity_and_less_of_its_error) {
    const book b = book_of(trades_text);
    const auto plain = greeks_of(b, with("none")), controlled = greeks_of(b, with("auto"));
    ASSERT_EQ(plain.size(), controlled.size());
    for (const auto& [key, a] : plain) {
        const greek_row& c = controlled.at(key);
        EXPECT_NEAR(a.value, c.value, 4.5 * std::hypot(a.standard_error, c.standard_error) + a.bias + c.bias)
            << key.first << key.second;
    }
    const struct {
        const char *trade, *key;
        double least_gain;
    } gains[] = {{"asian", "delta A.spot", 20},
                 {"asian", "vega A.volatility", 50},
                 {"asian", "rho USD.rate", 10},
                 {"digital", "delta A.spot", 10},
                 {"digital", "vega A.volatility", 10},
                 {"digital", "rho USD.rate", 10},
                 {"basket", "delta A.spot", 5},
                 {"basket", "vega B.volatility", 5},
                 {"basket", "correlation A|B.correlation", 5},
                 {"heston", "delta H.spot", 1.1}};
    for (const auto& one : gains) {
        const double of_plain = plain.at({one.trade, one.key}).standard_error,
                     of_controlled = controlled.at({one.trade, one.key}).standard_error;
        EXPECT_GT(std::pow(of_plain / of_controlled, 2), one.least_gain) << one.trade << one.key;
    }
    for (const auto& [key, a] : plain) {
        if (key.first != "swaption" || a.measure != "rho") continue;
        EXPECT_LT(controlled.at(key).standard_error, a.standard_error / 3) << key.second;
    }
}

// Each method against one true value, within 4.5 errors plus bias: by chance one seed in 10,000 fails.
TEST(controls_greeks, are_right_by_every_method) {
    const book b = book_of(R"(trades:
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
  - {id: digital, product: digital, underlying: A, strike: 100, maturity: 1}
)");
    const auto digital = [](double spot) {
        return std::exp(-0.05) * truth::normal_cdf((std::log(spot / 100) + 0.05 - 0.02) / 0.2);
    };
    const double of_digital = derivative(digital, 100, 0.1), of_call = call.to(&option_at::spot, 0.1);
    for (const char* method : {"auto", "smoothed", "likelihood_ratio", "bump"}) {
        for (const char* random : {"philox", "sobol"}) {
            const auto found = greeks_of(b, with("auto", random), {{"delta"}, tests::named{method}});
            const greek_row &c = found.at({"call", "delta A.spot"}),
                            &d = found.at({"digital", "delta A.spot"});
            // Points have few randomisations: Student's t exceeds 6.8 as rarely as a normal exceeds 4.5.
            const double width = random == std::string("sobol") ? 6.8 : 4.5;
            EXPECT_NEAR(c.value, of_call, width * c.standard_error + c.bias) << method << random;
            EXPECT_NEAR(d.value, of_digital, width * d.standard_error + d.bias) << method << random;
            if (method != std::string("bump")) continue;
            EXPECT_LT(c.standard_error, 1e-5 * c.value) << random;
        }
    }
    // The pathwise derivative of the call has no jump; the control adds none and leaves only rounding.
    const auto found = greeks_of(b, with("auto"), {{"delta"}, greek_method::pathwise});
    EXPECT_NEAR(found.at({"call", "delta A.spot"}).value, of_call, 1e-8);
}

// Gamma, volga and charm from differences, theta from prices on two days. Bounds: 4.5 errors plus the bias.
TEST(controls_greeks, have_a_second_order) {
    const book b = book_of(european_text);
    const auto found =
        greeks_of(b, with("auto"), {{"gamma", "volga", "charm", "theta"}, greek_method::automatic});
    const double gamma = derivative(
        [](double s) {
            option_at there = call;
            there.spot = s;
            return there.to(&option_at::spot, 0.1);
        },
        100, 0.5);
    const double volga = 1e-4 * derivative(
                                    [](double v) {
                                        option_at there = call;
                                        there.volatility = v;
                                        return there.to(&option_at::volatility, 1e-3);
                                    },
                                    0.2, 1e-3);
    option_at tomorrow = call;
    tomorrow.years = 1 - 1.0 / 365;
    const double theta = tomorrow.price() - call.price(),
                 charm = tomorrow.to(&option_at::spot, 0.1) - call.to(&option_at::spot, 0.1);
    const auto expect = [&](const std::string& key, double truth, double most_error) {
        const greek_row& row = found.at({"call", key});
        EXPECT_NEAR(row.value, truth, 4.5 * row.standard_error + row.bias + 1e-10) << key;
        EXPECT_LT(row.standard_error, most_error * std::abs(truth)) << key;
    };
    expect("gamma A.spot", gamma, 0.005);
    expect("volga A.volatility", volga, 1e-6);
    expect("theta as_of", theta, 1e-9);
    expect("charm A.spot;as_of", charm, 3e-6);
}

// Number of 400 runs whose interval holds the truth: it has a standard deviation of 4.4, and seeds are fixed.
// The Asian's true value is from paths, with a twentieth of the error.
TEST(controls_greeks, intervals_of_95_percent_hold_the_truth) {
    const book b = book_of(R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: digital, product: digital, underlying: A, strike: 100, maturity: 1}
)");
    const greek_options delta{{"delta"}, greek_method::automatic};
    run_options many = with("auto", "philox", std::uint64_t{1} << 22);
    many.overrides.seed = 1234;
    std::map<std::string, double> truth;
    truth["asian"] = greeks_of(b, many, delta).at({"asian", "delta A.spot"}).value;
    truth["digital"] =
        std::exp(-0.05) * std::exp(-0.5 * 0.15 * 0.15) / std::sqrt(2 * 3.14159265358979323846) / 20;
    std::map<std::string, int> held;
    run_options options = with("auto", "philox", 16384);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        options.overrides.seed = seed;
        for (const auto& [key, row] : greeks_of(b, options, delta)) {
            const double apart = std::abs(row.value - truth.at(key.first));
            held[key.first] += apart <= 1.96 * row.standard_error + row.bias ? 1 : 0;
        }
    }
    for (const auto& [id, count] : held) RecordProperty(id, count);
    EXPECT_GE(held.at("asian"), 368);
    EXPECT_LE(held.at("asian"), 392);
    // The digital's stated bias covers the worst case, so that there is no upper limit.
    EXPECT_GE(held.at("digital"), 368);
}

TEST(controls_greeks, depend_on_no_thread_and_no_neighbour) {
    run_options one = with("auto"), three = with("auto");
    one.overrides.threads = 1;
    three.overrides.threads = 3;
    const auto a = greeks_of(book_of(trades_text), one), b = greeks_of(book_of(trades_text), three);
    const auto alone = greeks_of(book_of(R"(trades:
  - {id: basket, product: basket, basket: [A, B], strike: 190, maturity: 1}
)"),
                                 one);
    for (const auto& [key, row] : a) {
        EXPECT_TRUE(same_bits(row.value, b.at(key).value)) << key.first << key.second;
        EXPECT_TRUE(same_bits(row.standard_error, b.at(key).standard_error)) << key.first << key.second;
        if (key.first != "basket") continue;
        EXPECT_TRUE(same_bits(row.value, alone.at(key).value)) << key.second;
    }
}

TEST(controls_greeks, leave_prices_as_they_are) {
    const book b = book_of(trades_text);
    for (const char* random : {"philox", "sobol"}) {
        const results prices = engine().price(b, with("auto", random)),
                      beside = engine().greeks(b, *b.market(), {}, with("auto", random));
        for (std::size_t i = 0; i < prices.rows.size(); ++i) {
            EXPECT_TRUE(same_bits(prices.rows[i].price, beside.rows[i].price)) << prices.rows[i].trade;
            EXPECT_TRUE(same_bits(prices.rows[i].standard_error, beside.rows[i].standard_error));
            EXPECT_EQ(prices.rows[i].remarks, beside.rows[i].remarks);
        }
    }
}

// Derivatives subtract the whole control, even if points suit it less than the payoff. So a control is taken
// only if it leaves almost nothing, such as the digital's, whose jump is at the strike.
TEST(controls_greeks, by_points_have_controls_that_leave_next_to_nothing) {
    const book b = book_of(trades_text);
    const auto plain = greeks_of(b, with("none", "sobol")), beside = greeks_of(b, with("auto", "sobol"));
    std::size_t others = 0, of_digital = 0;
    for (const auto& [key, row] : plain) {
        const greek_row& c = beside.at(key);
        if (key.first != "digital") {
            EXPECT_TRUE(same_bits(row.value, c.value)) << key.first << ' ' << key.second;
            ++others;
        } else {
            EXPECT_LT(c.standard_error, row.standard_error / 2) << key.second;
            ++of_digital;
        }
    }
    EXPECT_GT(others, 20u);
    EXPECT_GE(of_digital, 4u);
}

// A call on the exponential of a sum; strike, slope and weight drift, and the fitted drift must match.
TEST(controls_greeks, drift_as_what_they_are_fitted_to_does) {
    std::vector<double> sum;
    program::trial_numbers numbers(7);
    for (int p = 0; p < 1024; ++p) sum.push_back(0.2 * numbers.normal() - 0.02);
    const std::vector<std::vector<double>> sums{sum};
    controls::control c;
    c.of_moves = {{1}};
    c.parts = {1};
    c.knots[0] = {1.05, 3, 0};
    controls::drift truth;
    truth.parts = {0.4};
    truth.knots[0].slope = 0.7;
    truth.knots[0].at = -0.3;
    const double by = 1e-6;
    const std::vector<double> nothing(sum.size(), 0.0);
    const auto value = [&](double distance) {
        // Zero less the control: the control with the opposite sign.
        return controls::left_by(controls::moved(c, truth, distance), {nothing, sums});
    };
    const std::vector<double> up = value(by), down = value(-by);
    std::vector<double> derivatives;
    for (std::size_t p = 0; p < up.size(); ++p) derivatives.push_back((down[p] - up[p]) / (2 * by));
    const controls::drift found = controls::drift_of(c, {derivatives, sums}, 0.1);
    // Two of strike, slope and weight suffice to fit the drift, so values are compared and not parameters.
    const std::vector<double> there = controls::left_by(controls::moved(c, found, 1e-3), {nothing, sums}),
                              right = value(1e-3);
    for (std::size_t p = 0; p < there.size(); ++p) EXPECT_NEAR(there[p], right[p], 2e-6);
}

namespace {

// A control that jumps at 1.05 in the exponential of one sum.
controls::control jumping_at_a_strike() {
    controls::control c;
    c.of_moves = {{1}};
    c.parts = {1};
    c.knots[0] = {1.05, 3, 0};
    return c;
}
controls::pilot_paths paths_of_one_sum(const std::function<double(double x, double power)>& payoff) {
    controls::pilot_paths out;
    out.sums.resize(1);
    program::trial_numbers numbers(7);
    for (int p = 0; p < 1024; ++p) {
        const double x = 0.2 * numbers.normal() - 0.02;
        out.sums[0].push_back(x);
        out.payoffs.push_back(payoff(x, kernels::exp(x)));
    }
    return out;
}

}  // namespace

// A strike of 1.05 with a drift of 0.3 would reach 0 once the market's number has moved by 3.5.
TEST(controls_greeks, have_no_drift_that_takes_a_strike_away) {
    const controls::control c = jumping_at_a_strike();
    const controls::pilot_paths derivatives = paths_of_one_sum(
        [](double, double power) { return power > 1.05 ? 0.7 * (power - 1.05) + 3 * 0.3 : 0; });
    const controls::drift near = controls::drift_of(c, derivatives, 3.4);
    EXPECT_NEAR(near.knots[0].at, -0.3, 1e-9);
    EXPECT_NEAR(near.knots[0].slope, 0.7, 1e-9);
    const controls::drift far = controls::drift_of(c, derivatives, 3.6);
    EXPECT_EQ(far.knots[0].at, 0);
    EXPECT_EQ(far.knots[0].slope, 0);
    EXPECT_EQ(far.on_sum, 0);
}

TEST(controls_greeks, have_weights_that_stand_still_where_there_is_a_jump) {
    controls::control c = jumping_at_a_strike();
    const controls::pilot_paths derivatives =
        paths_of_one_sum([](double x, double power) { return power > 1.05 ? 0.4 * x * 3 * power : 0; });
    EXPECT_NEAR(controls::drift_of(c, derivatives, 0.1).parts[0], 0.4, 1e-9);
    c.knots[1] = {0.95, 0, 2};
    EXPECT_EQ(controls::drift_of(c, derivatives, 0.1).parts[0], 0);
}

// Bermudan puts, whose true value is a lattice's, and a call on the larger of two assets, whose bounds with
// and without controls are from other paths and must agree. Tolerances are four errors of each: one seed in
// 10,000 fails by chance.
TEST(controls_greeks, leave_rights_what_they_are_worth) {
    const std::vector<double> dates{0.2, 0.4, 0.6, 0.8, 1.0};
    const double truth = tests::put_on_a_lattice(36, 40, 0.06, 0.2, dates);
    const book put_book =
        book::parse(tests::put_on("spot: 36, volatility: 0.2", 0.06, "40", "{start: 0, end: 1, count: 5}"));
    const price_row plain = engine().price(put_book, with("none")).rows.at(0),
                    controlled = engine().price(put_book, with("auto")).rows.at(0);
    tests::expect_between(plain, truth, 0.99 * truth, 1.01 * truth);
    tests::expect_between(controlled, truth, 0.99 * truth, 1.01 * truth);
    EXPECT_LT(controlled.early->policy_error, plain.early->policy_error / 1.7);
    EXPECT_LT(controlled.standard_error, plain.standard_error);
    EXPECT_TRUE(same_bits(controlled.early->upper_bound, plain.early->upper_bound));
    ASSERT_FALSE(controlled.remarks.empty());
    EXPECT_NE(controlled.remarks.back().find(" pilot paths"), std::string::npos);

    const book rights = book_of(R"(trades:
  - {id: largest, product: bermudan_basket, basket: [A, B], strike: 100, exercise_dates: [0.5, 1.0, 1.5]}
  - {id: swaption, product: bermudan_swaption, currency: EUR, strike: 0.035, exercise_dates: [1.0, 2.0], payments: [2.0, 3.0, 4.0]}
)");
    const results a = engine().price(rights, with("none")), b = engine().price(rights, with("auto"));
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        const early_exercise &without = *a.rows[i].early, &beside = *b.rows[i].early;
        EXPECT_NEAR(without.policy_value, beside.policy_value,
                    4 * std::hypot(without.policy_error, beside.policy_error))
            << a.rows[i].trade;
        EXPECT_LT(beside.policy_error, without.policy_error / 1.7) << a.rows[i].trade;
        EXPECT_LT(beside.lower_bound - 4 * beside.lower_error, without.upper_bound + 4 * without.upper_error);
        EXPECT_TRUE(same_bits(without.upper_bound, beside.upper_bound)) << a.rows[i].trade;
    }
    // Sensitivities with a kept policy hold the policy still, and the control follows it. Without one, errors
    // include that of training the policy, which a control does not reduce.
    const tests::own_folder own;
    run_options keeps = with("none");
    keeps.keep_policies = true;
    own.write("policies.json", engine().price(put_book, keeps).policies);
    const auto along = [&](const char* controls) {
        run_options options = with(controls);
        options.overrides.policy = own / "policies.json";
        return greeks_of(put_book, options, {{"delta", "vega"}, greek_method::automatic});
    };
    const auto plain_greeks = along("none"), greeks = along("auto");
    for (const auto& [key, row] : plain_greeks) {
        const greek_row& c = greeks.at(key);
        EXPECT_NEAR(row.value, c.value, 4 * std::hypot(row.standard_error, c.standard_error)) << key.second;
        EXPECT_LT(c.standard_error, row.standard_error / 1.3) << key.second;
    }
}

// A market priced in a session gives the bits of pricing it together with the book's market: the control is
// found in the book's market, its mean in the current one.
TEST(controls_greeks, of_a_session_hold_in_every_market) {
    const book b = book_of(std::string(trades_text) + R"(
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
)");
    const run_options options = with("auto", "philox", 16384);
    const session ready = engine().open(b);
    const market here = *b.market(), there = here.with("A.volatility", 0.25),
                 further = there.with("USD.rate", 0.03);
    for (const market* const in : {&further, &here, &there, &further}) {
        const results got = ready.price(*in, options);
        const results expected = engine().price(b, std::vector{here, *in}, options)[1];
        for (std::size_t i = 0; i < got.rows.size(); ++i) {
            EXPECT_TRUE(same_bits(got.rows[i].price, expected.rows[i].price)) << got.rows[i].trade;
            EXPECT_TRUE(same_bits(got.rows[i].standard_error, expected.rows[i].standard_error));
        }
    }
    const std::uint64_t planned = ready.facts().trades_planned;
    const std::size_t compiled = ready.facts().programs_compiled;
    const auto call_in = [&](const market& in) {
        const results got = ready.price(in, options);
        return got.rows.at(6);
    };
    call_in(further);
    EXPECT_EQ(ready.facts().trades_planned, planned);
    EXPECT_EQ(ready.facts().programs_compiled, compiled);
    option_at moved = call;
    moved.volatility = 0.25;
    const price_row row = call_in(there);
    ASSERT_EQ(row.trade, "call");
    EXPECT_NEAR(row.price, moved.price(), 4.5 * row.standard_error);
    EXPECT_LT(row.standard_error, 1e-10 * row.price);
    run_options other = options;
    other.overrides.seed = 7;
    const run_options none = with("none", "philox", 16384);
    for (const run_options& asked : {other, none, options}) {
        const results got = ready.price(here, asked), expected = engine().price(b, here, asked);
        EXPECT_TRUE(same_bits(got.rows.at(0).price, expected.rows.at(0).price));
    }
}

// On another day the dates of a trade make other moves, so the pilot that finds controls is walked again.
TEST(controls_greeks, of_a_session_are_those_of_the_day) {
    const book b = book_of(R"(trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: [2026-02-15, 2026-06-15, 2026-12-15]}
)");
    std::string later = market_text;
    const std::string day = "2026-01-15";
    later.replace(later.find(day), day.size(), "2026-02-01");
    const market there = *book::parse(later + "trades: []\n").market();
    const run_options options = with("auto");
    const session ready = engine().open(b);
    const price_row got = ready.price(there, options).rows.at(0),
                    expected = engine().price(b, there, options).rows.at(0);
    EXPECT_TRUE(same_bits(got.price, expected.price));
    EXPECT_TRUE(same_bits(got.standard_error, expected.standard_error));
    EXPECT_FALSE(got.remarks.empty());
}

TEST(controls_greeks, are_in_the_kernels_that_are_warmed) {
    const book b = book_of(std::string(trades_text) + R"(
  - {id: american, product: american, option: put, underlying: A, strike: 100, maturity: 1, exercise_step: 0.25}
)");
    const std::string best = "auto";
    const auto& operations = studies::operations_named(best);
    const markets::market_state& in = state_of(*b.market());
    for (const books::trade& t : state_of(b).trades) {
        const book one = studies::some_of(b, {static_cast<std::size_t>(&t - state_of(b).trades.data())});
        const auto texts_of = [&](const studies::settled& run) {
            const studies::book_on_gpu on_gpu(state_of(one), *b.market(), run, operations, nullptr);
            std::vector<std::string> out;
            for (const auto& k : on_gpu.kernels())
                if (k.needed.is_walk) out.push_back(k.needed.text);
            return out;
        };
        const studies::settled run = studies::settle({with("auto")}, run_settings{}),
                               plain = studies::settle({with("none")}, run_settings{});
        const std::vector<std::string> with_controls = texts_of(run), without = texts_of(plain);
        // A trade with a right to end it early may get no control, one that jumps or another, so there are
        // two kernel texts more.
        EXPECT_EQ(with_controls.size(), plan::has_rights(t) ? without.size() + 2 : without.size()) << t.id;
        for (const std::string& text : without)
            EXPECT_EQ(std::ranges::count(with_controls, text), plan::has_rights(t) ? 1 : 0) << t.id;
        if (plan::has_rights(t)) continue;
        const studies::pilot_of_controls by{run, operations, nullptr};
        const auto chosen = studies::choose_control({t}, in, in.scenario_cubes(), by).what;
        ASSERT_TRUE(chosen) << t.id;
        const auto made = studies::plan_with(*chosen, {t}, in, by);
        ASSERT_TRUE(made) << t.id;
        const run::job job{&made->made.code, &made->made.data, &made->made.when};
        const studies::gpu_trades as_walked(std::span(&job, 1));
        int walks = 0;
        for (const cuda::needed_kernel& k :
             cuda::kernels_of(as_walked.jobs(), run.how, run.correlation, {})) {
            if (!k.is_walk) continue;
            ++walks;
            EXPECT_EQ(std::ranges::count(with_controls, k.text), 1) << t.id;
        }
        EXPECT_EQ(walks, 1);
    }
}

using controls_greeks_on_a_gpu = tests::on_a_gpu;

TEST_F(controls_greeks_on_a_gpu, sensitivities_with_controls_have_the_bits_of_the_cpu) {
    for (const char* random : {"philox", "sobol"}) {
        run_options here = with("auto"), there;
        here.overrides.random = random;
        there = here;
        there.overrides.device = "0";
        const auto a = greeks_of(book_of(trades_text), here), b = greeks_of(book_of(trades_text), there);
        for (const auto& [key, row] : a)
            EXPECT_TRUE(same_bits(row.value, b.at(key).value)) << random << key.first << key.second;
    }
}

}  // namespace tilewalk::controls_greeks_test
