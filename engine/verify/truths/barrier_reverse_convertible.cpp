// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// With continuous monitoring: a bond less down-and-in puts.
known_trade draw_barrier_reverse_convertible(dice& d) {
    const random_market m(d, false);
    const double sd = std::sqrt(m.variance(m.years));
    const double strike = d.between(0.9, 1.1), coupon = d.between(0.01, 0.1);
    const double barrier = std::exp(-d.between(0.3, 1.2) * sd) * std::min(strike, 1.0);
    return known_in(
        m,
        pair_trade(fmt::format("product: barrier_reverse_convertible, basket: [A], initial_level: {}, "
                               "strike: {}, barrier: {}, coupon_dates: [{}], coupon: {}, maturity: {}, "
                               "notional: 100",
                               m.spot, strike, barrier, m.years, coupon, m.years)),
        [=](const random_market& now) {
            const double put = truth::barrier_option(
                {truth::side::put, true, false, now.spot / m.spot, strike, barrier, 0, false,
                 (now.first_rate - now.yield) * m.years, now.variance(m.years), now.first_rate * m.years});
            return 100 * ((1 + coupon) * now.discount(m.years) - put / strike);
        },
        100);
}

// Monitored on dates: a bond less puts, plus the loss avoided on paths that stay above the barrier.
known_trade draw_barrier_reverse_convertible_on_dates(dice& d) {
    const random_market m(d, true);
    const double sd = std::sqrt(m.variance(m.years));
    const double strike = d.between(0.9, 1.1), coupon = d.between(0.01, 0.1);
    const double barrier = std::exp(-d.between(0.3, 1.2) * sd) * std::min(strike, 1.0);
    const std::size_t dates = static_cast<std::size_t>(d.up_to(6));
    return known_in(
        m,
        pair_trade(fmt::format("product: barrier_reverse_convertible, basket: [A], initial_level: {}, "
                               "strike: {}, barrier: {}, watched: on_dates, watching_dates: {{start: 0, "
                               "end: {}, count: {}}}, coupon_dates: [{}], coupon: {}, maturity: {}, "
                               "notional: 100",
                               m.spot, strike, barrier, m.years, dates, m.years, coupon, m.years)),
        [=](const random_market& now) {
            const double never = truth::backward(
                now.spot / m.spot, now.steps(dates), {barrier, strike},
                [&](std::size_t k, double s, double on) {
                    if (s <= barrier) return 0.0;
                    return k + 1 == dates ? truth::intrinsic(truth::side::put, s, strike) : on;
                });
            const double discount = now.discount(m.years);
            const double put = truth::black(truth::side::put, now.forward(m.years) / m.spot, strike,
                                            now.variance(m.years), discount);
            return 100 * ((1 + coupon) * discount - (put - never) / strike);
        },
        100);
}

}  // namespace tilewalk::verify
