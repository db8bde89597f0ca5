// SPDX-License-Identifier: Apache-2.0
// Comparison of two sets of results trade by trade, and the rule by which two prices agree.
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
        compared,  // priced in both; only then are `first` to `z` valid
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
    // Standard error of the difference, as of independent prices; missing if a price has none. If
    // `error_of_parts`, it is for common random numbers, from the parts of both runs.
    double error = 0;
    bool error_of_parts = false;
    // True if both have the same random numbers: no difference is chance, and `error` may be too large.
    bool common_random_numbers = false;
    // True if both prices have the same random numbers but use them otherwise, as for another control
    // variate.
    bool other_decisions = false;
    double z = 0;                 // difference in standard errors; infinite if prices without errors differ
    bool same_bits = false;       // price and standard error are equal
    bool other_quantity = false;  // quantities differ, which does not affect prices of one unit

    // True if the size of `z` is at most `limit`, or that of `difference` at most `amount`. Always true if
    // the trade failed in both results; never if it failed in one, is missing from one or changed currency.
    bool within(double limit) const;
    bool within_amount(double amount) const;
};
inline constexpr double default_limit = 4.5;

// A tolerated difference of prices: an amount in the trade's currency, or a fraction of the first price.
struct price_tolerance {
    double size = 0;
    bool is_of_price = false;

    double amount(double price) const { return is_of_price ? size * (price < 0 ? -price : price) : size; }
};

// Prices from common random numbers have to be equal, and others within `limit` standard errors of each
// other. A tolerance replaces both conditions.
struct difference_rule {
    double limit = default_limit;
    std::optional<price_tolerance> tolerance;
};

struct comparison {
    std::vector<price_difference> rows;  // in the order of the first results, then trades only in the second
    run_manifest first, second;
    // True if all settings that decide random numbers are equal. Trades may still differ in random numbers,
    // since a run may choose the random source by trade; see price_difference.
    bool common_random_numbers = false;

    bool agrees(const price_difference& d, const difference_rule& by = {}) const;
    std::size_t differing(const difference_rule& by = {}) const;  // number of rows that do not agree
};
comparison compare(const results& first, const results& second);
void write(std::ostream& out, const comparison& c, const difference_rule& by = {},
           const text_form& form = {});

}  // namespace tilewalk
