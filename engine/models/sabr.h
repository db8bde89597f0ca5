// SPDX-License-Identifier: Apache-2.0
// A forward F with a power of F as volatility: dF = alpha F^beta dW. Under SABR, d alpha = nu alpha dZ with
// correlation rho; under CEV alpha is constant. F is the asset's forward in today's money, which is the spot
// without carry and future cash dividends, so alpha has the units of F^(1 - beta).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/model.h"

namespace tilewalk::models {

struct sabr_parameters {
    double alpha = 0;
    double beta = 0;  // 0: normal, F may be negative; 1: lognormal; else F is absorbed at 0
    double rho = 0, nu = 0;
    bool is_stochastic = false;  // true for SABR, even if nu = 0
    double steps_per_year = 0, watched_steps_per_year = 0;
    double least_steps = 0;  // minimum number of steps of a path; 0 if the user set steps_per_year

    bool has_usual_steps() const { return least_steps > 0; }
    bool is_exact() const { return !is_stochastic && (beta == 0 || beta == 1); }
};

inline constexpr parameter_row beta_row{
    .name = "beta", .within = {{0, 1}}, .meaning = "power of the forward, 0 (normal) or at least 0.01"},
    power_steps_row{.name = "steps_per_year",
                    .within = {{0.01, 100'000}},
                    .meaning = "least steps a year",
                    .otherwise = "computed: 8 to 800, by volatility and nu (beta 0: 2 to 800, by nu)"},
    watched_power_row{.name = "watched_steps_per_year",
                      .within = {{1, 100'000}},
                      .meaning = "least steps a year where watched continuously",
                      .otherwise = "computed: the larger of 100 and the default of steps_per_year"};

double read_beta(const config::node& parameters);
void read_steps(const config::node& parameters, const reading& of, sabr_parameters& p);

std::string describe(const sabr_parameters& p);
std::unique_ptr<walk> sabr_walk(const sabr_parameters& p, const markets::asset& of,
                                const markets::curve& carry);

}  // namespace tilewalk::models
