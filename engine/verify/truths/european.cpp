// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_european(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = m.strike(d);
    return known_in(
        m,
        one_trade(fmt::format("product: european, option: {}, strike: {}, maturity: {}", name_of(option),
                              strike, m.years)),
        [=](const random_market& now) {
            return truth::black(option, now.forward(m.years), strike, now.variance(m.years),
                                now.discount(m.years));
        },
        m.spot);
}

known_trade draw_quanto_european(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = m.strike(d), rho = d.between(-0.9, 0.9), volatility = d.between(0.05, 0.2);
    const std::string rest =
        fmt::format("  fx: {{EURUSD: {{rate: 1.1, volatility: {}}}}}\n  correlations: [[A, EURUSD, {}]]\n",
                    volatility, rho);
    movable_numbers numbers = m.numbers();
    numbers.insert(numbers.end(), {{"EUR.rate", step_of_rate},
                                   {"EURUSD.volatility", step_of_volatility},
                                   {"A|EURUSD.correlation", step_of_correlation}});
    return {m.text("", rest) + one_trade(fmt::format(
                                   "product: european, currency: EUR, option: {}, strike: {}, maturity: {}",
                                   name_of(option), strike, m.years)),
            [=](const market_move& by) {
                // Volatilities are piecewise constant. The minus: when EURUSD rises, a dollar in euros falls.
                const random_market now = m.moved(by);
                const double of_rate = volatility + by.shift_of("EURUSD.volatility");
                const double first = now.first_volatility * of_rate * m.change;
                const double last =
                    std::sqrt((now.variance(m.years) - now.variance(m.change)) / (m.years - m.change)) *
                    of_rate * (m.years - m.change);
                const double covariance = -(rho + by.shift_of("A|EURUSD.correlation")) * (first + last),
                             discount = std::exp(-(0.01 + by.shift_of("EUR.rate")) * m.years);
                return truth::black(option, truth::quanto_forward(now.forward(m.years), covariance), strike,
                                    now.variance(m.years), discount);
            },
            std::move(numbers), m.spot};
}

}  // namespace tilewalk::verify
