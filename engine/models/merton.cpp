// SPDX-License-Identifier: Apache-2.0
// Merton's jump diffusion (1976): lognormal with normal jumps, exact for steps that can hold them.
#include <memory>
#include <string>
#include <vector>

#include "engine/models/jumps.h"

namespace tilewalk::models {

step_facts steps_of_merton() {
    return {.scheme = "exact; jumps on a grid where watched",
            .held_against = "Fourier integrals, 92 published prices"};
}

std::shared_ptr<const model> read_merton(const config::node& parameters, const reading& of) {
    std::vector<std::string> keys = normal_jump_keys();
    keys.emplace_back("volatility");
    parameters.only(keys);
    return lognormal_with_jumps("merton", parameters, of.as_of, read_normal_jumps(parameters));
}

}  // namespace tilewalk::models
