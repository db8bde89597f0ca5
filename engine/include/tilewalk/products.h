// SPDX-License-Identifier: Apache-2.0
// The products that come with Tilewalk, as text to read: the payoff, parameters and script of each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/rows.h"

namespace tilewalk {

struct product_parameter {
    std::string name;
    std::string type;           // "amount"; "rate per observations" is one for each date, or one for all
    std::string range;          // "> 0", "call | put", or empty
    std::string default_value;  // of a parameter that may be left out, or "optional"; empty: a trade must say
    std::string help;
};

struct product_page {
    std::string name, group, summary, description;
    std::string formula;  // what it pays, as lines of mathematics; empty if a product says none
    std::vector<product_parameter> parameters;
    std::string script;
    std::string example;  // a trade in YAML
    // The price of the example, once somebody has priced it.
    std::optional<price_row> worth{};
    std::string worth_as_of{};
};

// All of them, by name.
std::vector<product_page> product_pages();

// A book of the example alone, in the market that comes with Tilewalk.
book example_book(const product_page& page);

// The known name nearest to a misspelt one, or empty if none is near: the suggestions of every Tilewalk
// message.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);
// "asian, barrier, european"
std::string joined(const std::vector<std::string>& words);
// "; did you mean 'swap'?", or nothing if no known name is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);
// Words for a misspelt name: "; did you mean 'swap'? known products: cap_floor, swap". `what`
// is such as "known products:". A long list is cut to the nearest names, and says how many more there are.
std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known);

}  // namespace tilewalk
