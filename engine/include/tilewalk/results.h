// SPDX-License-Identifier: Apache-2.0
// Prices with everything needed to trust them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk {

struct decisions;

struct results {
    std::vector<price_row> rows;  // in the order of the book
    run_manifest manifest;
    // By trade in the order of the book, and by measure; a trade that could not be priced has none. Empty
    // where only prices were asked for.
    std::vector<greek_row> greeks;
    // A file of the policies by which trades were ended early, which the setting `policy` takes. Empty where
    // nobody asked for it.
    std::string policies;

    std::size_t failed() const;
    std::vector<currency_total> totals() const;  // failed trades are left out
    // The same by measure and key for all trades whose price is in one currency. Sensitivities that failed
    // are left out.
    std::vector<greek_row> greek_totals() const;
};

// Decisions of the run. Policies are those that it kept, see run_options::keep_policies.
decisions decisions_of(const results& of);

}  // namespace tilewalk
