// SPDX-License-Identifier: Apache-2.0
// Products under continuous monitoring whose levels end, start or pay: by the law of a path that touches no
// level.
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

// A flat market with a rate not below 0, and one or two levels around the spot.
struct watched_market {
    random_market m;
    truth::watch all;  // watched from today to maturity
    bool down;         // where the level lies if there is one
    double sd;

    explicit watched_market(dice& d) : m(d, false), down(d.coin()) {
        m.first_rate = m.last_rate = std::abs(m.first_rate);
        take_market();
    }
    double level(dice& d, bool below, double least = 0.3, double most = 1.5) const {
        return m.spot * std::exp((below ? -1 : 1) * d.between(least, most) * sd);
    }
    void put_level(dice& d, double least = 0.3, double most = 1.5) {
        (down ? all.lower : all.upper) = level(d, down, least, most);
    }
    void put_two_levels(dice& d) {
        all.lower = m.spot * std::exp(-d.between(0.8, 2) * sd);
        all.upper = m.spot * std::exp(d.between(0.8, 2) * sd);
    }
    double only_level() const { return down ? all.lower : all.upper; }
    double discount() const { return m.discount(m.years); }
    double rate() const { return m.first_rate * m.years; }
    const char* direction() const { return down ? "down" : "up"; }
    std::string text() const { return m.text(); }
    movable_numbers numbers() const { return m.numbers(); }
    watched_market moved(const market_move& by) const {
        watched_market out = *this;
        out.m = m.moved(by);
        out.take_market();
        return out;
    }
    // Monitoring from a fraction `part` of the life on, at the price `spot`; earlier touches don't count.
    truth::watch late(double part, double spot) const {
        truth::watch w = all;
        w.spot = spot;
        w.variance *= 1 - part;
        w.growth *= 1 - part;
        return w;
    }
    truth::watch early(double part) const {
        truth::watch w = all;
        w.variance *= part;
        w.growth *= part;
        return w;
    }

  private:
    void take_market() {
        all.spot = m.spot;
        all.variance = m.variance(m.years);
        all.growth = (m.first_rate - m.yield) * m.years;
        sd = std::sqrt(all.variance);
    }
};

template <class F>
double whole_mean(const truth::watch& w, const F& f, double kink) {
    return truth::price_mean(w.spot * std::exp(w.growth), w.variance, f, {kink});
}

}  // namespace

known_trade draw_double_barrier(dice& d) {
    watched_market w(d);
    w.put_two_levels(d);
    const truth::side option = any_side(d);
    const bool out = d.coin(), at_hit = out && d.coin();
    const double strike = w.m.strike(d), rebate = w.m.spot * d.between(0.01, 0.1);
    return known_in(
        w,
        one_trade(fmt::format("product: double_barrier, option: {}, strike: {}, maturity: {}, "
                              "kind: {}, lower: {}, upper: {}, rebate: {}, rebate_paid: {}",
                              name_of(option), strike, w.m.years, out ? "knock_out" : "knock_in", w.all.lower,
                              w.all.upper, rebate, at_hit ? "at_hit" : "at_expiry")),
        [=](const watched_market& here) {
            const truth::watch& now = here.all;
            const auto vanilla = [&](double s) { return truth::intrinsic(option, s, strike); };
            const double alive = now.mean(vanilla, {strike}),
                         untouched = now.mean([](double) { return 1.0; });
            if (!out)
                return here.discount() * (whole_mean(now, vanilla, strike) - alive + rebate * untouched);
            if (!at_hit) return here.discount() * (alive + rebate * (1 - untouched));
            return here.discount() * alive +
                   rebate * (now.touch(true, here.rate()) + now.touch(false, here.rate()));
        },
        w.m.spot);
}

