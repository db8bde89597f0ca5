// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_variance_swap(dice& d) {
    const random_market m(d, true);
    const int returns = d.up_to(25);
    const double first = m.years * 0.1, each = (m.years - first) / returns;
    const std::vector<double> dates = dates_between(first, m.years, returns);
    const double strike = d.between(0, 0.4);
    const auto fair = [=](const random_market& in) {
        return truth::mean_square_return(in.steps(dates)) / each;
    };
    return known_in(
        m,
        one_trade(
            fmt::format("product: variance_swap, strike: {}, annualisation: {}, notional: 50, fixings: [{}]",
                        strike, 1 / each, fmt::join(dates, ", "))),
        // The price does not depend on the forward, so a move of forwards scales the whole contract.
        [=](const random_market& now) {
            return now.raised * now.discount(m.years) * 50 * (fair(now) - strike * strike);
        },
        50 * fair(m));
}

}  // namespace tilewalk::verify
