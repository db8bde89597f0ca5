// SPDX-License-Identifier: Apache-2.0
// Dates and fits of a policy to train, in the layout of kernels (kernels/exercise/backward_arguments.h).
#pragma once

#include <cstddef>
#include <vector>

#include "engine/decide/exercise/training.h"

namespace tilewalk::cuda {

struct policy_fits {
    explicit policy_fits(const exercise::untrained& of);

    struct date {
        std::size_t number = 0;  // index among the trade's dates; unused for today
        std::size_t first_fit = 0, fits = 1;
        std::size_t lowest = 0;  // number of uses left in the date's first fit
        int forced_from = 0;
    };
    // A fit on `date`, and the interval after it: `root` as in decision_date, and its pieces between
    // consecutive dates, whose first rows of sums of normals are in policy_fits::pieces.
    struct fit {
        std::size_t date = 0, first_piece = 0, pieces = 0;
        double root = 0;
    };
    std::vector<date> dates;  // dates that decide, in order of time; last today
    std::vector<fit> fits;    // of dates[0], then dates[1], ...
    std::vector<std::size_t> pieces;
    // Number of cases by uses left, 0 included; 1 if the right ends the trade.
    std::size_t levels = 1;

    const date& today() const { return dates.back(); }
    std::size_t dates_to_come() const { return dates.size() - 1; }
    std::size_t fits_to_come() const { return fits.size() - today().fits; }
    std::size_t most_of_a_date() const;

  private:
    // Adds a fit whose interval has the pieces that end at dates `first` to `last` of the trade; the number
    // of dates stands for the end of paths.
    void add_fit(const exercise::untrained& of, std::size_t first, std::size_t last, double root);
};

}  // namespace tilewalk::cuda
