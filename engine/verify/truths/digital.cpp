// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_digital(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const bool cash = d.coin();
    const double strike = m.strike(d);
    return {m.text() + one_trade(fmt::format(
                           "product: digital, option: {}, strike: {}, payout: 7, pays: {}, maturity: {}",
                           name_of(option), strike, cash ? "cash" : "asset", m.years)),
            [=](double f) {
                const double forward = f * m.forward(m.years), variance = m.variance(m.years),
                             discount = m.discount(m.years);
                return 7 * (cash ? truth::cash_digital(option, forward, strike, variance, discount)
                                 : truth::asset_digital(option, forward, strike, variance, discount));
            },
            cash ? 7 : 7 * m.spot};
}

}  // namespace tilewalk::verify
