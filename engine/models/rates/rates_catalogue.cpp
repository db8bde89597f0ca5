// SPDX-License-Identifier: Apache-2.0
// The catalogue of interest rate models. A new model adds its declaration and a line here.
#include <array>

#include "engine/models/rates/rates.h"

namespace tilewalk::models {

extern const parameter_table parameters_of_hull_white, parameters_of_g2, parameters_of_forward_market;

step_facts steps_of_hull_white();
step_facts steps_of_g2();
step_facts steps_of_forward_market();

std::shared_ptr<const rate_model> read_hull_white(const config::node& parameters, const rate_reading& of);
std::shared_ptr<const rate_model> read_g2(const config::node& parameters, const rate_reading& of);
std::shared_ptr<const rate_model> read_forward_market(const config::node& parameters, const rate_reading& of);

std::span<const rate_catalogue_entry> rate_catalogue() {
    static const std::array entries{
        rate_catalogue_entry{"hull_white", "one normal factor that reverts to its mean, fitted to the curve",
                             parameters_of_hull_white, steps_of_hull_white, read_hull_white},
        rate_catalogue_entry{"g2", "two correlated normal factors, fitted to the curve", parameters_of_g2,
                             steps_of_g2, read_g2},
        rate_catalogue_entry{"forward_market",
                             "displaced lognormal forward rates of given periods, by one to three factors",
                             parameters_of_forward_market, steps_of_forward_market, read_forward_market},
    };
    return entries;
}

std::shared_ptr<const rate_model> read_rate_model(const config::node& value, const rate_reading& of) {
    std::vector<std::string> known;
    for (const rate_catalogue_entry& e : rate_catalogue()) known.emplace_back(e.name);
    const std::size_t number =
        find_model(value, known, "{hull_white: {mean_reversion: 0.03, volatility: 0.01}}");
    return rate_catalogue()[number].read(value.members().front().value, of);
}

}  // namespace tilewalk::models
