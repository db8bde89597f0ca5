// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// The payoff is one asset against `strike` units of money, both paid if the trigger is met.
known_trade draw_gap_option(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double trigger = m.strike(d), strike = trigger * d.between(0.8, 1.2);
    return known_in(
        m,
        one_trade(fmt::format("product: gap_option, option: {}, strike: {}, trigger: {}, maturity: {}",
                              name_of(option), strike, trigger, m.years)),
        [=](const random_market& now) {
            const double forward = now.forward(m.years), variance = now.variance(m.years),
                         discount = now.discount(m.years);
            return (option == truth::side::call ? 1 : -1) *
                   (truth::asset_digital(option, forward, trigger, variance, discount) -
                    strike * truth::cash_digital(option, forward, trigger, variance, discount));
        },
        m.spot);
}

}  // namespace tilewalk::verify
