// SPDX-License-Identifier: Apache-2.0
// Importance sampling: programs whose normals are shifted (with weights) keep every price, and pilots find
// shifts for rare payoffs that leave far smaller, honest errors.
#include "products/program/shift.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/decide/importance.h"
#include "engine/decide/importance/search.h"
#include "engine/decide/importance/written.h"
#include "engine/decide/settled.h"
#include "engine/market/market_state.h"
#include "engine/numerics/characteristic.h"
#include "engine/numerics/price.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/reading/settings/precision_named.h"
#include "engine/study/price.h"
#include "engine/verify/closed_forms.h"
#include "engine/verify/dice.h"
#include "engine/verify/judgement.h"
#include "engine/verify/sample.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "products/program/recorder.h"
#include "products/program/trial.h"
#include "tests/known_kernels.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tests/plain_paths.h"
#include "tests/refusal.h"
#include "tests/rows_by_id.h"
#include "tests/texts.h"
#include "tilewalk/session.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::importance_test {
namespace {

constexpr const char* market_text = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 90, volatility: 0.3, dividend_yield: 0.02}
    H: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 20}}}
    J: {currency: USD, spot: 100, model: {merton: {volatility: 0.2, jump_intensity: 0.1, jump_mean: -0.1, jump_sd: 0.1}}}
  correlations: {complete: true, pairs: [[A, B, 0.4]]}
)";
constexpr const char* trades_text = R"(trades:
  - {id: put_3, product: european, option: put, underlying: A, strike: 55, maturity: 1}
  - {id: put_4, product: european, option: put, underlying: A, strike: 46, maturity: 1}
  - {id: put_6, product: european, option: put, underlying: A, strike: 31, maturity: 1}
  - {id: call_3, product: european, underlying: A, strike: 185, maturity: 1}
  - {id: call_5, product: european, underlying: A, strike: 280, maturity: 1}
  - {id: up_and_in, product: barrier, underlying: A, strike: 100, maturity: 1, direction: up, kind: knock_in, barrier: 200}
  - {id: down_and_out, product: barrier, underlying: A, strike: 170, maturity: 1, direction: down, kind: knock_out, barrier: 99}
  - {id: asian, product: asian, option: put, underlying: A, strike: 65, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: basket, product: basket, option: put, basket: [A, B], strike: 95, maturity: 1}
  - {id: heston, product: european, option: put, underlying: H, strike: 40, maturity: 1}
  - {id: merton, product: european, option: put, underlying: J, strike: 45, maturity: 1}
)";
constexpr const char* usual_trades_text = R"(trades:
  - {id: call, product: european, underlying: A, strike: 104, maturity: 1}
  - {id: digital, product: digital, underlying: A, strike: 100, maturity: 1}
  - {id: put, product: european, option: put, underlying: H, strike: 95, maturity: 1}
  - {id: bond, product: zero_coupon_bond, currency: USD, maturity: 2}
  - {id: american, product: american, option: put, underlying: A, strike: 60, maturity: 1, exercise_step: 0.25}
)";

run_options with(const char* importance, const char* random = "philox", std::uint64_t paths = 131072) {
    run_options out = tests::plain_paths();
    out.overrides.importance = tests::named{importance};
    out.overrides.random = random;
    out.overrides.paths = paths;
    out.overrides.device = "cpu";
    return out;
}

tests::rows_by_id priced(const run_options& options, const std::string& trades = trades_text) {
    return tests::priced_by_id(market_text + trades, options);
}

using tests::same_bits;

bool has_shifts(const price_row& of) {
    return std::ranges::any_of(
        of.remarks, [](const std::string& r) { return r.starts_with("importance sampling with "); });
}

constexpr double rate = 0.05, discount = 0.951229424500714;

double european(truth::side side, double strike) {
    return truth::black(side, 100 / discount, strike, 0.04, discount);
}
double barrier(bool down, bool out, double strike, double level) {
    truth::watched_option o;
    o.down = down;
    o.out = out;
    o.spot = 100;
    o.strike = strike;
    o.barrier = level;
    o.growth = o.rate = rate;
    o.variance = 0.04;
    return truth::barrier_option(o);
}
double put_by(const fourier::characteristic& law, double strike) {
    return 100 * fourier::vanilla(law, strike * discount / 100).put;
}

const std::map<std::string, double>& truths() {
    static const std::map<std::string, double> all{
        {"put_3", european(truth::side::put, 55)},
        {"put_4", european(truth::side::put, 46)},
        {"put_6", european(truth::side::put, 31)},
        {"call_3", european(truth::side::call, 185)},
        {"call_5", european(truth::side::call, 280)},
        {"up_and_in", barrier(false, false, 100, 200)},
        {"down_and_out", barrier(true, true, 170, 99)},
        {"merton", put_by(characteristic_of(fourier::merton{0.2, {0.1, -0.1, 0.1}}, 1), 45)},
    };
    return all;
}

}  // namespace

