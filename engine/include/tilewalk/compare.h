// SPDX-License-Identifier: Apache-2.0
// The differences between two results, and the rule by which prices agree.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk {

// The change of a trade from one result to another.
struct price_difference {
    enum class finding {
        compared,  // priced in both: the figures below hold
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
    // The root of the sum of squares of two independent errors; none if one price has none. With
    // `error_of_parts` the error of the difference itself, whose random numbers are common.
    double error = 0;
    bool error_of_parts = false;
    // True if seed, paths and all else that random numbers follow from are the same: no difference is chance
    // then, and `error` may be too large an estimate.
    bool common_random_numbers = false;
    // The random numbers are the same and their use is not, such as where another control is subtracted.
    bool other_decisions = false;
    double z = 0;                 // difference in errors; infinite where prices differ that have no error
    bool same_bits = false;       // price and standard error alike
    bool other_quantity = false;  // which changes no price of one unit

    // Failing in both is no difference; failing, missing or changing currency in one is more than any limit.
    bool within(double limit) const;
    // The same by size: the prices differ by no more than an amount.
    bool within_amount(double amount) const;
};
inline constexpr double default_limit = 4.5;

// The distance that prices may be apart: an amount in the trade's currency, or a part of the first price.
struct price_tolerance {
    double size = 0;
    bool is_of_price = false;

    double amount(double price) const { return is_of_price ? size * (price < 0 ? -price : price) : size; }
};

// The rule by which two prices agree. If their random numbers are common no difference is chance, so they
// have to be equal; if they are independent, prices agree within `limit` standard errors. A tolerance holds
// for both.
struct difference_rule {
    double limit = default_limit;
    std::optional<price_tolerance> tolerance;
};

struct comparison {
    std::vector<price_difference> rows;  // in the order of the first, then what only the second has
    run_manifest first, second;
    // True if the runs say so of all trades. Each trade of a run that chooses its source of random numbers
    // has its own answer.
    bool common_random_numbers = false;

    bool agrees(const price_difference& d, const difference_rule& by = {}) const;
    std::size_t differing(const difference_rule& by = {}) const;  // how many do not agree
};
comparison compare(const results& first, const results& second);
// As a table for people.
void write(std::ostream& out, const comparison& c, const difference_rule& by = {},
           const text_form& form = {});

}  // namespace tilewalk
