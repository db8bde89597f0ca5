// SPDX-License-Identifier: Apache-2.0
// Dates and fits of a policy to find, as kernels take them (kernels/exercise/backward_arguments.h).
#pragma once

#include <cstddef>
#include <vector>

#include "engine/decide/exercise/training.h"

namespace tilewalk::cuda {

struct policy_fits {
    explicit policy_fits(const exercise::untrained& of);

    struct date {
        std::size_t number = 0;  // among those of the trade; unused for today
        std::size_t first_fit = 0, fits = 1;
        std::size_t lowest = 0;  // uses left of the first fit
        int forced_from = 0;
    };
    // A fit, with the interval that begins there: the first row of sums of normals of each of its pieces, and
    // its root, see decision_date.
    struct fit {
        std::size_t date = 0, first_piece = 0, pieces = 0;
        double root = 0;
    };
    std::vector<date> dates;  // with decisions, in order of time, and today
    std::vector<fit> fits;    // in the order of dates
    std::vector<std::size_t> pieces;
    std::size_t levels = 1;  // counts of uses left, from 0 on; 1: a right ends the trade

    const date& today() const { return dates.back(); }
    std::size_t dates_to_come() const { return dates.size() - 1; }
    std::size_t fits_to_come() const { return fits.size() - today().fits; }
    std::size_t most_of_a_date() const;

  private:
    // The interval has these dates of the trade, each a piece; the number of dates stands for the end.
    void add_fit(const exercise::untrained& of, std::size_t first, std::size_t last, double root);
};

}  // namespace tilewalk::cuda
