// SPDX-License-Identifier: Apache-2.0
// A book as read: trades with range-checked arguments. A trade that can't be read carries its error.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/inside.h"
#include "engine/base/text/document.h"
#include "engine/reading/library.h"
#include "products/language/product.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"
#include "tilewalk/manifest.h"
#include "tilewalk/run_settings.h"

namespace tilewalk::books {

struct report_request {
    std::string what;       // name of the result: "implied_volatility", "fair_strike"
    std::string parameter;  // parameter to solve for; empty for a volatility
    double price = 0;       // price that the solution gives
};

struct placed_name {
    std::string name;
    int line, column;
};

struct trade {
    std::string id;
    location where;
    std::string product_name;
    std::shared_ptr<const language::product> product;  // null if it could not be read
    language::arguments args;
    std::vector<placed_name> names;
    std::vector<bool> is_said;  // by parameter of the product: whether the trade gives it
    std::map<std::string, std::string, std::less<>> rules;
    std::string currency;   // empty: currency of the first asset
    double quantity = 1;    // `no_figure` if it could not be read
    std::string portfolio;  // empty if none is given
    std::optional<report_request> report;
    std::optional<accuracy> tolerance;  // replaces the run's tolerance
    std::string left_out;               // a sentence on the part of the trade that a study ignores; or empty
    std::optional<error> failure;
};

struct trade_file {
    std::string name;
    std::shared_ptr<const std::string> text;
    std::string product;           // product of rows that name none; may be empty
    std::string default_quantity;  // quantity of rows without one, as in the file; may be empty
    own_products products;
};

struct book_state {
    std::string name;
    std::vector<trade> trades;
    std::optional<tilewalk::market> market;
    run_settings settings;
    std::vector<input_file>
        inputs;  // the book and its product files; not the market, which a run may replace
    std::shared_ptr<const std::string> text;  // the book's text; null if all trades are in other files
    std::vector<trade_file> trade_files;
    std::filesystem::path folder;  // relative file names start here
};

}  // namespace tilewalk::books
