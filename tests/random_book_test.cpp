// SPDX-License-Identifier: Apache-2.0
// Three hundred random trades in random markets against closed forms, judged together: an error too small to
// show in any one of them shows in their mean.
//
// Trades of one book share their random numbers, which would tie their errors together. So each trade is a
// book of its own, with a seed of its own, and the 300 errors, measured in standard errors (z), are
// independent.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/closed_forms.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk {
namespace {

using truth::side;

constexpr int trades_in_all = 300;
constexpr std::uint64_t paths = 1 << 17;
constexpr double planted_error = 1.001;

// As numbers from the engine's bits, since the distributions of the standard library differ between
// libraries.
class dice {
  public:
    explicit dice(std::uint64_t seed) : bits_(seed) {}
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
    }
    bool coin() { return (bits_() >> 63) != 0; }
    int up_to(int most) { return 1 + static_cast<int>(between(0, most)); }

  private:
    std::mt19937_64 bits_;
};

struct random_trade {
    std::string text;  // a whole book
    // The price if every forward were this many times what it is; 1 gives the truth.
    std::function<double(double)> price;
    double scale = 0;  // of its payoff
};

const char* name_of(side option) {
    return option == side::call ? "call" : "put";
}

// One asset with flat curves, or with a volatility and a rate that change once; forwards and variances either
// way.
struct random_market {
    double spot, yield, years, change, first_rate, last_rate, first_volatility, last_volatility;
    bool flat;

    explicit random_market(dice& d, bool may_bend) {
        spot = std::exp(d.between(std::log(0.01), std::log(10000.0)));
        yield = d.between(0, 0.05);
        years = d.between(0.1, 4);
        change = years * d.between(0.2, 0.8);
        flat = !may_bend || d.coin();
        first_rate = d.between(-0.01, 0.09);
        last_rate = flat ? first_rate : d.between(-0.01, 0.09);
        first_volatility = d.between(0.08, 0.5);
        last_volatility = flat ? first_volatility : first_volatility * d.between(0.9, 1.2);
    }
    // The last pillar is the end of the trade, so nothing goes on beyond it.
    double part(double t) const { return t < change ? 0 : (t - change) / (years - change); }
    double log_discount(double t) const {
        if (t < change) return -first_rate * t;
        return -first_rate * change + part(t) * (first_rate * change - last_rate * years);
    }
    double discount(double t) const { return std::exp(log_discount(t)); }
    double variance(double t) const {
        if (t < change) return first_volatility * first_volatility * t;
        const double first = first_volatility * first_volatility * change;
        return first + part(t) * (last_volatility * last_volatility * years - first);
    }
    double forward(double t) const { return spot * std::exp(-log_discount(t) - yield * t); }
    truth::move step(double from, double to) const {
        return {std::log(forward(to) / forward(from)), variance(to) - variance(from),
                discount(to) / discount(from)};
    }
    // A strike within one deviation of the forward.
    double strike(dice& d) const {
        return forward(years) * std::exp(d.between(-1, 1) * std::sqrt(variance(years)));
    }
    std::string text(const std::string& more_assets = "", const std::string& rest = "") const {
        const std::string rates =
            flat ? fmt::format("rate: {}", first_rate)
                 : fmt::format("zero_rates: {{{}: {}, {}: {}}}", change, first_rate, years, last_rate);
        const std::string volatility =
            flat ? fmt::format("{}", first_volatility)
                 : fmt::format("{{{}: {}, {}: {}}}", change, first_volatility, years, last_volatility);
        return fmt::format(
            "market:\n  as_of: 2026-01-15\n  currencies: {{USD: {{{}}}, EUR: {{rate: 0.01}}}}\n"
            "  assets:\n    A: {{currency: USD, spot: {}, dividend_yield: {}, volatility: {}}}\n{}{}",
            rates, spot, yield, volatility, more_assets, rest);
    }
};

std::string one_trade(const std::string& terms) {
    return "trades:\n  - {id: t, underlying: A, " + terms + "}\n";
}

