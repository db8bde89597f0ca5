// SPDX-License-Identifier: Apache-2.0
// Products that pay by the time that a price spends beyond a level, monitored continuously.
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/excursion_forms.h"
#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

struct level_market {
    random_market m;
    truth::excursion_option o;

    explicit level_market(dice& d) : m(d, false) {
        o.what = d.coin() ? truth::excursion_option::pays::call : truth::excursion_option::pays::put;
        o.down = d.coin();
        o.strike = m.strike(d);
        take_market();
        o.barrier = m.spot * std::exp((d.coin() ? -1 : 1) * d.between(0.15, 1) * std::sqrt(o.variance));
    }
    std::string terms() const {
        return fmt::format("option: {}, strike: {}, direction: {}, barrier: {}, maturity: {}",
                           o.what == truth::excursion_option::pays::call ? "call" : "put", o.strike,
                           o.down ? "down" : "up", o.barrier, m.years);
    }
    // No rebate if almost all paths would be paid it: payoffs that hardly differ have no useful error.
    double rebate(dice& d, bool out) const {
        const bool is_paid = !d.coin() && o.begins_beyond() != out;
        return is_paid ? m.spot * d.between(0.01, 0.1) : 0;
    }
    double discount() const { return m.discount(m.years); }
    std::string text() const { return m.text(); }
    movable_numbers numbers() const { return m.numbers(); }
    level_market moved(const market_move& by) const {
        level_market out = *this;
        out.m = m.moved(by);
        out.take_market();
        return out;
    }

  private:
    void take_market() {
        o.spot = m.spot;
        o.growth = (m.first_rate - m.yield) * m.years;
        o.variance = m.variance(m.years);
    }
};

// The mean payoff of a knock-out or knock-in; in(o) is the mean payoff over paths that were knocked.
template <class In>
double with_rebate(const truth::excursion_option& o, bool out, double rebate, const In& in) {
    truth::excursion_option chance = o;
    chance.what = truth::excursion_option::pays::money;
    const double decided = in(o), vanilla = o.mean_from(o.spot, o.variance);
    const double likely = rebate == 0 ? 0 : in(chance);
    return out ? vanilla - decided + rebate * likely : decided + rebate * (1 - likely);
}

}  // namespace

known_trade draw_parisian(dice& d) {
    const level_market w(d);
    const bool out = d.coin();
    const double window = d.between(0.05, 0.4), elapsed = d.coin() ? 0 : window * d.between(0.1, 0.9);
    const double rebate = w.rebate(d, out);
    return known_in(
        w,
        one_trade(fmt::format("product: parisian, {}, kind: {}, window: {}, elapsed: {}, "
                              "rebate: {}",
                              w.terms(), out ? "knock_out" : "knock_in", window * w.m.years,
                              elapsed * w.m.years, rebate)),
        [=](const level_market& now) {
            return now.discount() * with_rebate(now.o, out, rebate, [&](const truth::excursion_option& o) {
                       return truth::parisian_in(o, window, elapsed);
                   });
        },
        w.m.spot);
}

known_trade draw_cumulative_parisian(dice& d) {
    const level_market w(d);
    const bool out = d.coin();
    const double window = d.between(0.1, 0.7), elapsed = d.coin() ? 0 : window * d.between(0.1, 0.9);
    const double rebate = w.rebate(d, out);
    return known_in(
        w,
        one_trade(fmt::format("product: cumulative_parisian, {}, kind: {}, window: {}, "
                              "elapsed: {}, rebate: {}",
                              w.terms(), out ? "knock_out" : "knock_in", window * w.m.years,
                              elapsed * w.m.years, rebate)),
        [=](const level_market& now) {
            const double left = window - elapsed;
            return now.discount() * with_rebate(now.o, out, rebate, [&](const truth::excursion_option& o) {
                       return truth::occupation_mean(o, [&](double time) { return time >= left ? 1.0 : 0.0; },
                                                     {left});
                   });
        },
        w.m.spot);
}

known_trade draw_step_option(dice& d) {
    const level_market w(d);
    const bool linear = d.coin();
    const double rate = d.between(0.5, 4);  // rate times maturity
    return known_in(
        w,
        one_trade(fmt::format("product: step_option, {}, form: {}, knock_out_rate: {}, longest_step: {}",
                              w.terms(), linear ? "linear" : "exponential", rate / w.m.years,
                              w.m.years / 32)),
        [=](const level_market& now) {
            const auto left = [&](double time) {
                return linear ? std::max(1 - rate * time, 0.0) : std::exp(-rate * time);
            };
            return now.discount() * truth::occupation_mean(now.o, left, {1 / rate});
        },
        w.m.spot);
}

known_trade draw_corridor_accrual(dice& d) {
    const random_market m(d, false);
    const double sd = std::sqrt(m.variance(m.years));
    const double lower = d.coin() ? 0 : m.spot * std::exp(-d.between(-0.3, 1) * sd);
    const double upper = std::max(m.spot, lower) * std::exp(d.between(0.1, 1) * sd);
    const double start = d.coin() ? 0 : d.between(0.1, 0.6);  // fraction of the life
    const bool redeems = d.coin();
    return known_in(
        m,
        one_trade(fmt::format("product: corridor_accrual, lower: {}, upper: {}, "
                              "accrual_start: {}, maturity: {}, coupon: 0.1, redeems: {}",
                              lower, upper, start * m.years, m.years, redeems)),
        [=](const random_market& now) {
            const double variance = now.variance(m.years), growth = (now.first_rate - now.yield) * m.years;
            const auto until = [&](double part) {
                return part * truth::mean_time_within(now.spot, part * growth, part * variance, lower, upper);
            };
            const double inside = (until(1) - (start > 0 ? until(start) : 0)) / (1 - start);
            return now.discount(m.years) * (10 * inside + (redeems ? 100 : 0));
        },
        redeems ? 100.0 : 10.0);
}

}  // namespace tilewalk::verify
