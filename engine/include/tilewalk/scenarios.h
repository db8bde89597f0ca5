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
#include <string>
#include <vector>

#include "tilewalk/market_numbers.h"
#include "tilewalk/results.h"
#include "tilewalk/scenario_list.h"

namespace tilewalk {

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

}  // namespace tilewalk
