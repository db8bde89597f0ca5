// SPDX-License-Identifier: Apache-2.0
// Prices of later payments on a section's date (forwards, options, bonds), and discounting on the path.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "engine/models/world/members.h"
#include "engine/models/world/open_section.h"
#include "engine/models/world/path_states.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// Answers such questions of language::world for the open section. The first three functions throw
// language::not_known_ahead if the states of a path do not determine the price.
class prices_ahead {
  public:
    prices_ahead(const members& of, const open_section& in, path_states& states)
        : of_(of), in_(in), states_(states) {}

    program::value forward(const factor& f, std::span<const double> years, const std::string& named) const;
    program::value option_value(bool call, const factor& f, program::value strike,
                                std::span<const double> years, const std::string& named) const;
    program::value bond(const std::string& currency, std::span<const double> years,
                        const std::string& named) const;
    program::value discount_on_path(const std::string& currency, language::interval_end end) const;

  private:
    struct affine_values {
        program::value grown, shift;
    };
    affine_values ahead_of(const factor& f, std::span<const double> years, const std::string& named) const;
    program::value forward_under_moving_rates(const factor& f, std::span<const double> years,
                                              const std::string& named) const;
    // Multiplies `now`, a number of the asset on the path, by the market's factor `scale` to a later time.
    program::value scaled_ahead(const factor& f, program::value now, std::span<const double> years,
                                const std::string& named,
                                const std::function<double(double from, double until)>& scale) const;
    void expect_lognormal(const factor& f, const std::string& what) const;
    void expect_still_rates(const factor& f, const std::string& what) const;

    const members& of_;
    const open_section& in_;
    path_states& states_;
};

}  // namespace tilewalk::models
