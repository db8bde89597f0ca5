// SPDX-License-Identifier: Apache-2.0
// Shared by commands with a book: loads the book, settings and market, and plans trades without pricing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/cli/settings.h"
#include "tilewalk/engine.h"
#include "tilewalk/timings.h"

namespace tilewalk::cli {

struct chosen_book {
    book trades;
    settings with;
    std::string file;
    std::vector<market_change> changes{};  // to the market
};
// Reads standard input for "-". Keeps only the trades that --trade names.
chosen_book load_book(const std::string& book_file, const spoken& options, timings* times = nullptr);

// Throws tilewalk::error (usage) if neither the settings nor the book name a market.
void check_market(const chosen_book& of);
// Prints a remark if the book has no trades. Strict reading has refused such a book.
void check_trades(const chosen_book& of);
market market_of(const chosen_book& of, timings* times = nullptr);
std::vector<std::filesystem::path> inputs_of(const chosen_book& of, const market& in);
void complain_of_remarks(const market& of);

// Prints a line on standard error with the correlations that the market lacks, which count as 0.
void complain_of_correlations(const std::vector<factor_pair>& missing);
void complain_of_few_parts(const results& r);

std::vector<trade_plan> plan(const chosen_book& of, const market& in);

// Returns "book.yaml:12:5: trade c1: unknown asset 'ACMEE'", say.
std::string problem_line(const trade_problem& problem);

}  // namespace tilewalk::cli
