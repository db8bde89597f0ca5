// SPDX-License-Identifier: Apache-2.0
// Descriptions of products, of the library and of product files: payoff, parameters and script.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/rows.h"

namespace tilewalk {

struct product_parameter {
    std::string name;
    std::string type;   // "amount"; "rate per observations" takes a rate for each date, or one for all
    std::string range;  // "> 0", "call | put", or empty
    std::string default_value;  // the default, or "optional"; empty if required
    std::string help;
};

struct product_page {
    std::string name, group, summary, description;
    std::string formula;  // payoff, as lines of mathematics; may be empty
    std::vector<product_parameter> parameters;
    std::string script;
    std::string example;  // a trade in YAML
    // Price of the example, if the caller prices it.
    std::optional<price_row> worth{};
    std::string worth_as_of{};
};

std::vector<product_page> product_pages();

// Reads a product file as for a book. Throws tilewalk::error (input, io) with the place of the fault.
product_page load_product_page(const std::filesystem::path& file);
product_page read_product_page(std::string_view yaml, const std::string& name = "product");

book example_book(const product_page& page);

// The known name nearest to a misspelt one; empty if none is near. Error messages suggest this name.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);
// Joins words, such as "asian, barrier, european".
std::string joined(const std::vector<std::string>& words);
// Returns a suggestion such as "; did you mean 'swap'?"; empty if no known name is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);
// Returns such as "; did you mean 'swap'? known products: cap_floor, swap" if `what` is "known products:". A
// long list is cut to the names nearest to `wrong` and counts the rest.
std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known);

}  // namespace tilewalk
