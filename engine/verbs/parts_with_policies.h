// SPDX-License-Identifier: Apache-2.0
// Sensitivities of trades with rights from parts of a run that follow policies of their own, each trained on
// other paths: their spread contains what another training would have given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/verbs/settled.h"
#include "tilewalk/results.h"

namespace tilewalk::verbs {

// The cut of a run of so many parts of its tallies into 16 to 31 that are larger by a whole number.
struct cut_by_policies {
    std::size_t each = 1, parts = 0;

    explicit cut_by_policies(std::size_t parts_of_run);
    // Some of the parts are walked again by policies that are fitted by fewer functions, on fewer
    // paths.
    static bool is_also_coarse(std::size_t part) { return part % 4 == 0; }
    static constexpr double walks = 1.25;  // of all parts, in those of the run
};

// Sensitivities found by parts, by row of the trades.
class found_by_parts {
  public:
    explicit found_by_parts(const cut_by_policies& cut) : cut_(cut) {}

    void add(const results& found, std::size_t part, exercise::fitting by);
    // Gives a row the mean of the parts, with an error from their spread. The bias takes in what functions of
    // half the degree, fitted on half of the training paths, change on the same paths, and the error of that
    // change, which few parts tell. `own_error`: parts share the row's paths, which have this error.
    void fill(greek_row& row, const run_manifest& told, double own_error) const;

  private:
    struct values {
        std::map<std::size_t, double> fine, coarse;  // by part
        bool any_failed = false;
    };
    // A trade that a number does not move in a part has no row there.
    static double at(const std::map<std::size_t, double>& of, std::size_t part);

    cut_by_policies cut_;
    std::map<std::pair<std::string, std::pair<std::string, std::string>>, values> by_row_;
};

}  // namespace tilewalk::verbs
