// SPDX-License-Identifier: Apache-2.0
// Scenarios: gains of a book in other markets, by full revaluation on common random numbers, with the error
// of each gain and tail figures.
//
//     tilewalk::market in = tilewalk::market::load("market.yaml");
//     auto asked = tilewalk::scenario_list::load("scenarios.yaml", in);
//     tilewalk::scenario_results r = engine.scenarios(book, in, asked);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/market.h"
#include "tilewalk/market_numbers.h"
#include "tilewalk/options.h"
#include "tilewalk/results.h"

namespace tilewalk {

struct scenario {
    std::string set;   // "stress", "ladder", "history" or another
    std::string name;  // unique in its set
    std::vector<market_change> changes{};
    int days = 0;  // days that pass
    // For a historical scenario: days between which the market moved like this, in ISO form; else empty.
    std::string first_day{}, last_day{};
};

struct scenario_list {
    std::vector<scenario> scenarios;
    // Sets whose scenarios are equally likely; only these sets have tail figures.
    std::vector<std::string> likely_sets{};
    std::vector<double> levels{0.01, 0.025, 0.05};  // tail probabilities
    // Currency to convert gains into; empty: no conversion.
    std::string currency{};
    bool explains = false;  // explain gains by sensitivities
    // True if gains will be added and subtracted, as in second-order differences. All scenarios without a
    // passing day then use the same paths, and results hold the gains of each part of the run.
    bool for_differences = false;
    std::vector<input_file> inputs{};    // files that were read
    std::vector<std::string> remarks{};  // a sentence each

    // Reads YAML or CSV. Relative moves start from `base`. Throws tilewalk::error (input) for an unknown key.
    static scenario_list load(const std::filesystem::path& file, const market& base,
                              const load_options& options = {});
    static scenario_list parse(std::string_view yaml, const std::string& name, const market& base,
                               const std::filesystem::path& folder = {}, const load_options& options = {});
};

struct failed_gain {
    std::size_t scenario = 0, trade = 0;
    std::string message;
    error_kind kind = error_kind::internal;
};

// Gains of a portfolio in one currency, by scenario.
struct portfolio_gains {
    std::string portfolio;  // empty for the whole book
    std::string currency;
    bool is_converted = false;          // gains were converted into `currency`
    std::vector<std::size_t> trades{};  // indexes in the book
    double base_value = 0;              // value of trades priced in the base market
    std::vector<double> gains{};        // by scenario; without trades that failed there or in the base market
    std::vector<double> errors{};       // standard errors by scenario; missing if the paths do not show one
    std::vector<std::size_t> failed{};  // number of failed trades, by scenario
    // Mean gain of each part of the run; those in scenario s start at s * parts. A part has the same paths in
    // every scenario and for every trade. Empty if nothing is random.
    std::vector<double> means_of_parts{};
    std::size_t parts = 0;
};

// A tail figure, as a gain: losses are negative.
struct tail_figure {
    double value = no_figure;
    double noise = no_figure;     // standard error from the paths behind each gain
    double sampling = no_figure;  // standard error from the finite number of scenarios
};
struct tail {
    double level = 0;
    tail_figure quantile;   // value at risk: the gain that this fraction of scenarios does not exceed
    tail_figure shortfall;  // expected shortfall: mean of the gains up to the quantile
    std::size_t at = 0;     // index of the scenario with the quantile
};

// A trade's share in its portfolio's tail. Components of all trades sum to the portfolio's figure; an
// incremental figure is the portfolio's figure minus the figure without the trade.
struct trade_in_tail {
    std::size_t trade = 0;
    double level = 0;
    double component_quantile = no_figure, component_quantile_error = no_figure;
    // The error is an upper bound.
    double component_shortfall = no_figure, component_shortfall_error = no_figure;
    double incremental_quantile = no_figure, incremental_shortfall = no_figure;
};

struct portfolio_risk {
    std::string set, portfolio, currency;
    bool is_converted = false;
    std::size_t scenarios = 0;
    std::vector<tail> tails;              // by level
    std::vector<trade_in_tail> shares;    // by level, then trade
    std::vector<std::size_t> left_out{};  // trades that failed in the base market or a scenario of the set
};

// The gain of a portfolio split by its sensitivities up to second order.
struct explained_gain {
    std::size_t scenario = 0;
    std::string portfolio, currency;
    double gain = 0, error = 0;
    std::vector<double> by_measure;  // in the order of scenario_results::measures
    double left = 0;
};

struct scenario_results {
    std::vector<scenario> scenarios;
    // Prices in the base market, and sensitivities that explain gains. The manifest covers the whole run.
    results base;
    std::vector<market_number> numbers{};  // numbers of the base market; empty unless gains are explained
    // Gain of trade t in scenario s, at s * trades() + t, in the trade's currency and for its whole quantity.
    std::vector<double> gains, errors;
    // The same gains and errors in scenario_list::currency; empty without conversion.
    std::vector<double> converted_gains{}, converted_errors{};
    // If for_differences: mean gain of each part of the run, indexed like `gains`; empty if not random.
    std::vector<std::vector<double>> gain_parts{}, converted_gain_parts{};
    std::uint64_t part_paths = 0;         // paths per part; only if for_differences
    std::vector<std::string> portfolios;  // by trade; an empty name if it has none
    std::vector<failed_gain> failures;
    std::vector<portfolio_gains> totals;  // by currency: the whole book, then its portfolios
    std::vector<portfolio_risk> risks;
    std::vector<std::string> measures;  // measures that explain gains
    std::vector<explained_gain> explained;
    std::vector<input_file> inputs;
    std::vector<std::string> remarks;  // a sentence each, such as on trades that no GPU walked

    std::size_t trades() const { return base.rows.size(); }
    double gain(std::size_t scenario, std::size_t trade) const { return gains[scenario * trades() + trade]; }
    double error_of_gain(std::size_t scenario, std::size_t trade) const {
        return errors[scenario * trades() + trade];
    }
    std::size_t failed() const { return base.failed() + failures.size(); }
};

}  // namespace tilewalk
