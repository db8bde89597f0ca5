// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

// The first of two dates locks in the better asset; a call on its mean with the other asset is left.
known_trade draw_himalaya(dice& d) {
    const random_pair p(d);
    const double years = p.first.years, middle = years * d.between(0.3, 0.7), strike = d.between(0.85, 1.15);
    return known_in(
        p,
        pair_trade(fmt::format("product: himalaya, basket: [A, B], initial_level: [{}, {}], observations: "
                               "[{}, {}], strike: {}, notional: 10",
                               p.first.spot, p.spot, middle, years, strike)),
        [=](const random_pair& now) {
            const truth::move of_first = now.first.step(middle, years), of_second = now.step(middle, years);
            const auto rest = [=](double locked, double other, const truth::move& m) {
                return 0.5 * truth::black(truth::side::call, other * std::exp(m.growth), 2 * strike - locked,
                                          m.variance, 1);
            };
            return 10 * now.first.discount(years) *
                   truth::pair_mean(
                       now.at(middle, 1 / p.first.spot, 1 / p.spot),
                       [=](double x, double y) {
                           return x >= y ? rest(x, y, of_second) : rest(y, x, of_first);
                       },
                       [=](double y) {
                           return std::vector<double>{y, 2 * strike};
                       });
        },
        10);
}

}  // namespace tilewalk::verify
