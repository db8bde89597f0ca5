// SPDX-License-Identifier: Apache-2.0
// A model is a world to come: it says how spots move from one grid time to the next, by recording it into the
// program, and answers the script's questions on each date. It is written once and runs on every back end.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/market/market_state.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"

namespace tilewalk::models {

// What a trade needs of its world.
struct request {
    const markets::market_state& market;
    std::vector<std::string> assets;      // whose spot is asked for
    std::vector<std::string> currencies;  // whose exchange rate is asked for
    std::string trade_currency;
};

class model : public language::world {
  public:
    // Adds the times at which a path watched continuously over (from, to] has to stop for the watching to be
    // exact.
    virtual void add_stops(double from, double to, std::vector<double>& times) const = 0;

    // Adds the times up to `last` at which every path has to stop, watched or not. Throws tilewalk::error
    // (input) if the market does not say how things go on until then.
    virtual void add_breaks(double last, std::vector<double>& times) const = 0;

    // Recording: first begin with the grid (grid[0] is 0), then each section in turn through enter, last the
    // step.
    virtual void begin(std::vector<double> grid, program::recorder& into) = 0;
    // The runs of the section that is open now.
    virtual void enter(std::span<const language::occurrence> runs) = 0;
    // Records the step from grid[i] to grid[i + 1] into the open section; it runs once for each i.
    virtual void record_step() = 0;

    bool is_past() const override { return false; }
};

struct catalogue_entry {
    std::string_view name;
    std::string_view summary;
    std::unique_ptr<model> (*make)(const request& from);
};
// Every model; the first is the one a market without further say gets.
std::span<const catalogue_entry> catalogue();

}  // namespace tilewalk::models
