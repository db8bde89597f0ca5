// SPDX-License-Identifier: Apache-2.0
// Imports portfolios of other systems as books, and reports every unsupported trade with the reason.
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
    std::string reason;  // why it was refused, and what is supported instead
};

struct imported_portfolio {
    value book;                           // the imported trades; names no market
    std::size_t found = 0, imported = 0;  // numbers of trades in the portfolio, and in `book`
    std::vector<refused_trade> refused;
    // Notes on substitutions, such as a curve for an index, or exercise on dates for continuous exercise.
    std::vector<std::string> taken;
    std::vector<std::filesystem::path> files;  // the files that were read
};

struct known_trade {
    std::string name;      // "FxOption"
    std::string products;  // products that such a trade becomes
};
std::vector<known_trade> known_ore_trades();

// Imports an XML portfolio of Open Source Risk Engine (ORE). `names` is a file that maps ORE's names to names
// of the market and calendars; may be empty. Throws tilewalk::error (io, input) for a missing or wrong file.
imported_portfolio import_ore(const std::filesystem::path& portfolio,
                              const std::filesystem::path& names = {});
imported_portfolio import_ore_text(std::string_view xml, const std::string& name,
                                   const std::filesystem::path& names = {});

}  // namespace tilewalk