known_trade draw_one_touch(dice& d) {
    watched_market w(d);
    w.put_level(d);
    const bool touch = d.coin(), at_hit = touch && d.coin(), cash = d.coin();
    return known_in(
        w,
        one_trade(fmt::format("product: one_touch, kind: {}, direction: {}, barrier: {}, pays: {}, "
                              "payout: 3, paid: {}, maturity: {}",
                              touch ? "one_touch" : "no_touch", w.direction(), w.only_level(),
                              cash ? "cash" : "asset", at_hit ? "at_hit" : "at_expiry", w.m.years)),
        [=](const watched_market& here) {
            const truth::watch& now = here.all;
            if (at_hit) return 3 * (cash ? 1 : w.only_level()) * now.touch(w.down, here.rate());
            const double never = now.mean([&](double s) { return cash ? 1.0 : s; });
            const double all = cash ? 1 : now.spot * std::exp(now.growth);
            return 3 * here.discount() * (touch ? all - never : never);
        },
        cash ? 3 : 3 * w.m.spot);
}

known_trade draw_double_touch(dice& d) {
    watched_market w(d);
    w.put_two_levels(d);
    const char* const kinds[] = {"no_touch", "one_touch", "lower_first", "upper_first"};
    const int kind = d.up_to(4) - 1;
    const bool at_hit = kind > 0 && d.coin();
    return known_in(
        w,
        one_trade(fmt::format("product: double_touch, kind: {}, lower: {}, upper: {}, payout: 3, "
                              "paid: {}, maturity: {}",
                              kinds[kind], w.all.lower, w.all.upper, at_hit ? "at_hit" : "at_expiry",
                              w.m.years)),
        [=](const watched_market& here) {
            const truth::watch& now = here.all;
            if (kind == 0) return 3 * here.discount() * now.mean([](double) { return 1.0; });
            const double rate = at_hit ? here.rate() : 0, later = at_hit ? 1 : here.discount();
            return 3 * later *
                   ((kind != 3 ? now.touch(true, rate) : 0) + (kind != 2 ? now.touch(false, rate) : 0));
        },
        3);
}

known_trade draw_barrier_digital(dice& d) {
    watched_market w(d);
    w.put_level(d);
    const truth::side option = any_side(d);
    const bool out = d.coin(), cash = d.coin();
    const double strike = w.m.strike(d);
    return known_in(
        w,
        one_trade(fmt::format("product: barrier_digital, option: {}, strike: {}, pays: {}, payout: 3, "
                              "maturity: {}, direction: {}, kind: {}, barrier: {}",
                              name_of(option), strike, cash ? "cash" : "asset", w.m.years, w.direction(),
                              out ? "knock_out" : "knock_in", w.only_level())),
        [=](const watched_market& here) {
            const truth::watch& now = here.all;
            const auto paid = [&](double s) {
                return (s >= strike) == (option == truth::side::call) ? (cash ? 3 : 3 * s) : 0.0;
            };
            const double alive = now.mean(paid, {strike});
            return here.discount() * (out ? alive : whole_mean(now, paid, strike) - alive);
        },
        cash ? 3 : 3 * w.m.spot);
}

// The value is the mean of plain barrier options over all levels from `lower` to `upper`.
known_trade draw_soft_barrier(dice& d) {
    const watched_market w(d);
    truth::watched_option o;
    o.option = any_side(d);
    o.down = w.down;
    o.out = d.coin();
    o.strike = w.m.strike(d);
    const double near = w.level(d, w.down),
                 far = near * std::exp((w.down ? -1 : 1) * d.between(0.1, 0.5) * w.sd);
    const double lower = std::min(near, far), upper = std::max(near, far);
    return known_in(
        w,
        one_trade(fmt::format("product: soft_barrier, option: {}, strike: {}, maturity: {}, "
                              "direction: {}, kind: {}, lower: {}, upper: {}",
                              name_of(o.option), o.strike, w.m.years, w.direction(),
                              o.out ? "knock_out" : "knock_in", lower, upper)),
        [=](const watched_market& here) {
            const auto at = [&](double level) {
                truth::watched_option one = o;
                one.spot = here.all.spot;
                one.variance = here.all.variance;
                one.growth = here.all.growth;
                one.rate = here.rate();
                one.barrier = level;
                return truth::barrier_option(one);
            };
            const double middle = std::clamp(o.strike, lower, upper);  // the formula changes here
            return (truth::integrate(at, lower, middle, 4) + truth::integrate(at, middle, upper, 4)) /
                   (upper - lower);
        },
        w.m.spot);
}

