// SPDX-License-Identifier: Apache-2.0
// Sensitivities as risk systems take them: prices of a book, and their differences when a market number is
// shifted by a standard size. Trades are revalued on common random numbers; each difference has a standard
// error. If the market has a section `simm:`, there are CRIF rows for ISDA SIMM as well.
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
    // Add differences for two shifts at once: of two spots (cross gamma), of a spot and a volatility (vanna).
    bool cross_gamma = false, vanna = false;
    // Trades priced together: changes memory (some kilobytes for each shift of a trade) but no figure.
    std::size_t trades_at_once = 4096;
};

struct valued_trade {
    std::string portfolio;             // may be empty
    std::string last_day;              // last day of an event of the trade, in ISO form; empty if unknown
    double years_to_last_day = 0;      // by ACT/365F
    double years_to_maturity = 0;      // to last_day by ACT/ACT (ISDA), as in ORE
    double to_base = no_figure;        // value of one unit of the trade's currency in the base currency
    std::string_view product_class{};  // in SIMM: "Equity" if an equity moves the trade, else "RatesFX"
};

struct difference {
    // V(up) - V, with V the unshifted price; see difference_row::method; 0 for two shifts
    double delta = no_figure, delta_error = no_figure;
    // V(up) - 2 V + V(down); for two shifts V(both) - V(first) - V(second) + V.
    double gamma = no_figure, gamma_error = no_figure;
};
struct difference_row {
    std::size_t trade = 0;  // index in the book
    // market keys of the shifts; second_key: empty for one shift; "as_of": the day
    std::string key, second_key{};
    double size = 0, second_size = 0;  // amounts of the shifts; years for "as_of"
    difference own{}, base{};          // in the trade's currency, in the base currency
    // "bump": shifts up and, for gamma, down. "bump_down": delta is V - V(down), if up is no valid market.
    std::string_view method = "bump";
    std::uint64_t paths = 0;
};

// A line of CRIF, ISDA's format for SIMM sensitivities.
struct crif_row {
    std::size_t trade = 0;
    std::string_view risk_type;  // "Risk_Equity"
    std::string qualifier, bucket, label1, label2;
    double amount = no_figure, error = no_figure;  // in the calculation currency of SIMM
    std::string method = "bump";                   // "bump", or greek_row::method of a derivative
};

struct difference_results {
    results values;
    std::vector<valued_trade> trades;      // in the order of the book
    std::string currency;                  // base currency; empty if each trade keeps its own
    std::vector<market_number> numbers{};  // numbers of the unshifted market
    std::vector<difference_row> rows{};    // sorted by trade, then as in the market's file, "as_of" last
    std::vector<crif_row> crif{};          // sorted by trade
    double base_to_usd = no_figure;
    std::optional<simm_data> simm{};
    // A sentence for each failed shift, and remarks.
    std::vector<std::string> failures{}, remarks{};
    error_kind worst = error_kind::input;  // device if a GPU failed during a shift
};

// Makes difference_results without differences from `priced`, the prices of the book in the market `in`.
difference_results valued(const book& trades, const market& in, const results& priced);
// Prices the book, and again with each number shifted that a trade depends on and ORE has a factor for: spots
// and exchange rates by 1 %, volatilities by 0.01, rates and dividend yields by 1 bp, the day by one. SIMM's
// vegas to the volatilities that a rate model was fitted to are derivatives instead. Throws tilewalk::error
// (input) if `simm:` lacks an asset that a trade depends on.
difference_results differences(const engine& by, const book& trades, const market& in,
                               const difference_options& wanted = {}, const run_options& options = {});

}  // namespace tilewalk
