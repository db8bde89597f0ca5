// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// A bond less puts: on one asset, or on the worst of two.
known_trade draw_reverse_convertible(dice& d) {
    const random_pair p(d);
    const random_market& m = p.first;
    const bool has_two = d.coin();
    const double strike = d.between(0.85, 1.15), coupon = d.between(0.01, 0.1),
                 middle = m.years * d.between(0.2, 0.8);
    const std::string assets = has_two
                                   ? fmt::format("basket: [A, B], initial_level: [{}, {}]", m.spot, p.spot)
                                   : fmt::format("basket: [A], initial_level: {}", m.spot);
    return known_in(
        p,
        pair_trade(fmt::format("product: reverse_convertible, {}, strike: {}, coupon_dates: [{}, {}], "
                               "coupon: [{}, {}], maturity: {}, notional: 100",
                               assets, strike, middle, m.years, coupon, 2 * coupon, m.years)),
        [=](const random_pair& now) {
            const double years = now.first.years, discount = now.first.discount(years);
            const truth::pair_of_assets at = now.at(years, 1 / p.first.spot, 1 / p.spot);
            const double put = has_two ? truth::put_on_worst(at, strike, discount)
                                       : truth::black(truth::side::put, at.first_forward, strike,
                                                      at.first_variance, discount);
            return 100 * (coupon * now.first.discount(middle) + (1 + 2 * coupon) * discount - put / strike);
        },
        100);
}

}  // namespace tilewalk::verify
