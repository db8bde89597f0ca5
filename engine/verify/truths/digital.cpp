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
    return known_in(
        m,
        one_trade(fmt::format("product: digital, option: {}, strike: {}, payout: 7, pays: {}, maturity: {}",
                              name_of(option), strike, cash ? "cash" : "asset", m.years)),
        [=](const random_market& now) {
            const double forward = now.forward(m.years), variance = now.variance(m.years),
                         discount = now.discount(m.years);
            return 7 * (cash ? truth::cash_digital(option, forward, strike, variance, discount)
                             : truth::asset_digital(option, forward, strike, variance, discount));
        },
        cash ? 7 : 7 * m.spot);
}

}  // namespace tilewalk::verify
