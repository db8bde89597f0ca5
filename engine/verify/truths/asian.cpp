// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

known_trade draw_geometric_asian(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double strike = m.strike(d);
    const int dates = d.up_to(20);
    std::vector<double> forwards, variances;
    for (int i = 1; i <= dates; ++i) {
        forwards.push_back(m.forward(m.years * i / dates));
        variances.push_back(m.variance(m.years * i / dates));
    }
    const std::string product =
        "products:\n"
        "  - product: geometric_asian\n"
        "    summary: Option on the geometric mean.\n"
        "    parameters:\n"
        "      underlying: {type: asset, help: The asset.}\n"
        "      option: {type: choice, choices: [call, put], help: Which side.}\n"
        "      strike: {type: amount, help: The strike.}\n"
        "      averaging_dates: {type: schedule, help: The dates.}\n"
        "    example: {underlying: A, option: call, strike: 100, averaging_dates: [0.5, 1.0]}\n"
        "    script: |\n"
        "      logs = 0\n"
        "      on averaging_dates:\n"
        "          logs = logs + log(spot(underlying))\n"
        "      on last(averaging_dates):\n"
        "          mean = exp(logs / size(averaging_dates))\n"
        "          if option == call:\n"
        "              pay max(mean - strike, 0)\n"
        "          else:\n"
        "              pay max(strike - mean, 0)\n";
    return {m.text() + product +
                one_trade(fmt::format(
                    "product: geometric_asian, option: {}, strike: {}, averaging_dates: {{start: 0, end: {}, "
                    "count: {}}}",
                    name_of(option), strike, m.years, dates)),
            [=](double f) {
                std::vector<double> moved = forwards;
                for (double& one : moved) one *= f;
                return truth::geometric_asian(option, moved, variances, strike, m.discount(m.years));
            },
            m.spot};
}

}  // namespace tilewalk::verify