// Prices of 131,072 paths against closed forms: one is further off than 4.5 errors once in 147,000 seeds.
// There are eight.
TEST(importance, makes_rare_payoffs_sound) {
    const auto plain = priced(with("none")), shifted = priced(with("auto"));
    for (const auto& [id, truth] : truths()) {
        const price_row& row = shifted.at(id);
        EXPECT_TRUE(has_shifts(row)) << id;
        EXPECT_NEAR(row.price, truth, 4.5 * row.standard_error) << id;
        EXPECT_TRUE(!row.thin || id == "merton") << id << row.message;
    }
    // Least gain in variance, by trade. A run without shifts may show no error, if none of its paths pays.
    for (const auto& [id, least] : std::map<std::string, double>{{"put_3", 500},
                                                                 {"put_4", 5000},
                                                                 {"call_3", 100},
                                                                 {"up_and_in", 200},
                                                                 {"down_and_out", 20},
                                                                 {"asian", 500},
                                                                 {"basket", 500},
                                                                 {"heston", 30}}) {
        const double error = plain.at(id).standard_error / shifted.at(id).standard_error;
        EXPECT_GT(error * error, least) << id;
        EXPECT_FALSE(shifted.at(id).thin) << id;
    }
    // By the closed form of the second moment, plain runs of 131,072 paths have errors of 7.3 and 123 times
    // the price.
    EXPECT_LT(shifted.at("call_5").standard_error, 0.01 * shifted.at("call_5").price);
    EXPECT_LT(shifted.at("put_6").standard_error, 0.01 * shifted.at("put_6").price);
}

// Heston's time steps make an error far smaller than the price, and equal with and without shifts. The bound
// is 4.5 joint errors.
TEST(importance, keeps_the_price_under_stochastic_volatility) {
    const std::string put =
        "trades:\n  - {id: put, product: european, option: put, underlying: H, strike: 50, "
        "maturity: 1}\n";
    const price_row shifted = priced(with("auto"), put).at("put");
    const price_row plain = priced(with("none", "philox", 1 << 22), put).at("put");
    EXPECT_TRUE(has_shifts(shifted));
    EXPECT_NEAR(shifted.price, plain.price, 4.5 * std::hypot(shifted.standard_error, plain.standard_error));
    const double by_transform = put_by(characteristic_of(fourier::heston{0.04, 1.5, 0.04, 0.5, -0.7}, 1), 50);
    EXPECT_NEAR(shifted.price, by_transform, 0.05 * by_transform);
}

// Student's t with 15 degrees of freedom exceeds 6.8 as rarely as a normal exceeds 4.5.
TEST(importance, goes_with_points_and_controls) {
    const auto shifted = priced(with("auto"));
    for (const char* random : {"philox", "sobol"}) {
        run_options all = with("auto", random);
        all.overrides.controls = technique::automatic;
        const auto rows = priced(all);
        for (const auto& [id, truth] : truths()) {
            const price_row& row = rows.at(id);
            EXPECT_NEAR(row.price, truth, 6.8 * row.standard_error) << id << random;
            const double most = id == "merton" ? 5 : 1.5;
            EXPECT_LT(row.standard_error, most * shifted.at(id).standard_error) << id << random;
        }
    }
    const auto points = priced(with("auto", "sobol"));
    for (const char* id : {"put_3", "put_4", "put_6", "call_3", "call_5", "up_and_in", "basket"}) {
        EXPECT_LT(points.at(id).standard_error, 0.2 * shifted.at(id).standard_error) << id;
        EXPECT_NEAR(points.at(id).price, shifted.at(id).price,
                    6.8 * std::hypot(points.at(id).standard_error, shifted.at(id).standard_error))
            << id;
    }
}

// A control that leaves nothing gives a shift nothing to gain: bits are those of a run without shifts, unless
// the pilot for controls, which walks fewer paths beside a pilot of shifts, decides otherwise.
TEST(importance, leaves_usual_payoffs_alone) {
    for (const char* random : {"philox", "sobol"}) {
        for (const char* controls : {"none", "auto"}) {
            run_options before = with("none", random), after = with("auto", random);
            before.overrides.controls = after.overrides.controls = tests::named{controls};
            before.overrides.construction = after.overrides.construction = construction::bridge;
            const bool is_alike = std::string(random) == "philox" || std::string(controls) == "none";
            const auto a = priced(before, usual_trades_text), b = priced(after, usual_trades_text);
            for (const auto& [id, row] : a) {
                if (is_alike) {
                    EXPECT_TRUE(same_bits(row.price, b.at(id).price)) << id << random << controls;
                    EXPECT_TRUE(same_bits(row.standard_error, b.at(id).standard_error)) << id << random;
                }
                EXPECT_FALSE(has_shifts(b.at(id))) << id;
            }
        }
    }
}

TEST(importance, depends_on_no_thread_and_no_neighbour) {
    run_options one = with("auto", "philox", 32768), three = one;
    one.overrides.threads = 1;
    three.overrides.threads = 3;
    const auto a = priced(one), b = priced(three);
    for (const auto& [id, row] : a) {
        EXPECT_TRUE(same_bits(row.price, b.at(id).price)) << id;
        EXPECT_TRUE(same_bits(row.standard_error, b.at(id).standard_error)) << id;
        EXPECT_EQ(row.remarks, b.at(id).remarks) << id;
    }
    const auto alone = priced(one, R"(trades:
  - {id: asian, product: asian, option: put, underlying: A, strike: 65, averaging_dates: {start: 0, end: 1, count: 12}}
)");
    EXPECT_TRUE(same_bits(alone.at("asian").price, a.at("asian").price));
}

// Shifts found in the first market serve the others. If they replace a control, its mean is dropped.
TEST(importance, of_the_first_market_holds_in_the_others) {
    const book b = book::parse(std::string(market_text) + trades_text);
    const market here = *b.market(), there = here.with("A.volatility", 0.22);
    const std::vector<market> both{here, there};
    for (const char* controls : {"none", "auto"}) {
        run_options options = with("auto");
        options.overrides.controls = tests::named{controls};
        const std::vector<results> got = engine().price(b, both, options);
        const price_row& put = got[1].rows.at(1);
        const double truth = truth::black(truth::side::put, 100 / discount, 46, 0.22 * 0.22, discount);
        EXPECT_TRUE(has_shifts(put));
        EXPECT_NEAR(put.price, truth, 4.5 * put.standard_error);
        EXPECT_LT(put.standard_error, 0.02 * truth);
        EXPECT_TRUE(has_shifts(got[1].rows.at(5)));
        EXPECT_LT(got[1].rows.at(5).standard_error, 0.02 * got[1].rows.at(5).price);
    }
}

