// SPDX-License-Identifier: Apache-2.0
// Heston's stochastic variance, dv = kappa (theta - v) dt + sigma sqrt(v) dW', with parameters by term.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/models/model.h"

namespace tilewalk::models {

struct heston_parameters {
    enum class scheme { quadratic_exponential, full_truncation };
    double v0 = 0;
    by_term kappa, theta, sigma, rho;
    scheme by = scheme::quadratic_exponential;
    double steps_per_year = 0, watched_steps_per_year = 0;
    double least_steps = 0;  // minimum for a short path; 0 if the user set steps_per_year

    bool has_usual_steps() const { return least_steps > 0; }
};

std::vector<std::string> heston_keys();
heston_parameters read_heston_parameters(const config::node& parameters, dates::date as_of);
std::string describe(const heston_parameters& p);
std::optional<double> implied_volatility(const heston_parameters& p, double years, double log_moneyness);
std::unique_ptr<walk> heston_walk(const heston_parameters& p, const markets::asset& of);

}  // namespace tilewalk::models
