// SPDX-License-Identifier: Apache-2.0
// Groups failed trades by reason, so that many equal failures take one line.
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
    std::string reason() const;
};

// Groups in the order of their first trades. Up to three trades of a reason stay separate, each with its
// place.
std::vector<alike_failures> failures_of(const results& r);

}  // namespace tilewalk::report
