// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_european(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = m.strike(d);
    return {m.text() + one_trade(fmt::format("product: european, option: {}, strike: {}, maturity: {}",
                                             name_of(option), strike, m.years)),
            [=](double f) {
                return truth::black(option, f * m.forward(m.years), strike, m.variance(m.years),
                                    m.discount(m.years));
            },
            m.spot};
}

// In euros, with the exchange rate correlated.
known_trade draw_quanto_european(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = m.strike(d), rho = d.between(-0.9, 0.9), volatility = d.between(0.05, 0.2);
    const std::string rest =
        fmt::format("  fx: {{EURUSD: {{rate: 1.1, volatility: {}}}}}\n  correlations: [[A, EURUSD, {}]]\n",
                    volatility, rho);
    // Piecewise constant volatilities: the dollar in euros falls when EURUSD rises.
    const double first = m.first_volatility * volatility * m.change;
    const double last = std::sqrt((m.variance(m.years) - m.variance(m.change)) / (m.years - m.change)) *
                        volatility * (m.years - m.change);
    const double covariance = -rho * (first + last), discount = std::exp(-0.01 * m.years);
    return {m.text("", rest) + one_trade(fmt::format(
                                   "product: european, currency: EUR, option: {}, strike: {}, maturity: {}",
                                   name_of(option), strike, m.years)),
            [=](double f) {
                return truth::black(option, truth::quanto_forward(f * m.forward(m.years), covariance), strike,
                                    m.variance(m.years), discount);
            },
            m.spot};
}

}  // namespace tilewalk::verify