// Monitored until a fraction of the life, or from then on and perhaps for touches from either side.
known_trade draw_partial_barrier(dice& d) {
    watched_market w(d);
    const truth::side option = any_side(d);
    const bool out = d.coin(), is_late = d.coin(), either = is_late && d.coin();
    const double strike = w.m.strike(d), part = d.between(0.2, 0.8),
                 rebate = w.m.spot * d.between(0.05, 0.15);
    // Put the level where monitored paths can reach it. If it counts from either side, put it close enough to
    // the forward that paths are on both sides.
    const double reach = is_late ? 1 : std::sqrt(part);
    w.put_level(d, (either ? 0.1 : 0.3) * reach, (either ? 0.4 : 1.5) * reach);
    const double level = w.only_level(), change = part * w.m.years;
    const double infinity = std::numeric_limits<double>::infinity();
    return known_in(
        w,
        one_trade(fmt::format("product: partial_barrier, option: {}, strike: {}, maturity: {}, direction: "
                              "{}, kind: {}, barrier: {}, {}: {}, rebate: {}",
                              name_of(option), strike, w.m.years, either ? "either" : w.direction(),
                              out ? "knock_out" : "knock_in", level,
                              is_late ? "monitoring_start" : "monitoring_end", change, rebate)),
        [=](const watched_market& here) {
            const truth::watch& now = here.all;
            const auto excess = [&](double s) { return truth::intrinsic(option, s, strike) - rebate; };
            double alive = 0;
            if (is_late) {
                alive = truth::price_mean(now.spot * std::exp(part * now.growth), part * now.variance,
                                          [&](double s) {
                                              truth::watch rest = here.late(part, s);
                                              if (either) {
                                                  rest.lower = s > level ? level : 0;
                                                  rest.upper = s > level ? infinity : level;
                                              }
                                              return rest.mean(excess, {strike});
                                          },
                                          {level});
            } else {
                alive = here.early(part).mean([&](double s) {
                    return truth::black(option, s * std::exp((1 - part) * now.growth), strike,
                                        (1 - part) * now.variance, 1) -
                           rebate;
                });
            }
            // A knock-out pays the rebate, and on surviving paths the excess over it. A knock-in pays the
            // vanilla and the rebate, less that excess.
            return here.discount() *
                   (out ? rebate + alive : whole_mean(now, excess, strike) + rebate - alive);
        },
        w.m.spot);
}

// A barrier on another asset. Given the last price of the watched asset, whether it touched the barrier does
// not depend on the last price of the first asset.
known_trade draw_outside_barrier(dice& d) {
    watched_market w(d);
    const truth::side option = any_side(d);
    const double spot = d.between(10, 200), volatility = d.between(0.2, 0.5), rho = d.between(-0.9, 0.9);
    const double strike = w.m.strike(d);
    const double level = spot * std::exp((w.down ? -1 : 1) * d.between(0.3, 1.5) *
                                         std::sqrt(volatility * volatility * w.m.years));
    const std::string second = fmt::format(
        "    B: {{currency: USD, spot: {}, dividend_yield: 0.02, volatility: {}}}\n", spot, volatility);
    movable_numbers numbers = w.numbers();
    numbers.insert(numbers.end(), {{"B.spot", step_of_size * spot},
                                   {"B.dividend_yield", step_of_rate},
                                   {"B.volatility", step_of_volatility},
                                   {"A|B.correlation", step_of_correlation}});
    return {
        w.m.text(second, fmt::format("  correlations: [[A, B, {}]]\n", rho)) +
            one_trade(fmt::format("product: partial_barrier, watched: B, option: {}, strike: {}, maturity: "
                                  "{}, direction: {}, barrier: {}",
                                  name_of(option), strike, w.m.years, w.direction(), level)),
        [=](const market_move& by) {
            const watched_market here = w.moved(by);
            const double moves = volatility + by.shift_of("B.volatility"),
                         with = rho + by.shift_of("A|B.correlation");
            truth::watch other;
            other.spot = spot * by.forwards + by.shift_of("B.spot");
            other.variance = moves * moves * w.m.years;
            other.growth = (here.m.first_rate - (0.02 + by.shift_of("B.dividend_yield"))) * w.m.years;
            (w.down ? other.lower : other.upper) = level;
            const double forward = here.all.spot * std::exp(here.all.growth), rest = 1 - with * with;
            const double sd = std::sqrt(other.variance);
            return here.discount() * other.mean([&](double s) {
                const double z = (std::log(s / other.spot) - other.growth) / sd + 0.5 * sd;
                return truth::black(
                    option, forward * std::exp(with * here.sd * z - 0.5 * with * with * here.all.variance),
                    strike, rest * here.all.variance, 1);
            });
        },
        std::move(numbers), w.m.spot};
}

