// SPDX-License-Identifier: Apache-2.0
// Products as text to read: the payoff, parameters and script of each of the library and of own files.
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
    std::string type;           // "amount"; "rate per observations" takes one for each date, or one for all
    std::string range;          // "> 0", "call | put", or empty
    std::string default_value;  // "optional", or the default; empty if required
    std::string help;
};

struct product_page {
    std::string name, group, summary, description;
    std::string formula;  // payoff, as lines of mathematics; may be empty
    std::vector<product_parameter> parameters;
    std::string script;
    std::string example;  // a trade in YAML
    // Price of the example; empty until it is priced.
    std::optional<price_row> worth{};
    std::string worth_as_of{};
};

std::vector<product_page> product_pages();

// Reads a product file as a book would. Throws tilewalk::error (input, io) with the place of the fault.
product_page load_product_page(const std::filesystem::path& file);
product_page read_product_page(std::string_view yaml, const std::string& name = "product");

book example_book(const product_page& page);

// The known name nearest to a misspelt one; empty if none is near. All messages take suggestions from here.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);
// Returns such as "asian, barrier, european".
std::string joined(const std::vector<std::string>& words);
// Returns such as "; did you mean 'swap'?"; empty if no known name is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);
// Returns such as "; did you mean 'swap'? known products: cap_floor, swap". `what` is such as "known
// products:". A long list is cut to the nearest names and counts the rest.
std::string alternatives(std::string_view wrong, const std::string& what,
                         const std::vector<std::string>& known);

}  // namespace tilewalk
