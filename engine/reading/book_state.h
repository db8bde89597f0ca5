// SPDX-License-Identifier: Apache-2.0
// A book as read: trades with range-checked arguments, each with its own error if it has one.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/reading/library.h"
#include "products/language/product.h"
#include "tilewalk/accuracy.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"
#include "tilewalk/manifest.h"

namespace tilewalk::books {

// An answer that a trade asks for beside its price.
struct report_request {
    std::string what;       // as the row says it: "implied_volatility", "fair_strike"
    std::string parameter;  // whose value is wanted, or empty
    double price = 0;       // that the trade is to have with it
};

// The place of an asset or a currency in the terms of a trade.
struct placed_name {
    std::string name;
    int line, column;  // in the trade's file
};

struct trade {
    std::string id;
    location where;
    std::string product_name;
    std::shared_ptr<const language::product> product;  // null if it could not be read
    language::arguments args;
    std::vector<placed_name> names;
    std::vector<bool> is_said;  // by parameter of the product: the trade gives it
    // The rules of dates and schedules that are given by one, as they are written.
    std::map<std::string, std::string, std::less<>> rules;
    std::string currency;   // empty: the currency of its first asset
    double quantity = 1;    // `no_figure` if it could not be read
    std::string portfolio;  // empty: none
    std::optional<report_request> report;
    std::optional<accuracy> tolerance;  // beats that of the run
    std::string left_out;               // what a study does not take of it, a sentence; or empty
    std::optional<error> failure;
};

// A file of trades that a book names, as it was read.
struct trade_file {
    std::string name;
    std::shared_ptr<const std::string> text;
    std::string product;           // of rows which name none; may be empty
    std::string default_quantity;  // of rows which name none, as it is written; empty: not stated
    own_products products;
};

struct book_state {
    std::string name;
    std::vector<trade> trades;
    std::optional<tilewalk::market> market;
    run_settings settings;
    std::vector<input_file> inputs;  // the book and its product files; the market of a run may be another
    std::shared_ptr<const std::string> text;  // that it was read from; null for trades in files alone
    std::vector<trade_file> trade_files;      // where trades do not stand in the text
    std::filesystem::path folder;             // from which the names in it count
};

}  // namespace tilewalk::books