TEST(importance, is_of_no_run_that_has_too_few_paths_for_a_pilot) {
    const auto a = priced(with("none", "philox", 15000)), b = priced(with("auto", "philox", 15000));
    for (const auto& [id, row] : a) EXPECT_TRUE(same_bits(row.price, b.at(id).price)) << id;
}

// A control that leaves less than shifts alone would is kept beside shifts, with its mean. By chance one seed
// in 147,000 fails.
TEST(importance, goes_with_a_control_that_stays) {
    const std::string put =
        "trades:\n  - {id: put, product: barrier, option: put, underlying: A, strike: 70, maturity: 1, "
        "direction: down, kind: knock_in, barrier: 60}\n";
    truth::watched_option o;
    o.option = truth::side::put;
    o.out = false;
    o.spot = 100;
    o.strike = 70;
    o.barrier = 60;
    o.growth = o.rate = rate;
    o.variance = 0.04;
    run_options both = with("auto"), control = with("none");
    both.overrides.controls = control.overrides.controls = technique::automatic;
    const price_row shifted = priced(both, put).at("put"), plain = priced(control, put).at("put");
    EXPECT_TRUE(has_shifts(shifted));
    EXPECT_NEAR(shifted.price, truth::barrier_option(o), 4.5 * shifted.standard_error);
    EXPECT_LT(shifted.standard_error, plain.standard_error);
}

TEST(importance, shifts_that_no_run_has_written_are_refused) {
    importance::found_shifts some;
    some.normals.ways = {{{{1, 2}}, 0.25}, {{{-1, 0}}, 0.75}};
    some.normals.unshifted = 0.5;
    const std::string text = importance::written(some);
    EXPECT_EQ(importance::written(importance::shifts_written_as(text)), text);
    const auto said = [&](const char* old, const char* now) {
        return tests::refusal([&] { importance::shifts_written_as(tests::replaced(text, old, now)); });
    };
    EXPECT_NE(said("[[1.0,2.0]]", "[[]]").find("a shift of no random numbers"), std::string::npos) << text;
    EXPECT_NE(said("[[1.0,2.0]]", "[]").find("a shift of no random numbers"), std::string::npos);
    for (const char* unshifted : {"0.0", "-0.5", "1.5"})
        EXPECT_NE(said("\"unshifted\":0.5", (std::string("\"unshifted\":") + unshifted).c_str())
                      .find("a share of unshifted paths of"),
                  std::string::npos)
            << unshifted;
    EXPECT_NE(said("0.75", "0.7").find("whose shares add up to"), std::string::npos);
    EXPECT_NE(said("\"unshifted\"", "\"unshift\"").find("whose shifts are damaged"), std::string::npos);
}

// Payoffs in three rare places, of which the second and third pay less; and one payoff so rare and large that
// it has most of the variance on hardly any paths. Units of a power of two change no bit.
TEST(importance, shifts_are_the_same_in_any_unit) {
    using payoff = std::function<double(double, double)>;
    std::vector<payoff> payoffs{[](double x, double) { return x > 1.5 ? 1.0 : x < -4.9 ? 500.0 : 0.0; }};
    for (const double second : {1.0, 1e-2, 1e-4})
        for (const double third : {1.0, 1e-2, 1e-4})
            payoffs.emplace_back([=](double x, double y) {
                return x > 2.5 ? 1 : x < -2.5 ? second : y > 2.5 ? third : 0;
            });
    for (std::size_t i = 0; i < payoffs.size(); ++i) {
        const auto shifts_in = [&](double unit) {
            importance::pilot by;
            by.slots = 2;
            by.times = {0, 1};
            by.seed = 3;
            by.blocks = 4096 / cpu::lanes;
            by.draw = studies::operations_named("auto").double_draws.normals;
            by.walk = [&](std::uint64_t, const arrays::shock_cube& normals, double* to) {
                const double* const z = std::get<const double*>(normals.first);
                for (std::size_t p = 0; p < cpu::lanes; ++p)
                    to[p] = unit * payoffs[i](z[p], z[normals.slot_stride + p]);
            };
            const importance::outcome found = importance::find(by);
            return found.shifts ? importance::written(*found.shifts) : "none";
        };
        const std::string plain = shifts_in(1);
        if (i > 0) {
            EXPECT_NE(plain, "none") << i;
        }
        for (const double unit : {0x1p-30, 0x1p30}) EXPECT_EQ(shifts_in(unit), plain) << i;
    }
}

TEST(importance, is_told_with_its_ways_and_what_it_leaves) {
    importance::found_shifts found;
    found.fewer_paths = 8;
    found.pilot_paths = 4096;
    found.normals.ways.resize(1);
    EXPECT_EQ(
        studies::evidence(found),
        "importance sampling with 1 shift of the shocks leaves 12 % of the variance, on 4096 pilot paths");
    found.normals.ways.resize(2);
    found.fewer_paths = 40;
    EXPECT_EQ(
        studies::evidence(found),
        "importance sampling with 2 shifts of the shocks leaves 2.5 % of the variance, on 4096 pilot paths");
}

