// SPDX-License-Identifier: Apache-2.0
// The world to come of one trade: every asset, exchange rate and interest rate that it depends on, each moved
// by its model, under the measure of the trade currency's numeraire. It records how they move from one grid
// time to the next and answers the script's questions on each date.
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

// The assets, currencies and rates that a trade depends on.
struct world_needs {
    markets::market_view market;
    std::vector<std::string> assets;           // that the script asks a spot of
    std::vector<std::string> currencies;       // that it asks an exchange rate of
    std::vector<std::string> rate_currencies;  // that it asks interest rates alone of
    std::string trade_currency;
};

// The moves of a world's sources of noise over the step that is being recorded. They are jointly normal and
// independent of other steps: of source i a sure part, and the sum over j up to i of root(i, j) times normal
// j.
struct source_moves {
    std::span<const program::value> moves, normals;  // by source
    // By step.
    std::function<std::vector<double>(std::size_t i)> sure;
    std::function<std::vector<double>(std::size_t i, std::size_t j)> root;
};
class hears_moves {
  public:
    virtual ~hears_moves() = default;
    // The step is open.
    virtual void hear(const source_moves& of, program::recorder& into) = 0;
};

class world : public language::world {
  public:
    // Adds the times at which a path watched continuously over (from, to] has to stop for the watching to be
    // exact.
    virtual void add_stops(double from, double to, std::vector<double>& times) const = 0;

    // Adds the times up to `last` at which every path has to stop, watched or not. Throws tilewalk::error
    // (input) if the market does not say how things go on until then.
    virtual void add_breaks(double last, std::vector<double>& times) const = 0;
    // The longest step of a path from stop to stop; 0: as long as may be.
    virtual double longest_step(std::span<const double> stops) const = 0;

    // Recording: first begin with the grid (grid[0] is 0), then each section in turn through enter, last the
    // step.
    virtual void begin(std::vector<double> grid, program::recorder& into) = 0;
    // The runs of the section that is open now.
    virtual void enter(std::span<const language::occurrence> runs) = 0;
    // Records the step from grid[i] to grid[i + 1] into the open section; it runs once for each i.
    virtual void record_step(hears_moves* by = nullptr) = 0;
    // Assets over their forward prices at the end of the path, those of which the mean is known to be 1 on
    // paths as they are recorded, however long steps are. One that is an exponential of its moves is left
    // out: its law is that of a sum of them. Asked for once the step is recorded, in a section that follows
    // it.
    virtual std::vector<program::value> ratios() = 0;

    // The error of an option on the world's one asset from time steps, in basis points of the spot: 0 where
    // paths are exact between dates, whatever is paid, and so are all answers about intervals; empty if not
    // measured. Valid once every section is recorded.
    virtual std::optional<double> steps_leave() const = 0;

    // The models that move assets and rates, one line each and what is to be known of them and of what was
    // recorded, for people.
    virtual std::vector<std::string> describe() const = 0;

    // The correlations that its moves depend on, each pair of factors once, in the order of their names.
    virtual std::vector<correlation_taken> correlations() const = 0;
    // Curves, spots and volatilities at each of these times, for people.
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
