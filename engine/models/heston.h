// SPDX-License-Identifier: Apache-2.0
// Heston's stochastic variance, dv = kappa (theta - v) dt + sigma sqrt(v) dW', with parameters by term.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/models/model.h"

namespace tilewalk::models {

struct heston_parameters {
    enum class scheme { quadratic_exponential, full_truncation };
    double v0 = 0;
    by_term kappa, theta, sigma, rho;
    scheme by = scheme::quadratic_exponential;
    double steps_per_year = 0, watched_steps_per_year = 0;
    double least_steps = 0;  // minimum number of steps of a path; 0 if the user set steps_per_year

    bool has_usual_steps() const { return least_steps > 0; }
};

inline constexpr std::array<std::string_view, 2> heston_schemes{"quadratic_exponential", "full_truncation"};
inline constexpr parameter_row heston_rows[]{
    {.name = "v0", .within = {{0, 25}}, .meaning = "variance today"},
    {.name = "kappa", .within = {{0, 100}}, .meaning = "speed of reversion", .may_be_by_term = true},
    {.name = "theta", .within = {{0, 25}}, .meaning = "mean of the variance", .may_be_by_term = true},
    {.name = "sigma", .within = {{0, 20}}, .meaning = "volatility of the variance", .may_be_by_term = true},
    {.name = "rho",
     .within = {{-1, 1}},
     .meaning = "correlation of the asset and its variance",
     .may_be_by_term = true},
    {.name = "scheme", .meaning = "scheme in time", .choices = heston_schemes},
    {.name = "steps_per_year",
     .within = {{0.01, 100'000}},
     .meaning = "least steps a year",
     .otherwise = "computed: largest of 16, 40 sigma, 6 kappa (full_truncation: 250 or more)"},
    {.name = "watched_steps_per_year",
     .within = {{1, 100'000}},
     .meaning = "least steps a year where watched continuously",
     .otherwise = "computed: the larger of 100 and 400 sigma"}};

// Reads the parameters in heston_rows.
heston_parameters read_heston_parameters(const config::node& parameters, dates::date as_of);
std::string describe(const heston_parameters& p);
std::optional<double> implied_volatility(const heston_parameters& p, double years, double log_moneyness);
std::unique_ptr<walk> heston_walk(const heston_parameters& p, const markets::asset& of);

}  // namespace tilewalk::models
