// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_target_redemption_forward(dice& d) {
    const random_market m(d, true);
    truth::target_forward t;
    const double sd = std::sqrt(m.variance(m.years));
    t.buys = d.coin();
    t.strike = m.spot * std::exp((t.buys ? -1 : 1) * d.between(0, 0.3) * sd);
    t.target = m.spot * d.between(0.1, 0.6) * sd;
    t.gearing = d.between(0.5, 2);
    const int rule = d.up_to(3), fixings = 1 + d.up_to(2);
    using last_gain = truth::target_forward::last_gain;
    t.at_target = rule == 1 ? last_gain::full : rule == 2 ? last_gain::exact : last_gain::none;
    return known_in(
        m,
        one_trade(fmt::format("product: target_redemption_forward, side: {}, strike: {}, target: {}, "
                              "gearing: {}, at_target: {}, fixings: {{start: 0, end: {}, count: {}}}",
                              t.buys ? "buy" : "sell", t.strike, t.target, t.gearing,
                              rule == 1   ? "full"
                              : rule == 2 ? "exact"
                                          : "none",
                              m.years, fixings)),
        [=](const random_market& now) {
            truth::target_forward moved = t;
            for (int i = 0; i < fixings; ++i)
                moved.moves.push_back(now.step(m.years * i / fixings, m.years * (i + 1) / fixings));
            return moved.value(now.spot);
        },
        m.spot * sd);
}

}  // namespace tilewalk::verify
