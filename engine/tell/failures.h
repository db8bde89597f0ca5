// SPDX-License-Identifier: Apache-2.0
// Failed trades by reason: many that fail alike are told of in one line.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

struct alike_failures {
    std::vector<const price_row*> rows{};  // of one reason, in the order of the results

    const price_row& first() const { return *rows.front(); }
    // "N0002" or "143 trades"
    std::string trades() const;
    // The reason, with the names of the first trades where there are several.
    std::string reason() const;
};

// In the order of the first trade of each. Up to three trades of a reason stand alone, each with its place.
std::vector<alike_failures> failures_of(const results& r);

}  // namespace tilewalk::report
