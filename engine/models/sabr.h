// SPDX-License-Identifier: Apache-2.0
// A forward whose volatility is a power of it: dF = alpha F^beta dW. Under SABR d alpha = nu alpha dZ, the
// two with the correlation rho; under CEV alpha stays. F is the asset's forward in today's money, what the
// spot would be without carry and without the cash dividends to come, so that alpha has the units of F^(1 -
// beta).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/model.h"

namespace tilewalk::models {

struct sabr_parameters {
    double alpha = 0;
    double beta = 0;  // 0: normal, F may be negative; 1: lognormal; between: absorbed at zero
    double rho = 0, nu = 0;
    bool is_stochastic = false;  // alpha moves, if only by nu = 0
    double steps_per_year = 0, watched_steps_per_year = 0;
    double least_steps = 0;  // of a path that ends soon; 0: somebody has said steps_per_year

    bool has_usual_steps() const { return least_steps > 0; }
    bool is_exact() const { return !is_stochastic && (beta == 0 || beta == 1); }
};

// Reads a mapping, but for alpha, rho and nu.
double read_beta(const config::node& parameters);
// Reads the steps, which depend on the other parameters.
void read_steps(const config::node& parameters, const reading& of, sabr_parameters& p);

std::string describe(const sabr_parameters& p);
std::unique_ptr<walk> sabr_walk(const sabr_parameters& p, const markets::asset& of,
                                const markets::curve& carry);

}  // namespace tilewalk::models
