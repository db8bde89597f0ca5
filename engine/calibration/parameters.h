// SPDX-License-Identifier: Apache-2.0
// A model's parameters as a fit sees them: which are held, and between which bounds the others are looked
// for.
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
    models::range admissible;  // of values that may be fixed, and of bounds
    between searched;          // unless the user says otherwise
};

// The user's choices for the parameters: `fixed: {kappa: 1.5}` and `bounds: {sigma: [0.1, 2]}`.
class parameter_space {
  public:
    parameter_space(std::span<const parameter> all, const config::node& of);

    std::size_t free() const { return free_.size(); }
    std::vector<between> bounds() const;
    std::string name_of_free(std::size_t number) const { return std::string(all_[free_[number]].name); }
    // All values from those that are free, and back.
    std::vector<double> all(std::span<const double> free) const;
    std::vector<double> free_of(std::span<const double> all) const;
    std::vector<fitted_parameter> fitted(const minimum& found) const;
    std::vector<std::string> names() const;
    std::size_t number_of_free(std::size_t number) const { return free_[number]; }
    // "{v0: 0.04, kappa: 1.5}", to the last bit.
    std::string written(std::span<const double> free) const;

  private:
    std::span<const parameter> all_;
    std::vector<double> fixed_;      // of each; not a number where it is free
    std::vector<between> searched_;  // of each
    std::vector<std::size_t> free_;
};

// Fits and reports. `model` gives what each quote is worth, in the unit of the quotes, of all parameters;
// the quotes' own values are in `fit`, whose name and unit are the caller's.
struct fitting {
    const parameter_space& space;
    std::function<void(std::span<const double> parameters, std::span<double> values)> model;
    std::vector<std::vector<double>> starts;  // of all parameters
    double good_enough = 0;
    const std::atomic<bool>* cancel = nullptr;
};
// The free parameters.
std::vector<double> fit(const fitting& how, model_fit& into);

// How the numbers of a market that such a fit has found follow from its quotes: parameters that are held, or
// at a bound, do not.
fitted_numbers follow(const fitting& how, const model_fit& of, const number_by_key& now);

// The least squares in which the residuals of quotes with a weight stand first: how their minimum moves, by
// parameter and quote. Throws tilewalk::error (input) where `at` is no minimum, or not determined.
std::vector<std::vector<double>> moves_by_quote(const least_squares& problem, const model_fit& of,
                                                std::span<const double> at);
std::vector<fitted_quote> weighed(const std::vector<fitted_quote>& quotes);
// The error of follow() where a market's numbers are not those of a fit.
[[noreturn]] void fail_as_no_fit(const model_fit& of, const std::string& found);

// Quotes whose keys are alike are told apart by their number: "ACME.quote@0.5y,1#2".
void number_repeated_keys(std::vector<fitted_quote>& quotes);

// Fills in the summary of a fit from its quotes.
void summarise(model_fit& of);

// Refuses fewer quotes with a weight than parameters.
void expect_enough(const config::node& at, const std::vector<fitted_quote>& quotes, std::size_t parameters);

}  // namespace tilewalk::calibrations
