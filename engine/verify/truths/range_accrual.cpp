// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_range_accrual(dice& d) {
    const random_pair p(d);
    const random_market& m = p.first;
    const bool has_two = d.coin();
    const int days = d.up_to(12);
    const double coupon = d.between(0.02, 0.2), sd1 = std::sqrt(m.variance(m.years)),
                 sd2 = std::sqrt(p.variance(m.years));
    const double lower1 = m.spot * std::exp(-d.between(0.3, 1.5) * sd1),
                 upper1 = m.spot * std::exp(d.between(0.3, 1.5) * sd1);
    const double lower2 = p.spot * std::exp(-d.between(0.3, 1.5) * sd2),
                 upper2 = p.spot * std::exp(d.between(0.3, 1.5) * sd2);
    const double last = m.years * d.between(0.7, 1);
    const std::string assets = has_two ? fmt::format("basket: [A, B], lower: [{}, {}], upper: [{}, {}]",
                                                     lower1, lower2, upper1, upper2)
                                       : fmt::format("basket: [A], lower: {}, upper: {}", lower1, upper1);
    return known_in(
        p,
        pair_trade(fmt::format("product: range_accrual, {}, observations: {{start: 0, end: {}, count: {}}}, "
                               "coupon: {}, maturity: {}, notional: 100",
                               assets, last, days, coupon, m.years)),
        [=](const random_pair& now) {
            double inside = 0;
            for (int i = 1; i <= days; ++i) {
                const double t = last * i / days;
                inside += has_two
                              ? truth::both_within(now.at(t), lower1, upper1, lower2, upper2)
                              : truth::within(now.first.forward(t), now.first.variance(t), lower1, upper1);
            }
            return now.first.discount(now.first.years) * 100 * coupon * inside / days;
        },
        100 * coupon);
}

}  // namespace tilewalk::verify
