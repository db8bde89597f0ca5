// SPDX-License-Identifier: Apache-2.0
// Jumps of an independent Poisson process added to a walk, and the common part of pure jump walks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/models/known_law.h"
#include "engine/models/model.h"
#include "engine/numerics/characteristic.h"
#include "tilewalk/bounds.h"

namespace tilewalk::models {

class jump_law {
  public:
    virtual ~jump_law() = default;
    // Yearly intensity of the Poisson process of jumps; the largest if there are several processes.
    virtual double intensity() const = 0;
    virtual double mean() const = 0;
    virtual double growth() const = 0;
    // Records the sum of the jumps in a step; exact for steps up to longest_step_of(intensity()).
    virtual program::value sum_over(step& of) const = 0;
    // Characteristic function of jumps and a lognormal move, or Heston's. Throws tilewalk::error if unknown.
    virtual fourier::characteristic beside(double volatility, double years) const = 0;
    virtual fourier::characteristic beside(const fourier::heston& variance, double years) const;
};

double longest_step_of(double intensity);

// Returns N > 0, N > 1, ... as truth values for a Poisson number N of jumps in the step, from one uniform.
std::vector<program::value> more_jumps_than(step& of, std::string_view name, double intensity);

// Adds the jumps of a step ahead of the move of `inner`. The law at the end of a step up to longest_step is
// as exact as that of `inner`. A watched path takes its jumps at grid times, an error of the order of the
// step, so its steps are short; a jump beyond a barrier is seen.
std::unique_ptr<walk> with_jumps(std::unique_ptr<walk> inner, std::shared_ptr<const jump_law> jumps,
                                 double watched_steps_per_year);

// A pure jump walk, exact over each step. Values at two dates do not determine the law in between.
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

std::shared_ptr<const model> lognormal_with_jumps(std::string name, const config::node& parameters,
                                                  dates::date as_of, std::shared_ptr<const jump_law> jumps);

inline constexpr parameter_row intensity_row{
    .name = "jump_intensity", .within = {{0, 1000}}, .meaning = "jumps a year"},
    volatility_row{.name = "volatility",
                   .within = {{0, bounds::volatility}},
                   .meaning = "volatility between jumps",
                   .may_be_by_term = true},
    watched_jumps_row{.name = "watched_steps_per_year",
                      .within = {{1, 100'000}},
                      .meaning = "least steps a year where watched continuously",
                      .preset = 100};
inline constexpr parameter_row normal_jump_rows[]{
    intensity_row,
    {.name = "jump_mean", .within = {{-10, 10}}, .meaning = "mean of a jump of the logarithm"},
    {.name = "jump_sd", .within = {{0, 5}}, .meaning = "standard deviation of a jump of the logarithm"}};
std::shared_ptr<const jump_law> read_normal_jumps(const config::node& parameters);

// Throws if the mean of the logarithm is so far below the logarithm of the mean (`gap` a year) that samples
// miss the rare paths that make up the mean.
void expect_moderate(const config::node& parameters, double gap);
void expect_moderate(const config::node& parameters, const jump_law& jumps);

}  // namespace tilewalk::models
