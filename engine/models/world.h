// SPDX-License-Identifier: Apache-2.0
// The future world of one trade: all assets, exchange rates and interest rates that it depends on, each moved
// by its model, under the measure of the trade currency's numeraire. Records the steps between grid times and
// answers the script's questions on each date.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::models {

struct world_needs {
    markets::market_view market;
    std::vector<std::string> assets;           // assets whose spot the script uses
    std::vector<std::string> currencies;       // currencies whose exchange rate the script uses
    std::vector<std::string> rate_currencies;  // currencies of which the script uses only interest rates
    std::string trade_currency;
};

// Moves of a world's sources of noise over the step being recorded: jointly normal, independent between
// steps. Source i moves by sure(i) plus the sum over j <= i of root(i, j) times normals[j].
struct source_moves {
    std::span<const program::value> moves, normals;  // indexed by source
    std::function<std::vector<double>(std::size_t i)> sure;
    std::function<std::vector<double>(std::size_t i, std::size_t j)> root;
};
class hears_moves {
  public:
    virtual ~hears_moves() = default;
    // Called by record_step() while the step is open.
    virtual void hear(const source_moves& of, program::recorder& into) = 0;
};

class world : public language::world {
  public:
    // Adds the stops with which continuous watching over (from, to] is exact.
    virtual void add_stops(double from, double to, std::vector<double>& times) const = 0;

    // Adds times up to `last` at which steps must end. Throws tilewalk::error (input) if data end before.
    virtual void add_breaks(double last, std::vector<double>& times) const = 0;
    // Longest allowed step in years; 0: unlimited.
    virtual double longest_step(std::span<const double> stops) const = 0;

    // Starts recording, with grid[0] = 0. Next comes enter() for each section, and record_step() last.
    virtual void begin(std::vector<double> grid, program::recorder& into) = 0;
    // Enters the open section, which runs after steps: `runs` are its dates or intervals.
    virtual void enter(std::span<const language::occurrence> runs) = 0;
    // Records the step from grid[i] to grid[i + 1] into the open section, which runs once for each i.
    virtual void record_step(hears_moves* by = nullptr) = 0;
    // Assets divided by their forwards at the end of the path, if the mean of recorded paths is known to be 1
    // for any step length. Leaves out lognormal assets, which the moves determine. Called after
    // record_step(), in a section after steps.
    virtual std::vector<program::value> ratios() = 0;

    // Bound on the error of an option from time steps if the world has one asset, in basis points of the
    // spot: 0 if paths and all answers about intervals are exact, empty if unknown. Valid after all sections.
    virtual std::optional<double> steps_leave() const = 0;

    virtual std::vector<std::string> describe() const = 0;

    // Correlations that the moves depend on, each pair of factors once, sorted by name.
    virtual std::vector<correlation_taken> correlations() const = 0;
    // Curves, spots and volatilities at given times, to show to people.
    struct market_numbers {
        std::vector<currency_numbers> currencies;
        std::vector<asset_numbers> assets;
        std::vector<exchange_rate_numbers> exchange_rates;
    };
    virtual market_numbers numbers_at(std::span<const double> years) const = 0;

    bool is_past() const override { return false; }
};

std::unique_ptr<world> make_world(const world_needs& from);

}  // namespace tilewalk::models
