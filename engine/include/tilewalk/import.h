// SPDX-License-Identifier: Apache-2.0
// Portfolios of other systems as books: what is known of them becomes trades of the library's products, and
// what is not is told by trade and place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/error.h"
#include "tilewalk/value.h"

namespace tilewalk {

struct refused_trade {
    std::string trade;
    location where;
    std::string reason;  // what was found, and what would be known
};

struct imported_portfolio {
    value book;                           // of the trades that are known; it names no market
    std::size_t found = 0, imported = 0;  // trades of the portfolio
    std::vector<refused_trade> refused;
    // Notes on what was taken for what: an asset's name for another, a curve for an index, a step for a right
    // at any time.
    std::vector<std::string> taken;
    std::vector<std::filesystem::path> files;  // that were read
};

// A kind of trade that is known.
struct known_trade {
    std::string name;      // "FxOption"
    std::string products;  // those that it becomes
};
std::vector<known_trade> known_ore_trades();

// A portfolio in the XML of Open Source Risk Engine. `names` is a file that leads its names to those of the
// market and of calendars, or empty. Throws tilewalk::error (io, input) for a file that is no such portfolio.
imported_portfolio import_ore(const std::filesystem::path& portfolio,
                              const std::filesystem::path& names = {});
// The same of a text.
imported_portfolio import_ore_text(std::string_view xml, const std::string& name,
                                   const std::filesystem::path& names = {});

}  // namespace tilewalk
