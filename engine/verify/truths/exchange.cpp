// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_exchange(dice& d) {
    const random_pair p(d);
    const double years = p.first.years, first = d.between(0.5, 2);
    // The forward of the units given is within 0.7 standard deviations of the forward of those received.
    const double given =
        p.at(years, first, 0).first_forward +
        d.between(-0.7, 0.7) * truth::spread_of_sum(p.at(years, first, first * p.first.spot / p.spot), -1);
    const double second = given / p.forward(years);
    return known_in(
        p,
        pair_trade(fmt::format("product: exchange, received_asset: A, given_asset: B, received_units: "
                               "{}, given_units: {}, maturity: {}",
                               first, second, years)),
        [=](const random_pair& now) {
            return truth::exchange(now.at(years, first, second), now.first.discount(years));
        },
        p.first.spot);
}

}  // namespace tilewalk::verify