random_trade european(dice& d) {
    const random_market m(d, true);
    const side option = d.coin() ? side::call : side::put;
    const double strike = m.strike(d);
    return {m.text() + one_trade(fmt::format("product: european, option: {}, strike: {}, maturity: {}",
                                             name_of(option), strike, m.years)),
            [=](double f) {
                return truth::black(option, f * m.forward(m.years), strike, m.variance(m.years),
                                    m.discount(m.years));
            },
            m.spot};
}

random_trade digital(dice& d) {
    const random_market m(d, true);
    const side option = d.coin() ? side::call : side::put;
    const double strike = m.strike(d);
    return {
        m.text() + one_trade(fmt::format("product: digital, option: {}, strike: {}, payout: 7, maturity: {}",
                                         name_of(option), strike, m.years)),
        [=](double f) {
            return 7 * truth::cash_digital(option, f * m.forward(m.years), strike, m.variance(m.years),
                                           m.discount(m.years));
        },
        7};
}

// In euros, with the exchange rate correlated.
random_trade quanto(dice& d) {
    const random_market m(d, true);
    const side option = d.coin() ? side::call : side::put;
    const double strike = m.strike(d), rho = d.between(-0.9, 0.9), volatility = d.between(0.05, 0.2);
    const std::string rest =
        fmt::format("  fx: {{EURUSD: {{rate: 1.1, volatility: {}}}}}\n  correlations: [[A, EURUSD, {}]]\n",
                    volatility, rho);
    // Piecewise constant volatilities: the dollar in euros falls when EURUSD rises.
    const double first = m.first_volatility * volatility * m.change;
    const double last = std::sqrt((m.variance(m.years) - m.variance(m.change)) / (m.years - m.change)) *
                        volatility * (m.years - m.change);
    const double covariance = -rho * (first + last), discount = std::exp(-0.01 * m.years);
    return {m.text("", rest) + one_trade(fmt::format(
                                   "product: european, currency: EUR, option: {}, strike: {}, maturity: {}",
                                   name_of(option), strike, m.years)),
            [=](double f) {
                return truth::black(option, truth::quanto_forward(f * m.forward(m.years), covariance), strike,
                                    m.variance(m.years), discount);
            },
            m.spot};
}

random_trade barrier(dice& d) {
    const random_market m(d, false);
    truth::watched_option o;
    o.option = d.coin() ? side::call : side::put;
    o.down = d.coin();
    o.out = d.coin();
    o.spot = m.spot;
    o.strike = m.strike(d);
    o.variance = m.variance(m.years);
    o.growth = (m.first_rate - m.yield) * m.years;
    o.rate = m.first_rate * m.years;
    o.barrier = m.spot * std::exp((o.down ? -1 : 1) * d.between(0.3, 1.5) * std::sqrt(o.variance));
    o.rebate = d.coin() ? 0 : m.spot * d.between(0.01, 0.1);
    o.rebate_at_hit = o.out && d.coin();
    return {m.text() + one_trade(fmt::format("product: barrier, option: {}, strike: {}, maturity: {}, "
                                             "direction: {}, kind: {}, barrier: {}, "
                                             "rebate: {}, rebate_paid: {}",
                                             name_of(o.option), o.strike, m.years, o.down ? "down" : "up",
                                             o.out ? "knock_out" : "knock_in", o.barrier, o.rebate,
                                             o.rebate_at_hit ? "at_hit" : "at_expiry")),
            [o](double f) {
                truth::watched_option moved = o;
                moved.spot *= f;
                return truth::barrier_option(moved);
            },
            m.spot};
}

random_trade barrier_on_dates(dice& d) {
    const random_market m(d, true);
    const side option = d.coin() ? side::call : side::put;
    const bool down = d.coin();
    const double strike = m.strike(d), sd = std::sqrt(m.variance(m.years));
    const double level = m.spot * std::exp((down ? -1 : 1) * d.between(0.3, 1.5) * sd);
    const std::size_t dates = static_cast<std::size_t>(d.up_to(6));
    std::vector<truth::move> moves;
    for (std::size_t i = 0; i < dates; ++i) {
        const double each = m.years / static_cast<double>(dates);
        moves.push_back(m.step(each * static_cast<double>(i), each * static_cast<double>(i + 1)));
    }
    return {m.text() + one_trade(fmt::format(
                           "product: barrier, option: {}, strike: {}, maturity: {}, direction: {}, barrier: "
                           "{}, monitoring: discrete, monitoring_dates: {{start: 0, end: {}, count: {}}}",
                           name_of(option), strike, m.years, down ? "down" : "up", level, m.years, dates)),
            [=](double f) {
                return truth::backward(
                    f * m.spot, moves, {level, strike}, [&](std::size_t k, double s, double goes_on) {
                        if (down ? s <= level : s >= level) return 0.0;
                        return k + 1 == dates ? truth::intrinsic(option, s, strike) : goes_on;
                    });
            },
            m.spot};
}