namespace {

// The shifts that a pilot of 4,096 paths finds for a payoff of the scaled sum of `slots` normals.
importance::outcome found_for(std::size_t slots, std::uint64_t seed,
                              const std::function<double(double sum)>& payoff) {
    importance::pilot by;
    by.slots = slots;
    by.times = {0, 1};
    by.seed = seed;
    by.blocks = 4096 / cpu::lanes;
    by.draw = studies::operations_named("auto").double_draws.normals;
    by.walk = [&](std::uint64_t, const arrays::shock_cube& normals, double* to) {
        const double* const z = std::get<const double*>(normals.first);
        for (std::size_t p = 0; p < cpu::lanes; ++p) {
            double sum = 0;
            for (std::size_t s = 0; s < slots; ++s) sum += z[s * normals.slot_stride + p];
            to[p] = payoff(sum / std::sqrt(static_cast<double>(slots)));
        }
    };
    return importance::find(by);
}

// The variance, by quadrature, of a path that pays 1 if a normal exceeds `level`: a tenth of the paths stay
// plain, the others have these shifts, in these shares.
double variance_above(double level, const std::vector<std::pair<double, double>>& shares_and_shifts) {
    const double chance = 0.5 * std::erfc(level / std::sqrt(2.0)), step = 1e-2;
    double square = 0;
    for (int i = 0; i < 1000; ++i) {
        const double z = level + (i + 0.5) * step;
        double density = 0;
        for (const auto& [share, shift] : shares_and_shifts)
            density += share * std::exp(shift * z - 0.5 * shift * shift);
        square += step * std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi) / (0.1 + 0.9 * density);
    }
    return square - chance * chance;
}

}  // namespace

// A sixth of the paths pay, which is not rare, so no shifts are searched. In any unit they would gain
// slightly more than the factor of three that shifts must gain.
TEST(importance, payoffs_of_many_paths_are_left_alone_in_any_unit) {
    for (const double unit : {1.0, 0x1p-30, 0x1p30})
        for (std::uint64_t seed = 1; seed <= 3; ++seed)
            EXPECT_FALSE(found_for(1, seed, [=](double x) { return x > 1 ? unit : 0; }).shifts)
                << unit << " seed " << seed;
}

// The payoff needs all of twelve assets to rise, or to fall: hardly any single direction gets there. The
// shift found is within a factor of two of the best one, the mean of the paths that pay.
TEST(importance, moves_of_all_assets_at_once_are_found) {
    for (const double level : {5.0, 6.0}) {
        const double chance = 0.5 * std::erfc(level / std::sqrt(2.0)),
                     mean = std::exp(-0.5 * level * level) / std::sqrt(2 * std::numbers::pi) / chance,
                     best = chance * (1 - chance) / variance_above(level, {{1, mean}});
        for (const double side : {1.0, -1.0}) {
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                const importance::outcome found =
                    found_for(12, seed, [=](double x) { return side * x > level ? 1.0 : 0.0; });
                ASSERT_TRUE(found.shifts) << level << " side " << side << " seed " << seed;
                EXPECT_GT(found.shifts->fewer_paths, 0.5 * best)
                    << level << " side " << side << " seed " << seed;
            }
        }
    }
}

// The variance that a pilot states, over the true one, has a standard deviation of 9 %, its mean over 60
// seeds one of 1.2 %.
TEST(importance, pilots_tell_the_variance_of_the_run) {
    constexpr int seeds = 60;
    constexpr double level = 4;
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const importance::outcome found = found_for(1, seed, [](double x) { return x > level ? 1.0 : 0.0; });
        ASSERT_TRUE(found.shifts) << seed;
        std::vector<std::pair<double, double>> ways;
        for (const program::normal_shift& w : found.shifts->normals.ways)
            ways.emplace_back(w.share, w.by_slot[0][0]);
        sum += found.variance / variance_above(level, ways);
    }
    EXPECT_NEAR(sum / seeds, 1, 4.5 * 0.012);
}

TEST(importance, is_explained) {
    const book b = book::parse(std::string(market_text) + trades_text);
    for (const char* controls : {"none", "auto"}) {
        run_options options = with("auto");
        options.overrides.controls = tests::named{controls};
        const auto rows = priced(options);
        std::size_t dropped = 0;
        for (const auto& [id, row] : rows) {
            if (row.decisions.find("drops_control") == std::string::npos) continue;
            ++dropped;
            EXPECT_TRUE(std::ranges::none_of(row.remarks, [](const std::string& r) {
                return r.starts_with("control variate ");
            })) << id;
        }
        EXPECT_EQ(dropped > 0, std::string_view(controls) == "auto");
        for (const trade_plan& p : engine().explain(b, *b.market(), options)) {
            EXPECT_EQ(p.failure, "") << p.trade;
            EXPECT_EQ(p.remarks, rows.at(p.trade).remarks) << p.trade;
            EXPECT_EQ(p.program.find("log_ratio") != std::string::npos, has_shifts(rows.at(p.trade)))
                << p.trade;
        }
    }
}

