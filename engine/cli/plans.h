// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that take a book: its settings and market, and planning it with nothing priced.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/cli/settings.h"
#include "tilewalk/engine.h"
#include "tilewalk/timings.h"

namespace tilewalk::cli {

// A book with the settings that a command is to use.
struct chosen_book {
    book trades;
    settings with;
    std::string file;
    std::vector<market_change> changes{};  // of the market
};
// "-" is standard input. Takes the trades that --trade names.
chosen_book load_book(const std::string& book_file, const spoken& options, timings* times = nullptr);

// Throws tilewalk::error (usage) if neither the settings nor the book name a market.
void check_market(const chosen_book& of);
// Remarks on a book without trades, which is refused where files are read strictly.
void check_trades(const chosen_book& of);
market market_of(const chosen_book& of, timings* times = nullptr);
// Files that are read to price it.
std::vector<std::filesystem::path> inputs_of(const chosen_book& of, const market& in);
// Tells what there is to know of the market, on standard error.
void complain_of_remarks(const market& of);

// Tells of correlations that were taken as 0 because the market states none, in one line on standard error.
void complain_of_correlations(const std::vector<factor_pair>& missing);
// Too few parts for the errors of sensitivities.
void complain_of_few_parts(const results& r);

std::vector<trade_plan> plan(const chosen_book& of, const market& in);

// "book.yaml:12:5: trade c1: unknown asset 'ACMEE'"
std::string problem_line(const trade_problem& problem);

}  // namespace tilewalk::cli
