// SPDX-License-Identifier: Apache-2.0
// Merton's jump diffusion (1976): lognormal, with normal jumps. Steps that can hold their jumps (jumps.h) are
// exact.
#include <memory>

#include "engine/models/jumps.h"

namespace tilewalk::models {

step_facts steps_of_merton() {
    return {.scheme = "exact; under continuous watching jumps are at the ends of steps",
            .held_against = "Fourier integrals, 92 published prices"};
}

namespace {

constexpr parameter_row merton_rows[]{normal_jump_rows[0], normal_jump_rows[1], normal_jump_rows[2],
                                      watched_jumps_row, volatility_row};

}  // namespace

extern const parameter_table parameters_of_merton = merton_rows;

std::shared_ptr<const model> read_merton(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_merton);
    return lognormal_with_jumps("merton", parameters, of.as_of, read_normal_jumps(parameters));
}

}  // namespace tilewalk::models