namespace {

// Black's delta, vega per point of volatility and gamma for three trades: a put at 55, a call at 185 and a
// digital at 185 that pays 10.
std::map<std::string, double> sensitivities(const std::string& trade) {
    const double strike = trade == "put" ? 55 : 185, volatility = 0.2,
                 d1 = (std::log(100 / strike) + rate + 0.5 * volatility * volatility) / volatility,
                 d2 = d1 - volatility;
    const auto density = [](double d) { return std::exp(-0.5 * d * d) / std::sqrt(2 * std::numbers::pi); };
    const auto below = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
    if (trade == "digital") {
        const double delta = 10 * discount * density(d2) / (100 * volatility);
        return {{"delta", delta},
                {"vega", -0.01 * 10 * discount * density(d2) * d1 / volatility},
                {"gamma", -delta * d1 / (100 * volatility)}};
    }
    return {{"delta", trade == "put" ? -below(-d1) : below(d1)},
            {"vega", 0.01 * 100 * density(d1)},
            {"gamma", density(d1) / (100 * volatility)}};
}
constexpr const char* far_trades_text = R"(trades:
  - {id: put, product: european, option: put, underlying: A, strike: 55, maturity: 1}
  - {id: call, product: european, underlying: A, strike: 185, maturity: 1}
  - {id: digital, product: digital, underlying: A, strike: 185, maturity: 1, payout: 10}
)";

}  // namespace

// Each of 18 figures is within 4.5 errors, except for one seed in 147,000. Shifts gain less for the gamma of
// a digital, a difference of derivatives of jumps.
TEST(importance, derivatives_of_rare_payoffs_are_those_of_black) {
    const book b = book::parse(std::string(market_text) + far_trades_text);
    for (const char* random : {"philox", "sobol"}) {
        const auto rows_with = [&](const char* importance) {
            return engine()
                .greeks(b, *b.market(), {{"delta", "vega", "gamma"}}, with(importance, random))
                .greeks;
        };
        const std::vector<greek_row> plain = rows_with("none"), shifted = rows_with("auto");
        ASSERT_EQ(plain.size(), shifted.size());
        ASSERT_EQ(shifted.size(), 9u);
        for (std::size_t k = 0; k < shifted.size(); ++k) {
            const greek_row& g = shifted[k];
            const std::string what = std::string(random) + " " + g.trade + " " + g.measure;
            EXPECT_NEAR(g.value, sensitivities(g.trade).at(g.measure), 4.5 * g.standard_error + g.bias)
                << what;
            EXPECT_LT(g.standard_error, plain[k].standard_error / (g.trade == "digital" ? 1 : 4)) << what;
        }
    }
}

// Markets of a scenario keep the shifts of the base market: gains are differences on equal paths, with errors
// far below those of two prices. Each of eight gains is within 4.5 errors, except for one seed in 147,000.
TEST(importance, gains_of_rare_payoffs_are_those_of_black) {
    const book b = book::parse(std::string(market_text) + far_trades_text);
    const scenario_list asked = scenario_list::parse(
        "stress: {near: {A.spot: +0.3%}, down: {A.spot: -10%}, up: {A.spot: +10%}, wide: {A.volatility: "
        "+2pt}}\n",
        "scenarios", *b.market());
    const scenario_results r = engine().scenarios(b, *b.market(), asked, with("auto")),
                           plain = engine().scenarios(b, *b.market(), asked, with("none"));
    const auto value = [](truth::side side, double strike, double spot, double volatility) {
        return truth::black(side, spot / discount, strike, volatility * volatility, discount);
    };
    ASSERT_EQ(r.scenarios.size(), 4u);
    for (std::size_t s = 0; s < r.scenarios.size(); ++s) {
        const std::vector<market> both{*b.market(), b.market()->changed(r.scenarios[s].changes)};
        const std::vector<results> prices = engine().price(b, both, with("auto"));
        for (std::size_t t = 0; t < r.trades(); ++t)
            EXPECT_NEAR(r.gain(s, t), prices[1].rows[t].price - prices[0].rows[t].price,
                        1e-12 * prices[0].rows[t].price);
        const std::string& name = r.scenarios[s].name;
        const double spot = name == "near"   ? 100.3
                            : name == "down" ? 90
                            : name == "up"   ? 110
                                             : 100,
                     volatility = name == "wide" ? 0.22 : 0.2;
        for (std::size_t t = 0; t < 2; ++t) {
            const truth::side side = t == 0 ? truth::side::put : truth::side::call;
            const double strike = t == 0 ? 55 : 185;
            const double gain = value(side, strike, spot, volatility) - value(side, strike, 100, 0.2);
            EXPECT_NEAR(r.gain(s, t), gain, 4.5 * r.error_of_gain(s, t)) << name << t;
            EXPECT_LT(r.error_of_gain(s, t), plain.error_of_gain(s, t) / 2) << name << t;
        }
    }
}

TEST(importance, of_a_session_holds_in_other_markets) {
    const book b = book::parse(std::string(market_text) + trades_text);
    const std::vector<market> in{*b.market(),
                                 b.market()->changed(std::vector<market_change>{{"A.spot", -1}})};
    const session ready = engine().open(b);
    for (const char* antithetic : {"none", "pairs"}) {
        for (const char* controls : {"none", "auto"}) {
            run_options options = with("auto", "sobol", 32768);
            options.overrides.antithetic = tests::named{antithetic};
            options.overrides.controls = tests::named{controls};
            const std::vector<results> fresh = engine().price(b, in, options);
            for (int times = 0; times < 2; ++times)
                for (std::size_t m = 0; m < in.size(); ++m) {
                    const results again = ready.price(in[m], options);
                    for (std::size_t i = 0; i < again.rows.size(); ++i) {
                        const price_row &row = again.rows[i], &wanted = fresh[m].rows[i];
                        EXPECT_TRUE(same_bits(row.price, wanted.price))
                            << controls << antithetic << m << row.trade;
                        EXPECT_TRUE(same_bits(row.standard_error, wanted.standard_error)) << row.trade;
                        EXPECT_EQ(row.decisions, wanted.decisions) << row.trade;
                    }
                }
        }
    }
}

