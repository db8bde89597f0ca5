// SPDX-License-Identifier: Apache-2.0
// Differences between two results, and the rule by which prices agree.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk {

struct price_difference {
    enum class finding {
        compared,  // priced in both; only then are the figures below valid
        only_first,
        only_second,
        failed_first,  // failed in the first, priced in the second
        failed_second,
        failed_both,
        other_currency,
    };
    std::string trade, currency;
    finding found = finding::compared;
    double first = 0, second = 0;  // prices of one unit
    double difference = 0;         // second - first
    // Root of the sum of both squared errors; none if one price has no error. With `error_of_parts`, the
    // error of the difference itself under common random numbers.
    double error = 0;
    bool error_of_parts = false;
    // True if all random numbers are the same: no difference is chance, and `error` may be too large.
    bool common_random_numbers = false;
    // True if the random numbers are the same but used otherwise, such as with another control.
    bool other_decisions = false;
    double z = 0;                 // difference in errors; infinite if prices without an error differ
    bool same_bits = false;       // equal price and standard error
    bool other_quantity = false;  // does not affect the price of one unit

    // Failing in both counts as equal; failing, missing or another currency in one exceeds every limit.
    bool within(double limit) const;
    bool within_amount(double amount) const;
};
inline constexpr double default_limit = 4.5;

// An allowed distance: an amount in the trade's currency, or a fraction of the first price.
struct price_tolerance {
    double size = 0;
    bool is_of_price = false;

    double amount(double price) const { return is_of_price ? size * (price < 0 ? -price : price) : size; }
};

// Equality for common random numbers, else `limit` standard errors; a tolerance replaces both rules.
struct difference_rule {
    double limit = default_limit;
    std::optional<price_tolerance> tolerance;
};

struct comparison {
    std::vector<price_difference> rows;  // order of the first, then those only in the second
    run_manifest first, second;
    // True if all trades have common random numbers; rows can differ if the run chose sources by trade.
    bool common_random_numbers = false;

    bool agrees(const price_difference& d, const difference_rule& by = {}) const;
    std::size_t differing(const difference_rule& by = {}) const;  // number of rows that do not agree
};
comparison compare(const results& first, const results& second);
void write(std::ostream& out, const comparison& c, const difference_rule& by = {},
           const text_form& form = {});

}  // namespace tilewalk
