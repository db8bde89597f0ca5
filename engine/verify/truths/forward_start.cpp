// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_forward_start(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const bool amount = d.coin();
    const double first = m.years * d.between(0.1, 0.9), factor = d.between(0.85, 1.15);
    return {m.text() + one_trade(fmt::format(
                           "product: forward_start, option: {}, strike_date: {}, strike_factor: "
                           "{}, maturity: {}, pays: {}, notional: 5",
                           name_of(option), first, factor, m.years, amount ? "amount" : "performance")),
            [=](double f) {
                const truth::move rest = m.step(first, m.years);
                const double unit = amount ? m.forward(first) : 5;
                return f * unit *
                       truth::black(option, std::exp(rest.growth), factor, rest.variance,
                                    m.discount(m.years));
            },
            amount ? m.spot : 5};
}

known_trade draw_cliquet(dice& d) {
    const random_market m(d, true);
    const int returns = d.up_to(3);
    const double first = 0.1 * m.years, each = (m.years - first) / returns;
    std::vector<truth::move> moves;
    std::string fixings = fmt::format("{}", first);
    for (int i = 1; i <= returns; ++i) {
        const double to = i == returns ? m.years : first + each * i;
        moves.push_back(m.step(first + each * (i - 1), to));
        fixings += fmt::format(", {}", to);
    }
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
    return {
        m.text() + one_trade(fmt::format("product: cliquet, notional: 50, fixings: [{}]{}", fixings, terms)),
        // No forward of the asset in it: only that of the whole contract can be out.
        [=](double f) { return f * 50 * m.discount(m.years) * truth::limited_returns(moves, limits); }, 50};
}

}  // namespace tilewalk::verify
