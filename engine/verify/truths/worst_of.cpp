// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// The product's three forms all follow from a call on the worst.
known_trade draw_worst_of(dice& d) {
    const random_pair p(d);
    const double years = p.first.years, strike = d.between(0.8, 1.2);
    const int form = d.up_to(3);
    const std::string option = form == 1 ? "call" : form == 2 ? "put" : "or_cash";
    return known_in(
        p,
        pair_trade(fmt::format("product: worst_of, basket: [A, B], initial_level: [{}, {}], option: {}, "
                               "strike: {}, notional: 10, maturity: {}",
                               p.first.spot, p.spot, option, strike, years)),
        [=](const random_pair& now) {
            const truth::pair_of_assets at = now.at(years, 1 / p.first.spot, 1 / p.spot);
            const double discount = now.first.discount(years);
            const double call = truth::call_on_worst(at, strike, discount);
            const double worst = discount * at.first_forward - truth::exchange(at, discount);
            return 10 * (form == 1 ? call : form == 2 ? call - worst + discount * strike : worst - call);
        },
        10);
}

}  // namespace tilewalk::verify
