// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_forward_start(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const bool amount = d.coin();
    const double first = m.years * d.between(0.1, 0.9), factor = d.between(0.85, 1.15);
    return known_in(
        m,
        one_trade(fmt::format("product: forward_start, option: {}, strike_date: {}, strike_factor: "
                              "{}, maturity: {}, pays: {}, notional: 5",
                              name_of(option), first, factor, m.years, amount ? "amount" : "performance")),
        [=](const random_market& now) {
            const truth::move rest = now.step(first, m.years);
            const double unit = amount ? now.forward(first) : 5 * now.raised;
            return unit *
                   truth::black(option, std::exp(rest.growth), factor, rest.variance, now.discount(m.years));
        },
        amount ? m.spot : 5);
}

known_trade draw_cliquet(dice& d) {
    const random_market m(d, true);
    const int returns = d.up_to(3);
    const double first = 0.1 * m.years;
    const std::vector<double> dates = dates_between(first, m.years, returns);
    truth::return_limits limits;
    std::string terms;
    const auto limit = [&](const char* name, double& to, double low, double high) {
        if (d.coin()) return;
        to = d.between(low, high);
        terms += fmt::format(", {}: {}", name, to);
    };
    limit("local_floor", limits.local_floor, -0.2, 0);
    limit("local_cap", limits.local_cap, 0.05, 0.3);
    limit("global_floor", limits.global_floor, -0.1, 0.05);
    limit("global_cap", limits.global_cap, 0.1, 0.5);
    return known_in(
        m,
        one_trade(
            fmt::format("product: cliquet, notional: 50, fixings: [{}]{}", fmt::join(dates, ", "), terms)),
        // The price does not depend on the forward, so a move of forwards scales the whole contract.
        [=](const random_market& now) {
            return now.raised * 50 * now.discount(m.years) * truth::limited_returns(now.steps(dates), limits);
        },
        50);
}

}  // namespace tilewalk::verify
