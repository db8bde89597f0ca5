// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/average_forms.h"
#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

known_trade draw(dice& d, const char* mean, double (*price)(const truth::continuous_mean&, double)) {
    const random_market m(d, false);
    truth::continuous_mean o;
    o.option = any_side(d);
    o.floats = d.coin();
    o.spot = m.spot;
    o.strike = std::sqrt(m.forward(m.years) * m.strike(d));  // near the forward: a mean deviates half as far
    o.growth = (m.first_rate - m.yield) * m.years;
    o.variance = m.variance(m.years);
    std::string terms;
    if (!o.floats) terms += fmt::format("strike: {}, ", o.strike);
    if (d.coin()) {
        o.begin = d.between(0.1, 0.7);
        terms += fmt::format("averaging_start: {}, ", o.begin * m.years);
    }
    if (d.coin()) {
        o.known = d.between(0.1, 0.5);
        o.so_far = m.spot * std::exp(d.between(-0.5, 0.5) * std::sqrt(o.variance));
        terms += fmt::format("elapsed: {}, average_so_far: {}, ",
                             o.known / (1 - o.known) * (1 - o.begin) * m.years, o.so_far);
    }
    return known_in(
        m,
        one_trade(fmt::format("product: continuous_asian, mean: {}, option: {}, {}maturity: {}, "
                              "longest_step: {}",
                              mean, name_of(o.option), terms, m.years, m.years / 8)),
        [=](const random_market& now) {
            truth::continuous_mean moved = o;
            moved.spot = now.spot;
            moved.growth = (now.first_rate - now.yield) * now.years;
            moved.variance = now.variance(now.years);
            return price(moved, now.discount(now.years));
        },
        m.spot);
}

}  // namespace

known_trade draw_continuous_asian(dice& d) {
    return draw(d, "arithmetic", truth::arithmetic_mean_option);
}

known_trade draw_continuous_geometric_asian(dice& d) {
    return draw(d, "geometric", truth::geometric_mean_option);
}

}  // namespace tilewalk::verify