random_trade geometric_asian(dice& d) {
    const random_market m(d, true);
    const side option = d.coin() ? side::call : side::put;
    const double strike = m.strike(d);
    const int dates = d.up_to(20);
    std::vector<double> forwards, variances;
    for (int i = 1; i <= dates; ++i) {
        forwards.push_back(m.forward(m.years * i / dates));
        variances.push_back(m.variance(m.years * i / dates));
    }
    const std::string product =
        "products:\n"
        "  - product: geometric_asian\n"
        "    summary: Option on the geometric mean.\n"
        "    parameters:\n"
        "      underlying: {type: asset, help: The asset.}\n"
        "      option: {type: choice, choices: [call, put], help: Which side.}\n"
        "      strike: {type: amount, help: The strike.}\n"
        "      averaging_dates: {type: schedule, help: The dates.}\n"
        "    example: {underlying: A, option: call, strike: 100, averaging_dates: [0.5, 1.0]}\n"
        "    script: |\n"
        "      logs = 0\n"
        "      on averaging_dates:\n"
        "          logs = logs + log(spot(underlying))\n"
        "      on last(averaging_dates):\n"
        "          mean = exp(logs / size(averaging_dates))\n"
        "          if option == call:\n"
        "              pay max(mean - strike, 0)\n"
        "          else:\n"
        "              pay max(strike - mean, 0)\n";
    return {m.text() + product +
                one_trade(fmt::format(
                    "product: geometric_asian, option: {}, strike: {}, averaging_dates: {{start: 0, end: {}, "
                    "count: {}}}",
                    name_of(option), strike, m.years, dates)),
            [=](double f) {
                std::vector<double> moved = forwards;
                for (double& one : moved) one *= f;
                return truth::geometric_asian(option, moved, variances, strike, m.discount(m.years));
            },
            m.spot};
}

random_trade variance_swap(dice& d) {
    const random_market m(d, true);
    const int returns = d.up_to(25);
    const double first = m.years * 0.1, each = (m.years - first) / returns;
    std::vector<truth::move> moves;
    std::string fixings = fmt::format("{}", first);
    for (int i = 1; i <= returns; ++i) {
        const double to = i == returns ? m.years : first + each * i;
        moves.push_back(m.step(first + each * (i - 1), to));
        fixings += fmt::format(", {}", to);
    }
    const double strike = d.between(0, 0.4), fair = truth::mean_square_return(moves) / each;
    return {
        m.text() + one_trade(fmt::format(
                       "product: variance_swap, strike: {}, annualisation: {}, notional: 50, fixings: [{}]",
                       strike, 1 / each, fixings)),
        // No forward of the asset in it: only that of the whole contract can be out.
        [=](double f) { return f * m.discount(m.years) * 50 * (fair - strike * strike); }, 50 * fair};
}

// A note on the worst of two that looks once, which is a put on the worst and two digitals.
random_trade worst_of_note(dice& d) {
    const random_market m(d, false);
    const double other = d.between(10, 200), volatility = d.between(0.2, 0.5), rho = d.between(-0.95, 0.95);
    const double call = d.between(0.9, 1.1), protection = d.between(0.7, 0.85), coupon = d.between(0.05, 0.2);
    const std::string second = fmt::format(
        "    B: {{currency: USD, spot: {}, dividend_yield: 0.02, volatility: {}}}\n", other, volatility);
    truth::pair_of_assets p;
    p.first_forward = m.forward(m.years) / m.spot;
    p.second_forward = std::exp((m.first_rate - 0.02) * m.years);
    p.first_variance = m.variance(m.years);
    p.second_variance = volatility * volatility * m.years;
    p.covariance = rho * std::sqrt(p.first_variance * p.second_variance);
    return {m.text(second, fmt::format("  correlations: [[A, B, {}]]\n", rho)) +
                fmt::format(
                    "trades:\n  - {{id: t, product: autocallable, basket: [A, B], initial_level: [{}, {}], "
                    "observations: [{}], call_level: {}, coupon: {}, protection: {}, notional: 1}}\n",
                    m.spot, other, m.years, call, coupon, protection),
            [=](double f) {
                truth::pair_of_assets moved = p;
                moved.first_forward *= f;
                moved.second_forward *= f;
                const double discount = m.discount(m.years);
                const double below = 1 - truth::both_above(moved, protection);
                return discount * (1 + coupon * truth::both_above(moved, call) - (1 - protection) * below) -
                       truth::put_on_worst(moved, protection, discount);
            },
            1};
}

