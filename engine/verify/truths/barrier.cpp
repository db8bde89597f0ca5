// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_barrier(dice& d) {
    const random_market m(d, false);
    truth::watched_option o;
    o.option = any_side(d);
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
    return known_in(
        m,
        one_trade(fmt::format("product: barrier, option: {}, strike: {}, maturity: {}, "
                              "direction: {}, kind: {}, barrier: {}, "
                              "rebate: {}, rebate_paid: {}",
                              name_of(o.option), o.strike, m.years, o.down ? "down" : "up",
                              o.out ? "knock_out" : "knock_in", o.barrier, o.rebate,
                              o.rebate_at_hit ? "at_hit" : "at_expiry")),
        [o](const random_market& now) {
            truth::watched_option moved = o;
            moved.spot = now.spot;
            moved.variance = now.variance(now.years);
            moved.growth = (now.first_rate - now.yield) * now.years;
            moved.rate = now.first_rate * now.years;
            return truth::barrier_option(moved);
        },
        m.spot);
}

known_trade draw_barrier_on_dates(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const bool down = d.coin();
    const double strike = m.strike(d), sd = std::sqrt(m.variance(m.years));
    const double level = m.spot * std::exp((down ? -1 : 1) * d.between(0.3, 1.5) * sd);
    const std::size_t dates = static_cast<std::size_t>(d.up_to(6));
    return known_in(
        m,
        one_trade(
            fmt::format("product: barrier, option: {}, strike: {}, maturity: {}, direction: {}, barrier: "
                        "{}, monitoring: discrete, monitoring_dates: {{start: 0, end: {}, count: {}}}",
                        name_of(option), strike, m.years, down ? "down" : "up", level, m.years, dates)),
        [=](const random_market& now) {
            return truth::backward(now.spot, now.steps(dates), {level, strike},
                                   [&](std::size_t k, double s, double goes_on) {
                                       if (down ? s <= level : s >= level) return 0.0;
                                       return k + 1 == dates ? truth::intrinsic(option, s, strike) : goes_on;
                                   });
        },
        m.spot);
}

}  // namespace tilewalk::verify
