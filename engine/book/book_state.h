// SPDX-License-Identifier: Apache-2.0
// A book as read: trades with range-checked arguments, each with its own error if it has one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/document.h"
#include "products/language/product.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"
#include "tilewalk/results.h"

namespace tilewalk::books {

struct trade {
    std::string id;
    location where;
    std::string product_name;
    std::shared_ptr<const language::product> product;  // null if it could not be read
    language::arguments args;
    std::string currency;  // empty: the currency of its first asset
    double quantity = 1;
    std::optional<error> failure;
};

struct book_state {
    std::string name;
    std::vector<trade> trades;
    std::optional<tilewalk::market> market;
    run_settings settings;
    std::vector<input_file> inputs;  // the book and its product files; the market of a run may be another
};

}  // namespace tilewalk::books