known_trade draw_lookback(dice& d) {
    const watched_market w(d);
    const truth::side option = any_side(d);
    const bool fixed = d.coin(), call = option == truth::side::call, high = fixed == call;
    const double strike = w.m.strike(d);
    const double seen = w.m.spot * std::exp((high ? 1 : -1) * d.between(0.05, 0.5) * w.sd);
    const std::string terms = fixed ? fmt::format("strike: {}, ", strike) : std::string();
    return known_in(
        w,
        one_trade(fmt::format("product: lookback, option: {}, {}extreme_so_far: {}, maturity: {}",
                              name_of(option), terms, seen, w.m.years)),
        [=](const watched_market& here) {
            const double spot = here.all.spot, variance = here.all.variance, discount = here.discount();
            const double growth = here.all.growth == 0 ? 1e-9 : here.all.growth;
            const auto beyond = [&](truth::side side, double from) {
                return truth::any_fixed_lookback(side, spot, from, growth, variance, discount);
            };
            if (fixed) {  // gain at the extreme so far, plus gain at a new extreme
                const double from = call ? std::max(strike, seen) : std::min(strike, seen);
                return discount * truth::intrinsic(option, seen, strike) + beyond(option, from);
            }
            const double forward = spot * std::exp(growth);
            return call ? discount * (forward - seen) + beyond(truth::side::put, seen)
                        : discount * (seen - forward) + beyond(truth::side::call, seen);
        },
        w.m.spot);
}

known_trade draw_partial_lookback(dice& d) {
    const watched_market w(d);
    const truth::side option = any_side(d);
    const bool fixed = d.coin();
    const double part = d.between(0.2, 0.8), strike = w.m.strike(d);
    const double factor = option == truth::side::call ? d.between(1, 1.1) : d.between(0.9, 1);
    const std::string terms =
        fixed ? fmt::format("strike: {}, monitoring_start: {}", strike, part * w.m.years)
              : fmt::format("strike_factor: {}, monitoring_end: {}", factor, part * w.m.years);
    return known_in(
        w,
        one_trade(fmt::format("product: lookback, option: {}, {}, maturity: {}", name_of(option), terms,
                              w.m.years)),
        [=](const watched_market& here) {
            const truth::watch& now = here.all;
            if (!fixed) return truth::early_lookback(option, now, part, factor, here.discount());
            const double growth = now.growth == 0 ? 1e-9 : now.growth;
            return here.discount() *
                   truth::price_mean(now.spot * std::exp(part * growth), part * now.variance,
                                     [&](double s) {
                                         return truth::any_fixed_lookback(option, s, strike,
                                                                          (1 - part) * growth,
                                                                          (1 - part) * now.variance, 1);
                                     },
                                     {strike});
        },
        w.m.spot);
}

}  // namespace tilewalk::verify
