// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_digital(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = m.strike(d);
    return {
        m.text() + one_trade(fmt::format("product: digital, option: {}, strike: {}, payout: 7, maturity: {}",
                                         name_of(option), strike, m.years)),
        [=](double f) {
            return 7 * truth::cash_digital(option, f * m.forward(m.years), strike, m.variance(m.years),
                                           m.discount(m.years));
        },
        7};
}

}  // namespace tilewalk::verify
