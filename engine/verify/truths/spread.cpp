// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_spread(dice& d) {
    const random_pair p(d);
    const double years = p.first.years, first = d.between(0.5, 2), second = d.between(0.5, 2);
    const truth::side option = any_side(d);
    const truth::pair_of_assets at = p.at(years, first, second);
    const double strike =
        at.first_forward - at.second_forward + d.between(-0.4, 0.4) * truth::spread_of_sum(at, -1);
    return known_in(
        p,
        pair_trade(fmt::format("product: spread, long_asset: A, short_asset: B, long_weight: {}, "
                               "short_weight: {}, option: {}, strike: {}, maturity: {}",
                               first, second, name_of(option), strike, years)),
        [=](const random_pair& now) {
            return truth::option_on_sum(option, now.at(years, first, second), -1, strike,
                                        now.first.discount(years));
        },
        p.first.spot);
}

}  // namespace tilewalk::verify
