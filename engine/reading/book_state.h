// SPDX-License-Identifier: Apache-2.0
// A book as read: trades with range-checked arguments, each with its own error if it has one.
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
    std::string what;       // name in results: "implied_volatility", "fair_strike"
    std::string parameter;  // parameter to solve for; may be empty
    double price = 0;       // target price
};

struct placed_name {
    std::string name;
    int line, column;
};

struct trade {
    std::string id;
    location where;
    std::string product_name;
    std::shared_ptr<const language::product> product;  // null if unreadable
    language::arguments args;
    std::vector<placed_name> names;
    std::vector<bool> is_said;  // by parameter of the product: whether the trade sets it
    std::map<std::string, std::string, std::less<>> rules;
    std::string currency;   // empty: that of the first asset
    double quantity = 1;    // `no_figure` if unreadable
    std::string portfolio;  // may be empty
    std::optional<report_request> report;
    std::optional<accuracy> tolerance;  // overrides the run's
    std::string left_out;               // a sentence on what a study ignores; may be empty
    std::optional<error> failure;
};

struct trade_file {
    std::string name;
    std::shared_ptr<const std::string> text;
    std::string product;           // default of rows that name none; may be empty
    std::string default_quantity;  // default of rows without a quantity, as written; may be empty
    own_products products;
};

struct book_state {
    std::string name;
    std::vector<trade> trades;
    std::optional<tilewalk::market> market;
    run_settings settings;
    std::vector<input_file>
        inputs;  // the book and its product files, but not the market, which a run may replace
    std::shared_ptr<const std::string> text;  // null if all trades are in files
    std::vector<trade_file> trade_files;
    std::filesystem::path folder;  // base of relative names
};

}  // namespace tilewalk::books
