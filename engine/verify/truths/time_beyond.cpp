// SPDX-License-Identifier: Apache-2.0
// Products that pay by the time that a price spends beyond a level, watched at every moment.
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/excursion_forms.h"
#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

// A market without a bend, an option in it and a level near the spot.
struct level_market {
    random_market m;
    truth::excursion_option o;

    explicit level_market(dice& d) : m(d, false) {
        o.what = d.coin() ? truth::excursion_option::pays::call : truth::excursion_option::pays::put;
        o.down = d.coin();
        o.spot = m.spot;
        o.strike = m.strike(d);
        o.growth = (m.first_rate - m.yield) * m.years;
        o.variance = m.variance(m.years);
        o.barrier = m.spot * std::exp((d.coin() ? -1 : 1) * d.between(0.15, 1) * std::sqrt(o.variance));
    }
    std::string terms() const {
        return fmt::format("option: {}, strike: {}, direction: {}, barrier: {}, maturity: {}",
                           o.what == truth::excursion_option::pays::call ? "call" : "put", o.strike,
                           o.down ? "down" : "up", o.barrier, m.years);
    }
    // Only where most paths pay the option: where next to all were paid the rebate no path would differ.
    double rebate(dice& d, bool out) const {
        const bool is_paid = !d.coin() && o.begins_beyond() != out;
        return is_paid ? m.spot * d.between(0.01, 0.1) : 0;
    }
    truth::excursion_option moved(double f) const {
        truth::excursion_option now = o;
        now.spot *= f;
        return now;
    }
};

// The payoff of a knock-out or a knock-in, from the mean of what is paid by those that were decided.
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
    return {w.m.text() + one_trade(fmt::format("product: parisian, {}, kind: {}, window: {}, elapsed: {}, "
                                               "rebate: {}",
                                               w.terms(), out ? "knock_out" : "knock_in", window * w.m.years,
                                               elapsed * w.m.years, rebate)),
            [=](double f) {
                return w.m.discount(w.m.years) *
                       with_rebate(w.moved(f), out, rebate, [&](const truth::excursion_option& o) {
                           return truth::parisian_in(o, window, elapsed);
                       });
            },
            w.m.spot};
}

known_trade draw_cumulative_parisian(dice& d) {
    const level_market w(d);
    const bool out = d.coin();
    const double window = d.between(0.1, 0.7), elapsed = d.coin() ? 0 : window * d.between(0.1, 0.9);
    const double rebate = w.rebate(d, out);
    return {w.m.text() + one_trade(fmt::format("product: cumulative_parisian, {}, kind: {}, window: {}, "
                                               "elapsed: {}, rebate: {}",
                                               w.terms(), out ? "knock_out" : "knock_in", window * w.m.years,
                                               elapsed * w.m.years, rebate)),
            [=](double f) {
                const double left = window - elapsed;
                return w.m.discount(w.m.years) *
                       with_rebate(w.moved(f), out, rebate, [&](const truth::excursion_option& o) {
                           return truth::occupation_mean(
                               o, [&](double time) { return time >= left ? 1.0 : 0.0; }, {left});
                       });
            },
            w.m.spot};
}

known_trade draw_step_option(dice& d) {
    const level_market w(d);
    const bool linear = d.coin();
    const double rate = d.between(0.5, 4);  // over the whole life
    return {w.m.text() + one_trade(fmt::format(
                             "product: step_option, {}, form: {}, knock_out_rate: {}, longest_step: {}",
                             w.terms(), linear ? "linear" : "exponential", rate / w.m.years, w.m.years / 64)),
            [=](double f) {
                const auto left = [&](double time) {
                    return linear ? std::max(1 - rate * time, 0.0) : std::exp(-rate * time);
                };
                return w.m.discount(w.m.years) * truth::occupation_mean(w.moved(f), left, {1 / rate});
            },
            w.m.spot};
}

known_trade draw_corridor_accrual(dice& d) {
    const random_market m(d, false);
    const double sd = std::sqrt(m.variance(m.years)), growth = (m.first_rate - m.yield) * m.years;
    const double lower = d.coin() ? 0 : m.spot * std::exp(-d.between(-0.3, 1) * sd);
    const double upper = std::max(m.spot, lower) * std::exp(d.between(0.1, 1) * sd);
    const double start = d.coin() ? 0 : d.between(0.1, 0.6);  // a part of the life
    const bool redeems = d.coin();
    return {m.text() + one_trade(fmt::format("product: corridor_accrual, lower: {}, upper: {}, "
                                             "accrual_start: {}, maturity: {}, coupon: 0.1, redeems: {}",
                                             lower, upper, start * m.years, m.years, redeems)),
            [=](double f) {
                const double variance = m.variance(m.years);
                const auto until = [&](double part) {
                    return part *
                           truth::mean_time_within(f * m.spot, part * growth, part * variance, lower, upper);
                };
                const double inside = (until(1) - (start > 0 ? until(start) : 0)) / (1 - start);
                return m.discount(m.years) * (10 * inside + (redeems ? 100 : 0));
            },
            redeems ? 100.0 : 10.0};
}

}  // namespace tilewalk::verify
