// SPDX-License-Identifier: Apache-2.0
// Scenarios: what a book gains or loses in other markets, revalued in full on the same random numbers, with
// the error of each gain, and the tail of gains over many scenarios.
//
//     tilewalk::market in = tilewalk::market::load("market.yaml");
//     auto asked = tilewalk::scenario_list::load("scenarios.yaml", in);
//     tilewalk::scenario_results r = engine.scenarios(book, in, asked);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/load_options.h"
#include "tilewalk/market.h"
#include "tilewalk/results.h"

namespace tilewalk {

// A market by its differences from a base market.
struct scenario {
    std::string set;   // that it belongs to, such as "stress", "ladder" and "history"
    std::string name;  // no other scenario of the set has it
    std::vector<market_change> changes{};
    int days = 0;  // that pass
    // The days between which the market moved so, in ISO form; empty where there are none.
    std::string first_day{}, last_day{};
};

// Scenarios in order, and what is to be told of them.
struct scenario_list {
    std::vector<scenario> scenarios;
    // Sets whose scenarios are equally likely, so that their gains have a tail.
    std::vector<std::string> likely_sets{};
    std::vector<double> levels{0.01, 0.025, 0.05};  // parts of a likely set that are its tail
    // All gains are converted into this currency, too; empty: each stays in its own.
    std::string currency{};
    bool explains = false;  // gains by sensitivities
    // Gains are added to and subtracted from one another, as for differences of the second order: scenarios
    // keep the paths of small moves where no day passes, and the results hold the gains of parts.
    bool for_differences = false;
    std::vector<input_file> inputs{};    // files that it was read from
    std::vector<std::string> remarks{};  // on what was read, a sentence each

    // A file of scenarios, in YAML or CSV, whose relative moves count from `base`. Throws tilewalk::error
    // (input) for a key that the market does not have, naming the nearest.
    static scenario_list load(const std::filesystem::path& file, const market& base,
                              const load_options& options = {});
    // The same from text; files that it names are looked for in `folder`.
    static scenario_list parse(std::string_view yaml, const std::string& name, const market& base,
                               const std::filesystem::path& folder = {}, const load_options& options = {});
};

// A trade in a scenario in which it could not be priced.
struct failed_gain {
    std::size_t scenario = 0, trade = 0;
    std::string message;
    error_kind kind = error_kind::internal;
};

// The gains of some trades together, in one currency, by scenario.
struct portfolio_gains {
    std::string portfolio;  // empty: the whole book
    std::string currency;
    bool is_converted = false;          // from the currencies of the trades
    std::vector<std::size_t> trades{};  // by their places in the book
    double base_value = 0;              // of those priced in the base market
    std::vector<double> gains{};        // by scenario, without trades that failed there or in the base market
    std::vector<double> errors{};       // standard errors of these; none where the paths show none
    std::vector<std::size_t> failed{};  // trades by scenario
    // The mean gain of each part of the run: those of scenario s begin at s * parts. Parts of a run are the
    // same paths in every scenario and for every trade. Empty where nothing random is in it.
    std::vector<double> means_of_parts{};
    std::size_t parts = 0;
};

// A figure of a tail, as a gain: losses are negative.
struct tail_figure {
    double value = no_figure;
    double noise = no_figure;     // standard error for the paths that each gain is from
    double sampling = no_figure;  // standard error for the scenarios, which are few
};
struct tail {
    double level = 0;
    tail_figure quantile;   // value at risk: the gain that this part of the scenarios does not exceed
    tail_figure shortfall;  // the mean of the gains up to the quantile
    std::size_t at = 0;     // the scenario whose gain the quantile is
};

// The share of a trade in a tail: components add up to the figure of the portfolio, and the incremental
// figure is what the portfolio's is more with the trade than without.
struct trade_in_tail {
    std::size_t trade = 0;
    double level = 0;
    double component_quantile = no_figure, component_quantile_error = no_figure;
    double component_shortfall = no_figure, component_shortfall_error = no_figure;  // the latter at most
    double incremental_quantile = no_figure, incremental_shortfall = no_figure;
};

// The tails of a likely set for a portfolio in a currency.
struct portfolio_risk {
    std::string set, portfolio, currency;
    bool is_converted = false;
    std::size_t scenarios = 0;
    std::vector<tail> tails;            // by level
    std::vector<trade_in_tail> shares;  // by level and trade
    std::vector<std::size_t>
        left_out{};  // trades that are not priced in the base market and every scenario of the set
};

// The gain of a portfolio as its sensitivities explain it, to the second order, and what they leave.
struct explained_gain {
    std::size_t scenario = 0;
    std::string portfolio, currency;
    double gain = 0, error = 0;
    std::vector<double> by_measure;  // as scenario_results::measures has them
    double left = 0;
};

struct scenario_results {
    std::vector<scenario> scenarios;
    // Prices in the base market, with the sensitivities that explain gains; its manifest is that of the whole
    // request.
    results base;
    std::vector<market_number> numbers{};  // of the base market, where gains are explained
    // By scenario and trade: gain of scenario s and trade t at s * trades + t, in the trade's currency and
    // with its quantity, with its standard error. None where it failed.
    std::vector<double> gains, errors;
    // The same in the currency into which all are converted; empty where no conversion is asked for.
    std::vector<double> converted_gains{}, converted_errors{};
    // By scenario and trade, for differences: the mean gain of each part of the run, from which the error of
    // a sum of gains follows. Empty where nothing random is in the gain.
    std::vector<std::vector<double>> gain_parts{}, converted_gain_parts{};
    std::uint64_t part_paths = 0;         // of a part, for differences
    std::vector<std::string> portfolios;  // by trade; empty: none
    std::vector<failed_gain> failures;
    std::vector<portfolio_gains> totals;  // the whole book first, then portfolios, each by currency
    std::vector<portfolio_risk> risks;
    std::vector<std::string> measures;  // of the explanation, in order
    std::vector<explained_gain> explained;
    std::vector<input_file> inputs;    // of the scenarios
    std::vector<std::string> remarks;  // facts to know, a sentence each, such as of trades that no GPU walked

    std::size_t trades() const { return base.rows.size(); }
    double gain(std::size_t scenario, std::size_t trade) const { return gains[scenario * trades() + trade]; }
    double error_of_gain(std::size_t scenario, std::size_t trade) const {
        return errors[scenario * trades() + trade];
    }
    // Trades that failed in the base market, and failures in scenarios.
    std::size_t failed() const { return base.failed() + failures.size(); }
};

// For people a table of tails and of the gains of all scenarios, the worst first; in CSV a line for each
// scenario and trade; in JSON everything.
void write(std::ostream& out, const scenario_results& r, output_format format, const text_form& form = {});

// A file that a risk system reads, or that holds more than it reads.
struct scenario_report {
    std::string_view file;     // its name, such as "var.csv"
    std::string_view meaning;  // a sentence for docs/scenarios.md
    void (*write)(std::ostream& out, const scenario_results& r);
};
std::span<const scenario_report> scenario_reports();

}  // namespace tilewalk