// Each of 400 runs of few paths has its own pilot. The number of intervals that hold the truth has a standard
// deviation of 4.4; one set of seeds in 800 fails for a sound engine, and seeds are fixed. With 4,000 other
// seeds, 95.6 % held it for either trade.
TEST(importance, intervals_of_95_percent_hold_the_truth) {
    for (const char* id : {"put_4", "up_and_in"}) {
        const std::string all = trades_text;
        const auto first = all.find(std::string("  - {id: ") + id);
        const book b = book::parse(market_text +
                                   ("trades:\n" + all.substr(first, all.find('\n', first) - first)) + "\n");
        run_options options = with("auto", "philox", 16384);
        options.overrides.threads = 1;
        int held = 0;
        double z = 0;
        for (std::uint64_t run = 0; run < 400; ++run) {
            options.overrides.seed = run;
            const price_row row = engine().price(b, options).rows.at(0);
            ASSERT_TRUE(has_shifts(row)) << id << run;
            held += row.low <= truths().at(id) && truths().at(id) <= row.high ? 1 : 0;
            z += (row.price - truths().at(id)) / row.standard_error;
        }
        RecordProperty(id, held);
        EXPECT_GE(held, 365) << id;
        EXPECT_LE(held, 395) << id;
        // The sum of z-scores over the root of 400 is standard normal for a sound engine.
        EXPECT_LT(std::abs(z / std::sqrt(400.0)), 4) << id;
    }
}

namespace {

program::normal_shifts any_shifts(const program::path_program& code, const program::timeline& when,
                                  std::uint64_t seed, double size) {
    program::trial_numbers numbers(seed);
    const auto slots = static_cast<std::size_t>(code.normals_per_step);
    program::normal_shifts out;
    out.unshifted = 0.15;
    for (const double share : {0.7, 0.3}) {
        program::normal_shift& way = out.ways.emplace_back();
        way.share = share;
        double squares = 0;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            std::vector<double>& by_step = way.by_slot.emplace_back();
            for (std::size_t s = 0; s < when.steps(); ++s) {
                by_step.push_back(numbers.normal());
                squares += by_step.back() * by_step.back();
            }
        }
        for (std::vector<double>& by_step : way.by_slot)
            for (double& x : by_step) x *= size / std::sqrt(squares);
    }
    return out;
}

plan::trade_program shifted_anyhow(plan::trade_program made, std::uint64_t seed, double size) {
    if (made.is_certain() || made.code.normals_per_step == 0) return made;
    program::normal_shifts by = any_shifts(made.code, made.when, seed, size);
    by.centre = 0.5;
    program::whole_program with = program::shifted(made.code, made.data, made.when, by);
    EXPECT_EQ(program::fault_of(with.code), "");
    made.code = std::move(with.code);
    made.data = std::move(with.data);
    made.when = std::move(with.when);
    return made;
}

std::vector<double> payoffs_of(const program::path_program& code, const program::path_data& data,
                               const program::timeline& when, std::uint64_t paths) {
    const cpu::lane_program compiled = cpu::compile(code);
    cpu::path_job job;
    job.code = &compiled;
    job.data = &data;
    job.when = &when;
    job.seed = 5;
    job.paths = paths;
    cpu::lane_machine machine(*cpu::runnable_instruction_sets().sets[0]);
    std::vector<double> some(code.outputs.size() * kernels::paths_per_tile), out;
    for (std::uint64_t first = 0; first < paths; first += cpu::lanes) {
        machine.walk_paths(job, first, some.data());
        out.insert(out.end(), some.begin(), some.begin() + cpu::lanes);
    }
    return out;
}

struct mean_of_paths {
    double mean = 0, error = 0;
    explicit mean_of_paths(const std::vector<double>& of) {
        const double n = static_cast<double>(of.size());
        for (const double x : of) mean += x / n;
        for (const double x : of) error += (x - mean) * (x - mean);
        error = std::sqrt(error) / n;
    }
};

}  // namespace

// A program of two steps that observes a normal in between, shifted in any two ways: weights are bounded and
// have the mean 1, and a function of all normals keeps its mean. Bounds are 4.5 errors.
TEST(importance_shifted_programs, keep_every_mean) {
    program::recorder into;
    const auto sum = into.state("sum", 0.0), one = into.state("one", 1.0), seen = into.state("seen", 0.0);
    into.open_section(0, "step", 2);
    const program::value first = into.normal("x"), second = into.lone_normal("y");
    into.write(sum, into.read(sum) + first + second * second);
    into.write(one, into.read(one) + into.uniform("u") * 0.0);
    into.open_section(1, "look", 1);
    into.write(seen, into.normal_again(0) * into.read(sum));
    into.output(one);
    into.output(sum);
    into.output(seen);
    const program::recorder::recorded made = std::move(into).finish();
    const program::path_program code = program::hoist(made.code);
    const program::path_data data = program::bind(code, made.data);
    program::timeline when;
    for (const double time : {0.5, 1.0}) {
        if (time == 1) when.add({1, 0});
        when.times.push_back(time);
        when.close_step();
    }
    program::normal_shifts by = any_shifts(code, when, 1, 1.5);
    const program::whole_program with = program::shifted(code, data, when, by);
    EXPECT_EQ(program::fault_of(with.code), "");
    constexpr std::uint64_t paths = 1 << 18;
    const std::vector<double> weights = payoffs_of(with.code, with.data, with.when, paths);
    const mean_of_paths of_weights(weights);
    EXPECT_NEAR(of_weights.mean, 1, 4.5 * of_weights.error);
    EXPECT_GT(of_weights.error, 0);
    EXPECT_LE(*std::ranges::max_element(weights), 1 / by.unshifted);
    EXPECT_GT(*std::ranges::max_element(weights), 3);
    // Means of the outputs: E[x1 + x2 + y1^2 + y2^2] = 2 and E[x2 (x1 + x2 + y1^2 + y2^2)] = 1.
    for (const auto& [output, truth] : {std::pair{1u, 2.0}, std::pair{2u, 1.0}}) {
        for (const double centre : {0.0, 0.7}) {
            program::path_program other = code;
            other.outputs = {code.outputs[output]};
            by.centre = centre;
            const program::whole_program one_output = program::shifted(other, data, when, by);
            const mean_of_paths of(payoffs_of(one_output.code, one_output.data, one_output.when, paths));
            EXPECT_NEAR(of.mean, truth, 4.5 * of.error) << output;
        }
    }
}

