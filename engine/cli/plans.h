// SPDX-License-Identifier: Apache-2.0
// What the commands that take a book share: its market, and planning it with nothing priced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewalk/engine.h"

namespace tilewalk::cli {

// Throws tilewalk::error (usage) if the book names no market; for when --market does not either.
void check_market(const book& trades, const std::string& book_file);

// `market_option` is what --market said, if it did. Throws tilewalk::error.
std::vector<trade_plan> plan_book(const std::string& book_file,
                                  const std::optional<std::string>& market_option);

// "book.yaml:12:5: trade c1: unknown asset 'ACMEE'"
std::string problem_line(const trade_plan& plan);

}  // namespace tilewalk::cli
