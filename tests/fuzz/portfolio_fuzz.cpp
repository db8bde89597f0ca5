// SPDX-License-Identifier: Apache-2.0
// Any bytes as a portfolio of ORE. The imported trades, written as a book and read back, are as many.
#include <string>

#include "engine/reading/book_state.h"
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/book.h"
#include "tilewalk/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using tilewalk::fuzzed::demand;
    try {
        const auto read = tilewalk::import_ore_text(tilewalk::fuzzed::text_of(data, size), "portfolio.xml");
        demand(read.imported + read.refused.size() == read.found, "trades are lost",
               std::to_string(read.found));
        const std::string written = read.book.yaml();
        const auto book = tilewalk::book::parse(written, "book.yaml", "/nowhere");
        demand(book.size() == read.book.at("trades").items().size(), "the book has other trades", written);
    } catch (const tilewalk::error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
