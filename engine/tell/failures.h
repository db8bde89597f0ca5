// SPDX-License-Identifier: Apache-2.0
// Groups failed trades by reason, so that many equal failures take one line.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/results.h"

namespace tilewalk::report {

struct alike_failures {
    std::vector<const price_row*> rows{};  // failed trades of one reason, in the order of the results

    const price_row& first() const { return *rows.front(); }
    // Names the trade, or counts the trades: "N0002", "143 trades".
    std::string trades() const;
    std::string reason() const;
};

// Groups in the order of their first trades. If at most three trades failed for a reason, each is a group of
// its own, with its place in the book.
std::vector<alike_failures> failures_of(const results& r);

}  // namespace tilewalk::report
