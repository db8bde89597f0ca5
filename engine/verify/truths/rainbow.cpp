// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_pair.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_rainbow(dice& d) {
    const random_pair p(d);
    const double years = p.first.years, strike = d.between(0.8, 1.2);
    const double of_best = d.between(0.1, 0.9), of_worst = 1 - of_best;
    const truth::side option = any_side(d);
    return known_in(
        p,
        pair_trade(fmt::format("product: rainbow, basket: [A, B], initial_level: [{}, {}], weights: [{}, "
                               "{}], option: {}, strike: {}, notional: 10, maturity: {}",
                               p.first.spot, p.spot, of_best, of_worst, name_of(option), strike, years)),
        [=](const random_pair& now) {
            return 10 * now.first.discount(years) *
                   truth::pair_mean(
                       now.at(years, 1 / p.first.spot, 1 / p.spot),
                       [=](double x, double y) {
                           const double level = of_best * std::max(x, y) + of_worst * std::min(x, y);
                           return truth::intrinsic(option, level, strike);
                       },
                       [=](double y) {
                           return std::vector<double>{y, (strike - of_worst * y) / of_best,
                                                      (strike - of_best * y) / of_worst};
                       },
                       // Second prices with kinks of the outer integral: at `strike` the kinks in the first
                       // price coincide, and at the other two, one of them reaches 0.
                       {strike, strike / of_best, strike / of_worst});
        },
        10);
}

}  // namespace tilewalk::verify
