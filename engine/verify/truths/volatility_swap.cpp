// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_volatility_swap(dice& d) {
    const random_market m(d, true);
    const int returns = d.up_to(25);
    const double first = m.years * 0.1, each = (m.years - first) / returns;
    std::vector<truth::move> moves;
    std::string fixings = fmt::format("{}", first);
    for (int i = 1; i <= returns; ++i) {
        const double to = i == returns ? m.years : first + each * i;
        moves.push_back(m.step(first + each * (i - 1), to));
        fixings += fmt::format(", {}", to);
    }
    const double strike = d.between(0, 0.4),
                 fair = truth::mean_root_square(moves) / std::sqrt(m.years - first);
    return {m.text() + one_trade(fmt::format(
                           "product: volatility_swap, strike: {}, annualisation: {}, notional: 50, "
                           "fixings: [{}]",
                           strike, 1 / each, fixings)),
            // No forward of the asset in it: only that of the whole contract can be out.
            [=](double f) { return f * m.discount(m.years) * 50 * (fair - strike); }, 50 * fair};
}

}  // namespace tilewalk::verify
