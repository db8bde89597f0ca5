// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_corridor_variance_swap(dice& d) {
    const random_market m(d, true);
    const int returns = d.up_to(12);
    const double first = m.years * 0.1, each = (m.years - first) / returns;
    const double sd = std::sqrt(m.variance(m.years));
    const double lower = d.coin() ? 0 : m.spot * std::exp(-d.between(0.1, 1) * sd);
    const double upper = m.spot * std::exp(d.between(0.1, 1) * sd), strike = d.between(0, 0.3);
    const bool by_end = d.coin(), on_counted = d.coin();
    std::string fixings = fmt::format("{}", first);
    for (int i = 1; i <= returns; ++i)
        fixings += fmt::format(", {}", i == returns ? m.years : first + each * i);
    return known_in(
        m,
        one_trade(fmt::format("product: corridor_variance_swap, lower: {}, upper: {}, deciding_fixing: {}, "
                              "strike: {}, strike_on: {}, annualisation: {}, notional: 50, fixings: [{}]",
                              lower, upper, by_end ? "later" : "earlier", strike,
                              on_counted ? "counted" : "all", 1 / each, fixings)),
        [=](const random_market& now) {
            double squares = 0, counted = 0;
            for (int i = 1; i <= returns; ++i) {
                const double from = first + each * (i - 1), to = i == returns ? m.years : first + each * i;
                squares += truth::square_in_range(now.forward(from), now.variance(from), now.step(from, to),
                                                  lower, upper, by_end);
                const double deciding = by_end ? to : from;
                counted +=
                    truth::within(now.forward(deciding), now.variance(deciding), lower, upper) / returns;
            }
            const double paid = squares / each / returns - strike * strike * (on_counted ? counted : 1);
            return now.discount(m.years) * 50 * paid;
        },
        50 * m.variance(m.years) / m.years);
}

}  // namespace tilewalk::verify