// Prices of every product with arbitrary shifts. A sound engine fails for one seed in 10,000.
TEST(importance_shifted_programs, keep_the_price_of_every_product) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < verify::truths().size(); ++i)
        if (verify::truths()[i].takes_part(false)) all.push_back(i);
    std::vector<verify::drawn_trade> trades =
        verify::draw_sample({2 * all.size(), 32768, 20261128, "double", all, 2});
    stages by;
    by.plan = [](const books::trade& t, const markets::market_state& in, program::precision p,
                 const plan::poll& often) {
        plan::trade_program made = plan::plan_trade(t, in, p, {}, often);
        return plan::has_rights(t) ? std::move(made) : shifted_anyhow(std::move(made), 3, 0.7);
    };
    cuda::backend gpus;
    std::vector<verify::priced_trade> prices = verify::price_sample(trades, {"cpu", 2, nullptr, by}, gpus);
    for (std::size_t i = 0; i < trades.size(); ++i) ASSERT_EQ(prices[i].failure, "") << trades[i].text;
    const verify::judgement right = verify::judge(trades, prices, verify::truths_of(trades));
    for (const auto& s : right.of) EXPECT_TRUE(s.holds()) << s.name << " " << s.value;
}

namespace {

importance::outcome found_for(const std::function<double(double)>& payoff, std::uint64_t blocks = 16) {
    importance::pilot by;
    by.slots = 1;
    by.times = {0, 1};
    by.seed = 9;
    by.blocks = blocks;
    by.draw = cpu::runnable_instruction_sets().sets[0]->double_draws.normals;
    by.walk = [&](std::uint64_t, const arrays::shock_cube& normals, double* payoffs) {
        const double* const z = std::get<const double*>(normals.first);
        for (int p = 0; p < cpu::lanes; ++p) payoffs[p] = payoff(z[p]);
    };
    return importance::find(by);
}

}  // namespace

// The best shift of a normal is its mean on paths that pay: 4.2 for a digital that pays above 4. If both
// tails pay, two shifts are needed.
TEST(importance_searches, find_what_pays) {
    const auto above = found_for([](double z) { return z > 4 ? 1.0 : 0.0; });
    ASSERT_TRUE(above.shifts);
    ASSERT_EQ(above.shifts->normals.ways.size(), 1u);
    EXPECT_NEAR(above.shifts->normals.ways[0].by_slot[0][0], 4.22, 0.1);
    EXPECT_GT(above.shifts->fewer_paths, 1000);
    EXPECT_EQ(above.shifts->normals.centre, 0);
    EXPECT_EQ(above.shifts->pilot_paths, 4096u);
    const auto both = found_for([](double z) { return std::abs(z) > 4 ? 1.0 : 0.0; });
    ASSERT_TRUE(both.shifts);
    ASSERT_EQ(both.shifts->normals.ways.size(), 2u);
    const double a = both.shifts->normals.ways[0].by_slot[0][0],
                 b = both.shifts->normals.ways[1].by_slot[0][0];
    EXPECT_NEAR(std::abs(a), 4.2, 0.2);
    EXPECT_NEAR(a + b, 0, 0.3);
    EXPECT_GT(both.shifts->fewer_paths, 1000);
    // A payment that is almost certain, with a rare loss.
    const auto loss = found_for([](double z) { return z < -3 ? 40.0 : 100.0; }, 3);
    ASSERT_TRUE(loss.shifts);
    EXPECT_EQ(loss.shifts->normals.centre, 100);
    EXPECT_LT(loss.shifts->normals.ways[0].by_slot[0][0], -2);
}

TEST(importance_searches, leave_alone_what_they_would_not_help) {
    const std::map<std::string, std::function<double(double)>> all{
        {"nothing pays", [](double) { return 0.0; }},
        {"all pays", [](double) { return 3.0; }},
        {"a call", [](double z) { return std::max(z, 0.0); }},
        {"a straddle", [](double z) { return std::abs(z); }},
        {"a narrow strip in the middle", [](double z) { return std::abs(z) < 0.02 ? 1.0 : 0.0; }},
        {"chance, nearly",
         [](double z) { return 1e6 * z - std::floor(1e6 * z) < 0.05 ? std::exp(0.5 * z) : 0; }},
        {"no number", [](double z) { return z > 4 ? std::log(z - 5) : 0.0; }},
    };
    for (const auto& [name, payoff] : all) EXPECT_FALSE(found_for(payoff).shifts) << name;
    EXPECT_FALSE(found_for([](double z) { return z > 4 ? 1.0 : 0.0; }, 2).shifts);
}

