// SPDX-License-Identifier: Apache-2.0
// Bounds on all that a trade can pay: a range that holds for every path, found by arithmetic on ranges.
#pragma once

#include "products/program/passes.h"
#include "products/program/timeline.h"

namespace tilewalk::plan {

struct range {
    double low = 0, high = 0;  // infinite where there is no end to it

    // Nothing random can change it.
    bool is_point() const { return low == high; }
    bool is_bounded() const;
};

// A range of the program's first output that no path leaves on which every number is finite, whatever its
// shocks. It is not the narrowest: what cancels in an expression is taken as if it did not. A point is
// exact.
range bounds_of(const program::path_program& code, const program::path_data& data,
                const program::timeline& when);

}  // namespace tilewalk::plan
