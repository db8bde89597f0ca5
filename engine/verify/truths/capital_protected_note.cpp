// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// A bond and a call spread, on one asset or on the mean of two.
known_trade draw_capital_protected_note(dice& d) {
    const random_pair p(d);
    const random_market& m = p.first;
    const bool has_two = d.coin(), has_cap = d.coin();
    const double protection = d.between(0.8, 1), participation = d.between(0.5, 2),
                 strike = d.between(0.9, 1.1);
    const double cap = d.between(0.1, 0.5);
    const std::string assets = has_two
                                   ? fmt::format("basket: [A, B], initial_level: [{}, {}]", m.spot, p.spot)
                                   : fmt::format("basket: [A], initial_level: {}", m.spot);
    return known_in(
        p,
        pair_trade(fmt::format("product: capital_protected_note, {}, protection: {}, participation: {}, "
                               "strike: {}, {}maturity: {}, notional: 100",
                               assets, protection, participation, strike,
                               has_cap ? fmt::format("cap: {}, ", cap) : "", m.years)),
        [=](const random_pair& now) {
            const double years = p.first.years, discount = now.first.discount(years);
            const auto call = [&](double at) {
                if (has_two) {
                    return truth::option_on_sum(
                        truth::side::call, now.at(years, 0.5 / p.first.spot, 0.5 / p.spot), 1, at, discount);
                }
                return truth::black(truth::side::call, now.first.forward(years) / p.first.spot, at,
                                    now.first.variance(years), discount);
            };
            const double gain = call(strike) - (has_cap ? call(strike + cap) : 0);
            return 100 * (protection * discount + participation * gain);
        },
        100);
}

}  // namespace tilewalk::verify
