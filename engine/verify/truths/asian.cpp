// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

// A weighted mean of prices on dates after `from` and up to `to`, with random weights.
struct drawn_mean {
    std::vector<double> dates, weights;

    truth::geometric_mean in(const random_market& m) const {
        truth::geometric_mean out;
        out.weights = weights;
        for (const double t : dates) {
            out.forwards.push_back(m.forward(t));
            out.variances.push_back(m.variance(t));
        }
        return out;
    }
};

drawn_mean draw_mean(dice& d, double from, double to) {
    drawn_mean out;
    const int dates = d.up_to(12);
    for (int i = 1; i <= dates; ++i) {
        const double t = i == dates ? to : from + (to - from) * i / dates;
        out.dates.push_back(t);
        out.weights.push_back(d.between(0.1, 2));
    }
    return out;
}

// A strike nearer the forward than m.strike(d): a mean deviates about half as much as the last price.
double strike_of_mean(dice& d, const random_market& m) {
    return std::sqrt(m.forward(m.years) * m.strike(d));
}

}  // namespace

known_trade draw_geometric_asian(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = strike_of_mean(d, m);
    const drawn_mean seen = draw_mean(d, 0, m.years);
    return known_in(
        m,
        one_trade(fmt::format("product: asian, mean: geometric, option: {}, strike: {}, "
                              "averaging_dates: [{}], weights: [{}]",
                              name_of(option), strike, fmt::join(seen.dates, ", "),
                              fmt::join(seen.weights, ", "))),
        [=](const random_market& now) {
            const truth::geometric_mean mean = seen.in(now);
            return truth::black(option, truth::mean_of(mean), strike, truth::covariance(mean, mean),
                                now.discount(m.years));
        },
        m.spot);
}

// The strike is a mean, too: over dates in the first half of the life.
known_trade draw_asian_on_a_mean(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const drawn_mean in = draw_mean(d, 0, 0.5 * m.years), out = draw_mean(d, 0.5 * m.years, m.years);
    return known_in(
        m,
        one_trade(fmt::format("product: asian, mean: geometric, option: {}, averaging_dates: "
                              "[{}], weights: [{}], strike_dates: [{}], strike_weights: [{}]",
                              name_of(option), fmt::join(out.dates, ", "), fmt::join(out.weights, ", "),
                              fmt::join(in.dates, ", "), fmt::join(in.weights, ", "))),
        // Both means scale with the forwards, so the price does as well.
        [=](const random_market& now) {
            return truth::geometric_exchange(option, out.in(now), in.in(now), now.discount(m.years));
        },
        m.spot);
}

known_trade draw_arithmetic_asian(dice& d) {
    const random_market m(d, true);
    const double strike = strike_of_mean(d, m);
    const int dates = d.up_to(4);
    return known_in(
        m,
        one_trade(fmt::format("product: asian, strike: {}, averaging_dates: {{start: 0, end: {}, count: {}}}",
                              strike, m.years, dates)),
        [=](const random_market& now) {
            std::vector<truth::move> moves;
            for (int i = 0; i < dates; ++i)
                moves.push_back(now.step(m.years * i / dates, m.years * (i + 1) / dates));
            return truth::arithmetic_asian_call(now.spot, moves, strike);
        },
        m.spot);
}

}  // namespace tilewalk::verify
