// SPDX-License-Identifier: Apache-2.0
// Values of a book and their differences for standard shifts of the market, as risk systems take them: by
// revaluation on common random numbers, with the standard error of each difference, and as CRIF rows of ISDA
// SIMM if the market has `simm:`.
//
//     tilewalk::difference_results d = tilewalk::differences(engine, book, market);
//     for (const auto& file : tilewalk::difference_reports()) file.write(std::cout, d);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/engine.h"
#include "tilewalk/market.h"
#include "tilewalk/results.h"

namespace tilewalk {

struct difference_options {
    // Differences for two shifts at once: of two spots, and of a spot and a volatility.
    bool cross_gamma = false, vanna = false;
    // Trades priced together: affects memory (some kilobytes for each shift of a trade) but no figure.
    std::size_t trades_at_once = 4096;
};

struct valued_trade {
    std::string portfolio;             // may be empty
    std::string last_day;              // on which something happens, in ISO form; empty if unknown
    double years_to_last_day = 0;      // ACT/365F
    double years_to_maturity = 0;      // ACT/ACT (ISDA), like ORE
    double to_base = no_figure;        // units of the base currency for one of the trade's
    std::string_view product_class{};  // SIMM's "Equity" if an equity moves the trade, else "RatesFX"
};

struct difference {
    double delta = no_figure, delta_error = no_figure;  // V(up) - V, or by method; 0 for two shifts
    // V(up) - 2 V + V(down); for two shifts V(both) - V(first) - V(second) + V.
    double gamma = no_figure, gamma_error = no_figure;
};
struct difference_row {
    std::size_t trade = 0;             // index in the book
    std::string key, second_key{};     // market keys; "as_of" is the day; second_key is empty for one shift
    double size = 0, second_size = 0;  // shifts of the numbers; of the day, in years
    difference own{}, base{};          // trade's currency, base currency
    // "bump": up and, for gamma, down. "bump_down": V - V(down), if the market can't be moved up.
    std::string_view method = "bump";
    std::uint64_t paths = 0;
};

// A line of CRIF, ISDA's format for SIMM sensitivities.
struct crif_row {
    std::size_t trade = 0;
    std::string_view risk_type;  // "Risk_Equity"
    std::string qualifier, bucket, label1, label2;
    double amount = no_figure, error = no_figure;  // calculation currency
    std::string method = "bump";                   // or the method of the greek_row
};

struct difference_results {
    results values;
    std::vector<valued_trade> trades;      // indexed like the book
    std::string currency;                  // base currency; empty if each trade keeps its own
    std::vector<market_number> numbers{};  // numbers of the market
    std::vector<difference_row> rows{};    // sorted by trade, then like the market's file, the day last
    std::vector<crif_row> crif{};          // sorted by trade
    double base_to_usd = no_figure;
    std::optional<simm_data> simm{};
    // Failed shifts, a sentence each, and remarks.
    std::vector<std::string> failures{}, remarks{};
    error_kind worst = error_kind::input;  // device if a shift failed for that reason
};

// Makes results without differences, of a run that has priced the book.
difference_results valued(const book& trades, const market& in, const results& priced);
// Prices the book and shifts each number of the market that a trade depends on and ORE has a factor for:
// spots and exchange rates by 1 %, volatilities by 0.01, rates and dividend yields by 1 bp, the day by one.
// With `simm:`, volatilities that rate models were fitted to use derivatives. Throws tilewalk::error (input)
// if `simm:` lacks an asset that a trade depends on.
difference_results differences(const engine& by, const book& trades, const market& in,
                               const difference_options& wanted = {}, const run_options& options = {});

}  // namespace tilewalk