struct scores {
    double mean_z = 0;         // 0 if the prices are right
    double mean_square_z = 0;  // 1 if the prices and their standard errors are right
    double mean_leaning =
        0;  // z signed so that a forward a little too high makes it positive: 0 if the prices are right
};

// For sums of 300 independent z: of mean z and the leaning z 4.5 deviations (each would be missed by a sound
// engine once in 150,000 seeds); of mean z squared from 0.63 to 1.37, that is chi squared of 300 degrees
// (once in 45,000).
bool pass_mean(const scores& s) {
    return std::abs(s.mean_z) <= 4.5 / std::sqrt(double(trades_in_all)) &&
           std::abs(s.mean_leaning) <= 4.5 / std::sqrt(double(trades_in_all));
}
bool pass_square(const scores& s) {
    return s.mean_square_z >= 0.63 && s.mean_square_z <= 1.37;
}

std::string told(const scores& s) {
    return fmt::format("mean z {:.3f}, leaning {:.3f}, mean z squared {:.3f}", s.mean_z, s.mean_leaning,
                       s.mean_square_z);
}

TEST(random_book, three_hundred_trades_and_a_planted_error) {
    using maker = random_trade (*)(dice&);
    constexpr maker families[] = {european,         digital,         quanto,        barrier,
                                  barrier_on_dates, geometric_asian, variance_swap, worst_of_note};
    dice d(20260115);
    scores right, planted;
    std::string all;
    for (int i = 0; i < trades_in_all; ++i) {
        const maker make = families[static_cast<std::size_t>(i) % std::size(families)];
        random_trade t = make(d);
        // What is worth next to nothing is too thin a sample for a z; the truth decides, never the price.
        while (std::abs(t.price(1)) < 0.01 * t.scale) t = make(d);
        run_options options;
        options.overrides.paths = paths;
        options.overrides.seed = 1000 + static_cast<std::uint64_t>(i);
        const price_row got = engine().price(book::parse(t.text, "random"), options).rows.at(0);
        ASSERT_EQ(got.status, trade_status::priced) << t.text << got.message;
        EXPECT_GE(got.effective_hits, 1000) << t.text;
        ASSERT_GT(got.standard_error, 0) << t.text;
        const double truth = t.price(1), wrong = t.price(planted_error);
        const double z = (got.price - truth) / got.standard_error;
        const double wrong_z = (got.price - wrong) / got.standard_error, lean = wrong > truth ? 1 : -1;
        // Once in 6,000 seeds for a sound engine.
        EXPECT_LE(std::abs(z), 5) << t.text
                                  << fmt::format("price {}, standard error {}, truth {}, z {:.2f}", got.price,
                                                 got.standard_error, truth, z);
        right.mean_z += z / trades_in_all;
        right.mean_square_z += z * z / trades_in_all;
        right.mean_leaning += lean * z / trades_in_all;
        planted.mean_z += wrong_z / trades_in_all;
        planted.mean_square_z += wrong_z * wrong_z / trades_in_all;
        planted.mean_leaning += lean * wrong_z / trades_in_all;
    }
    EXPECT_TRUE(pass_mean(right)) << told(right);
    EXPECT_TRUE(pass_square(right)) << told(right);
    // The same prices against forwards that are 0.1 percent out.
    EXPECT_FALSE(pass_mean(planted)) << told(planted);
    EXPECT_FALSE(pass_square(planted)) << told(planted);
}

}  // namespace
}  // namespace tilewalk
