// SPDX-License-Identifier: Apache-2.0
// Bounds of a trade's payoff that hold on every path, by interval arithmetic.
#pragma once

#include "products/program/passes.h"
#include "products/program/timeline.h"

namespace tilewalk::plan {

struct range {
    double low = 0, high = 0;  // infinite if unbounded

    bool is_point() const { return low == high; }
    bool is_bounded() const;
};

// Returns a range of the first output on all paths of finite numbers, not the narrowest. A point is exact.
range bounds_of(const program::path_program& code, const program::path_data& data,
                const program::timeline& when);

}  // namespace tilewalk::plan
