// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// A note on the worst of two assets with one observation, which is a put on the worst and two digitals.
known_trade draw_worst_of_note(dice& d) {
    const random_market m(d, false);
    const double other = d.between(10, 200), volatility = d.between(0.2, 0.5), rho = d.between(-0.95, 0.95);
    const double call = d.between(0.9, 1.1), protection = d.between(0.7, 0.85), coupon = d.between(0.05, 0.2);
    const std::string second = fmt::format(
        "    B: {{currency: USD, spot: {}, dividend_yield: 0.02, volatility: {}}}\n", other, volatility);
    movable_numbers numbers = m.numbers();
    numbers.insert(numbers.end(), {{"B.spot", step_of_size * other},
                                   {"B.dividend_yield", step_of_rate},
                                   {"B.volatility", step_of_volatility},
                                   {"A|B.correlation", step_of_correlation}});
    return {m.text(second, fmt::format("  correlations: [[A, B, {}]]\n", rho)) +
                fmt::format(
                    "trades:\n  - {{id: t, product: autocallable, basket: [A, B], initial_level: [{}, {}], "
                    "observations: [{}], call_level: {}, coupon: {}, protection: {}, notional: 1}}\n",
                    m.spot, other, m.years, call, coupon, protection),
            [=](const market_move& by) {
                const random_market now = m.moved(by);
                const double sd = volatility + by.shift_of("B.volatility");
                truth::pair_of_assets p;
                p.first_forward = now.forward(m.years) / m.spot;
                p.second_forward =
                    by.forwards *
                    std::exp((now.first_rate - (0.02 + by.shift_of("B.dividend_yield"))) * m.years) *
                    (1 + by.shift_of("B.spot") / other);
                p.first_variance = now.variance(m.years);
                p.second_variance = sd * sd * m.years;
                p.covariance =
                    (rho + by.shift_of("A|B.correlation")) * std::sqrt(p.first_variance * p.second_variance);
                const double discount = now.discount(m.years);
                const double below = 1 - truth::both_above(p, protection);
                return discount * (1 + coupon * truth::both_above(p, call) - (1 - protection) * below) -
                       truth::put_on_worst(p, protection, discount);
            },
            std::move(numbers), 1};
}

known_trade draw_autocallable(dice& d) {
    const random_market m(d, true);
    const std::size_t dates = static_cast<std::size_t>(d.up_to(6));
    const double call = d.between(0.95, 1.1), coupon = d.between(0.02, 0.1);
    const double protection = std::exp(-d.between(0.2, 0.9) * std::sqrt(m.variance(m.years)));
    std::string coupons;
    for (std::size_t i = 0; i < dates; ++i) {
        coupons += fmt::format("{}{}", i > 0 ? ", " : "", coupon * static_cast<double>(i + 1));
    }
    return known_in(
        m,
        fmt::format("trades:\n  - {{id: t, product: autocallable, basket: [A], initial_level: {}, "
                    "observations: {{start: 0, end: {}, count: {}}}, call_level: {}, coupon: [{}], "
                    "protection: {}, notional: 1}}\n",
                    m.spot, m.years, dates, call, coupons, protection),
        [=](const random_market& now) {
            const std::vector<truth::move> moves = now.steps(dates);
            return truth::backward(now.spot / m.spot, moves, {call, protection},
                                   [&](std::size_t k, double s, double on) {
                                       if (s >= call) return 1 + coupon * static_cast<double>(k + 1);
                                       if (k + 1 < dates) return on;
                                       return s >= protection ? 1 : s;
                                   });
        },
        1);
}

}  // namespace tilewalk::verify
