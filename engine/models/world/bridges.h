// SPDX-License-Identifier: Apache-2.0
// Paths between two grid times: Brownian bridges of watched assets and rates, and their coordinates.
#pragma once

#include "engine/models/world/members.h"
#include "engine/models/world/open_section.h"
#include "engine/models/world/path_states.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// Answers questions of language::world about an interval, for the open section.
class bridges {
  public:
    bridges(const members& of, const open_section& in, path_states& states)
        : of_(of), in_(in), states_(states) {}

    language::bridge path_between(const factor& f) const;
    program::value to_coordinate(const factor& f, program::value level, language::interval_end end) const;
    program::value from_coordinate(const factor& f, program::value at) const;
    program::value mean_price(const factor& f, double fraction, program::value mean,
                              program::value variance) const;
    program::value mean_logarithm(const factor& f, const language::bridge& path) const;
    program::value variance_of_mean(const factor& f, const language::bridge& path,
                                    language::averaged what) const;

  private:
    language::bridge level_between(const factor& f) const;
    program::value scaled_variance(const factor& f) const;
    bool has_logarithm_for_coordinate(const factor& f) const;
    program::value price_at(const factor& f, double fraction, program::value at) const;
    program::value slope_of_logarithm(const factor& f, double fraction, program::value at) const;
    program::value shift_at(const factor& f, double fraction) const;

    const members& of_;
    const open_section& in_;
    path_states& states_;
};

}  // namespace tilewalk::models
