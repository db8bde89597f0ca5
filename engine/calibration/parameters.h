// SPDX-License-Identifier: Apache-2.0
// A model's parameters in a fit: which are fixed, and the search bounds of the others.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/calibration/least_squares.h"
#include "engine/calibration/target.h"
#include "engine/models/parameters.h"
#include "tilewalk/calibration.h"

namespace tilewalk::calibrations {

struct parameter {
    std::string_view name;
    models::range admissible;  // limits for fixed values and user bounds
    between searched;          // default search bounds
};

// A model's parameters with the user's choices, `fixed: {kappa: 1.5}` and `bounds: {sigma: [0.1, 2]}`.
class parameter_space {
  public:
    parameter_space(std::span<const parameter> all, const config::node& of);

    std::size_t free() const { return free_.size(); }
    std::vector<between> bounds() const;
    std::string name_of_free(std::size_t number) const { return std::string(all_[free_[number]].name); }
    std::vector<double> all(std::span<const double> free) const;
    std::vector<double> free_of(std::span<const double> all) const;
    std::vector<fitted_parameter> fitted(const minimum& found) const;
    std::vector<std::string> names() const;
    std::size_t number_of_free(std::size_t number) const { return free_[number]; }
    // All parameters as YAML, such as "{v0: 0.04, kappa: 1.5}", exact to the last bit.
    std::string written(std::span<const double> free) const;

  private:
    std::span<const parameter> all_;
    std::vector<double> fixed_;      // by parameter; NaN if free
    std::vector<between> searched_;  // by parameter
    std::vector<std::size_t> free_;
};

// A fit. `model` computes the value of each quote, in its unit, from all parameters. The quotes' market
// values and the unit are in the caller's model_fit.
struct fitting {
    const parameter_space& space;
    std::function<void(std::span<const double> parameters, std::span<double> values)> model;
    std::vector<std::vector<double>> starts;  // values of all parameters
    double good_enough = 0;
    const std::atomic<bool>* cancel = nullptr;
};
// Fits the free parameters and returns them; puts all that is known of the fit into `into`.
std::vector<double> fit(const fitting& how, model_fit& into);

// Derivatives of fitted numbers with respect to the quotes. Parameters fixed or at a bound have none.
fitted_numbers follow(const fitting& how, const model_fit& of, const number_by_key& now);

// Derivatives of the minimum, by parameter and quote with a weight. The residuals of these quotes must come
// first. Throws tilewalk::error (input) if `at` is not a minimum, or if the quotes don't determine it.
std::vector<std::vector<double>> moves_by_quote(const least_squares& problem, const model_fit& of,
                                                std::span<const double> at);
std::vector<fitted_quote> weighed(const std::vector<fitted_quote>& quotes);
// Throws the error for a market whose numbers are not those of a fit to its quotes.
[[noreturn]] void fail_as_no_fit(const model_fit& of, const std::string& found);

void number_repeated_keys(std::vector<fitted_quote>& quotes);

void summarise(model_fit& of);

void expect_enough(const config::node& at, const std::vector<fitted_quote>& quotes, std::size_t parameters);

}  // namespace tilewalk::calibrations
