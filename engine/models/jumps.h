// SPDX-License-Identifier: Apache-2.0
// Jumps on top of a walk: they come by a Poisson process, independent of all that moves otherwise and of the
// jumps of other assets. Also the common part of walks by jumps alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/models/known_law.h"
#include "engine/models/model.h"
#include "engine/numerics/characteristic.h"

namespace tilewalk::models {

// The jumps of the logarithm of an asset.
class jump_law {
  public:
    virtual ~jump_law() = default;
    // Intensity, per year, of the Poisson process that a step draws from; the largest one if there are
    // several.
    virtual double intensity() const = 0;
    // Mean yearly growth by jumps: of the logarithm, and of the asset.
    virtual double mean() const = 0;
    virtual double growth() const = 0;
    // Their sum over the step, exact for steps of at most longest_step_of(intensity()).
    virtual program::value sum_over(step& of) const = 0;
    // The transform of an asset with these jumps beside a lognormal move, or beside Heston's; where it is not
    // known a tilewalk::error.
    virtual fourier::characteristic beside(double volatility, double years) const = 0;
    virtual fourier::characteristic beside(const fourier::heston& variance, double years) const;
};

double longest_step_of(double intensity);

// For a Poisson number N over the step the truths N > 0, N > 1, ... up to the most jumps that a step can
// have. All come from one uniform.
std::vector<program::value> more_jumps_than(step& of, std::string_view name, double intensity);

// The jumps come first in a step, then what else moves. The end of a step, and every step of at most
// longest_step, is as exact as the inner walk; a path that is watched between has its jumps on the grid in
// place of a time within the step, which is off by something of the order of the step, so it stops often. A
// jump beyond a barrier is seen.
std::unique_ptr<walk> with_jumps(std::unique_ptr<walk> inner, std::shared_ptr<const jump_law> jumps,
                                 double watched_steps_per_year);

// A walk by jumps alone, each step exact: what it did between two dates does not follow from where it was on
// them.
class walk_by_jumps : public walk {
  public:
    walk_by_jumps(std::string name_of_model, const markets::asset& of)
        : name_(std::move(name_of_model)), of_(of) {}

    bool is_martingale() const final { return true; }
    program::value variance_between(section_at_hand& of, program::value scaled) final;
    std::string why_not_lognormal() const final;
    location where() const final { return of_.where; }

  private:
    std::string name_;
    const markets::asset& of_;
};

// A model of an asset that is lognormal but for its jumps; reads volatility and watched_steps_per_year.
std::shared_ptr<const model> lognormal_with_jumps(std::string name, const config::node& parameters,
                                                  dates::date as_of, std::shared_ptr<const jump_law> jumps);

// jump_intensity a year, and normal jumps with jump_mean and jump_sd.
std::vector<std::string> normal_jump_keys();
std::shared_ptr<const jump_law> read_normal_jumps(const config::node& parameters);

double read_jump_intensity(const config::node& parameters);
// The key watched_steps_per_year.
double read_watched_steps(const config::node& parameters);

// Refuses parameters under which the mean of the logarithm lies so far below the logarithm of the mean that a
// simulation sees nothing of what makes the mean: `gap` is the distance a year.
void expect_moderate(const config::node& parameters, double gap);
void expect_moderate(const config::node& parameters, const jump_law& jumps);

}  // namespace tilewalk::models
