// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// On one asset. With memory, a coupon is paid on the first date, from its own date on, with the price above
// the coupon barrier, if the note is still alive; without memory on its own date only. The protection leaves
// the loss at maturity on paths that were not called, less the loss on those that never touched the barrier.
known_trade draw_phoenix_autocallable(dice& d) {
    const random_market m(d, true);
    const std::size_t dates = static_cast<std::size_t>(d.up_to(5));
    const double sd = std::sqrt(m.variance(m.years)), coupon = d.between(0.02, 0.1),
                 step = d.between(0, 0.01);
    const double call = d.between(0.95, 1.1), coupon_barrier = std::exp(-d.between(0, 0.6) * sd);
    const double protection = std::exp(-d.between(0.2, 0.9) * sd);
    const bool memory = d.coin(), on_dates = d.coin();
    const std::size_t first_call = static_cast<std::size_t>(d.up_to(2));
    std::vector<double> fixings{0};
    std::string coupons;
    for (std::size_t i = 0; i < dates; ++i) {
        const double each = m.years / static_cast<double>(dates);
        const double to = i + 1 == dates ? m.years : each * static_cast<double>(i + 1);
        fixings.push_back(to);
        coupons += fmt::format("{}{}", i > 0 ? ", " : "", coupon + step * static_cast<double>(i));
    }
    const std::string observations = fmt::format("{}", fmt::join(fixings.begin() + 1, fixings.end(), ", "));
    const std::string watching =
        on_dates ? fmt::format(", watched: on_dates, watching_dates: [{}]", observations) : "";
    return known_in(
        m,
        pair_trade(fmt::format("product: phoenix_autocallable, basket: [A], initial_level: {}, "
                               "observations: [{}], call_level: {}, first_call: {}, coupon: [{}], "
                               "coupon_barrier: {}, memory: {}, protection: {}{}, notional: 100",
                               m.spot, observations, call, first_call, coupons, coupon_barrier, memory,
                               protection, watching)),
        [=](const random_market& now) {
            const double spot = now.spot / m.spot;
            const std::vector<truth::move> moves = now.steps(fixings);
            const std::vector<double> levels{call, coupon_barrier, protection, 1};
            const auto called = [&](std::size_t k, double s) { return k + 1 >= first_call && s >= call; };
            double sum = 0;
            for (std::size_t j = 0; j < dates; ++j) {
                const double own = coupon + step * static_cast<double>(j);
                sum += truth::backward(spot, moves, levels, [&](std::size_t k, double s, double on) {
                    if (k >= j && s >= coupon_barrier) return own;
                    return called(k, s) || (k >= j && !memory) ? 0.0 : on;
                });
            }
            sum += truth::backward(spot, moves, levels, [&](std::size_t k, double s, double on) {
                return called(k, s) || k + 1 == dates ? 1.0 : on;
            });
            const auto loss = [&](bool held) {
                return truth::backward(spot, moves, levels, [&](std::size_t k, double s, double on) {
                    const bool is_last = k + 1 == dates;
                    const bool breaks = on_dates ? s <= protection : is_last && s < protection;
                    if (called(k, s) || (held && breaks)) return 0.0;
                    return is_last ? std::max(1 - s, 0.0) : on;
                });
            };
            return 100 * (sum - (loss(false) - loss(true)));
        },
        100);
}

}  // namespace tilewalk::verify