// The pilot must not use the run's paths: walked with the run's seed, it finds other shifts.
TEST(importance, is_decided_on_no_path_of_the_run) {
    const book b = book::parse(std::string(market_text) + trades_text);
    const studies::settled run = studies::settle({with("auto")}, b.settings());
    const cpu::lane_operations& operations = *cpu::runnable_instruction_sets().sets[0];
    const books::trade& put = state_of(b).trades.at(1);
    const plan::trade_program made = plan::plan_trade(put, state_of(*b.market()));
    const auto found = studies::choose_shifts(put, {{&made.code, &made.data, &made.when}}, std::nullopt,
                                              {run, operations, nullptr});
    ASSERT_TRUE(found);
    const auto first_shift = [&](std::uint64_t seed) {
        const cpu::lane_program code = cpu::compile(made.code);
        cpu::lane_machine machine(operations);
        std::vector<double> all(kernels::paths_per_tile);
        importance::pilot by;
        by.slots = 1;
        by.times = made.when.times;
        by.seed = seed;
        by.blocks = found->by.pilot_paths / cpu::lanes;
        by.draw = operations.double_draws.normals;
        by.walk = [&](std::uint64_t, const arrays::shock_cube& normals, double* payoffs) {
            cpu::path_job job;
            job.code = &code;
            job.data = &made.data;
            job.when = &made.when;
            job.paths = cpu::lanes;
            job.normals = normals;
            machine.walk_paths(job, 0, all.data());
            std::copy_n(all.begin(), cpu::lanes, payoffs);
        };
        return importance::find(by).shifts.value().normals.ways.at(0).by_slot.at(0).at(0);
    };
    const double taken = found->by.normals.ways.at(0).by_slot.at(0).at(0);
    EXPECT_NEAR(first_shift(run.seed), taken, 0.2);
    EXPECT_NE(first_shift(run.seed), taken);
}

// Paths that draw jumps may pay where no pilot path shows it, so their weights are at most 2.
TEST(importance, keeps_more_paths_as_they_are_where_some_numbers_are_uniform) {
    const book b = book::parse(std::string(market_text) + trades_text);
    const studies::settled run = studies::settle({with("auto")}, b.settings());
    const studies::pilot_of_controls by{run, *cpu::runnable_instruction_sets().sets[0], nullptr};
    int tried = 0;
    for (const books::trade& t : state_of(b).trades) {
        if (t.id != "put_4" && t.id != "merton") continue;
        const plan::trade_program made = plan::plan_trade(t, state_of(*b.market()));
        const studies::plan_to_shift plan{{&made.code, &made.data, &made.when}};
        const auto found = studies::choose_shifts(t, plan, std::nullopt, by);
        ASSERT_TRUE(found) << t.id;
        EXPECT_EQ(found->by.normals.unshifted, t.id == "merton" ? 0.5 : 0.1) << t.id;
        ++tried;
    }
    EXPECT_EQ(tried, 2);
}

TEST(importance, compiles_into_registers) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    int compiled = 0;
    const book b = book::parse(std::string(market_text) + trades_text);
    for (const books::trade& t : state_of(b).trades) {
        if (t.id == "put_4" || t.id == "put_6" || t.id.starts_with("call")) continue;
        for (const std::string& name : program::precision_names()) {
            cuda::kernel_wish wish;
            wish.precision = precision_named(name);
            const plan::trade_program made =
                shifted_anyhow(plan::plan_trade(t, state_of(*b.market()), wish.precision), 1, 1);
            const run::job job{&made.code, &made.data, &made.when};
            for (const cuda::needed_kernel& k : cuda::kernels_of({&job, 1}, wish, "auto", {})) {
                if (!k.name.starts_with("walk")) continue;
                const auto got = tests::facts_of({k.text, compiled++ % 3 == 0 ? "sm_80" : "sm_90"});
                EXPECT_TRUE(got.is_in_registers()) << t.id << ' ' << name << got;
            }
        }
    }
    EXPECT_EQ(compiled, 4 * 7);
}

using importance_on_a_gpu = tests::on_a_gpu;

TEST_F(importance_on_a_gpu, importance_has_the_bits_of_the_cpu) {
    tests::expect_bits_of_the_cpu_on_a_gpu(std::string(market_text) + trades_text,
                                           [](const char* random) { return with("auto", random); });
}

TEST_F(importance_on_a_gpu, greeks_along_shifted_paths_and_pairs_have_the_bits_of_the_cpu) {
    const book b = book::parse(std::string(market_text) + far_trades_text);
    for (const char* importance : {"auto", "none"}) {
        for (const char* antithetic : {"pairs", "none"}) {
            for (const char* random : {"philox", "sobol"}) {
                run_options options = with(importance, random);
                options.overrides.antithetic = tests::named{antithetic};
                const auto rows = [&](const char* device) {
                    options.overrides.device = device;
                    return engine().greeks(b, *b.market(), {{"delta", "vega"}}, options).greeks;
                };
                const std::vector<greek_row> on_cpu = rows("cpu"), on_gpu = rows("0");
                ASSERT_EQ(on_cpu.size(), on_gpu.size());
                for (std::size_t k = 0; k < on_cpu.size(); ++k) {
                    const std::string what = fmt::format("{} {} {} {} {}", importance, antithetic, random,
                                                         on_cpu[k].trade, on_cpu[k].measure);
                    EXPECT_TRUE(same_bits(on_cpu[k].value, on_gpu[k].value)) << what;
                    EXPECT_TRUE(same_bits(on_cpu[k].standard_error, on_gpu[k].standard_error)) << what;
                }
            }
        }
    }
}

}  // namespace tilewalk::importance_test
