// SPDX-License-Identifier: Apache-2.0
// A flat random market with an asset A, and a second asset B that is correlated with A.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "engine/verify/closed_forms.h"
#include "engine/verify/dice.h"
#include "engine/verify/random_market.h"

namespace tilewalk::verify {

struct random_pair {
    random_market first;
    double spot, volatility, correlation, yield = 0.02;

    // B's spot is within a factor of 1.5 of A's, so that neither price dominates.
    explicit random_pair(dice& d)
        : first(d, false),
          spot(first.spot * std::exp(d.between(-0.4, 0.4))),
          volatility(d.between(0.1, 0.5)),
          correlation(d.between(-0.9, 0.9)) {
        // Limit years: for long, volatile trades, few paths carry the variance of an unbounded payoff.
        const double larger = std::max(first.first_volatility, volatility);
        first.years = std::min(first.years, 0.35 / (larger * larger));
    }

    random_pair moved(const market_move& by) const {
        random_pair out = *this;
        out.first = first.moved(by);
        out.spot = spot * by.forwards + by.shift_of("B.spot");
        out.yield += by.shift_of("B.dividend_yield");
        out.volatility += by.shift_of("B.volatility");
        out.correlation += by.shift_of("A|B.correlation");
        return out;
    }
    movable_numbers numbers() const {
        movable_numbers out = first.numbers();
        out.insert(out.end(), {{"B.spot", step_of_size * spot},
                               {"B.dividend_yield", step_of_rate},
                               {"B.volatility", step_of_volatility},
                               {"A|B.correlation", step_of_correlation}});
        return out;
    }
    double forward(double t) const { return spot * std::exp((first.first_rate - yield) * t); }
    double variance(double t) const { return volatility * volatility * t; }
    truth::move step(double from, double to) const {
        return {(first.first_rate - yield) * (to - from), variance(to) - variance(from),
                first.discount(to) / first.discount(from)};
    }
    truth::pair_of_assets at(double t, double first_factor = 1, double second_factor = 1) const {
        const double v1 = first.variance(t), v2 = variance(t);
        return {first_factor * first.forward(t), second_factor * forward(t), v1, v2,
                correlation * std::sqrt(v1 * v2)};
    }
    std::string text() const {
        return first.text(
            fmt::format("    B: {{currency: USD, spot: {}, dividend_yield: {}, volatility: {}}}\n", spot,
                        yield, volatility),
            fmt::format("  correlations: [[A, B, {}]]\n", correlation));
    }
};

inline std::string pair_trade(const std::string& terms) {
    return "trades:\n  - {id: t, " + terms + "}\n";
}

}  // namespace tilewalk::verify
