// SPDX-License-Identifier: Apache-2.0
// A model's parameters as a fit sees them: which are held, and between which bounds the others are looked
// for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/calibration/least_squares.h"
#include "engine/config/document.h"
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

// Fills in the summary of a fit from its quotes.
void summarise(model_fit& of);

// Refuses fewer quotes with a weight than parameters.
void expect_enough(const config::node& at, const std::vector<fitted_quote>& quotes, std::size_t parameters);

}  // namespace tilewalk::calibrations
