// SPDX-License-Identifier: Apache-2.0
// The stages by which a run finds sensitivities, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/crew.h"
#include "engine/decide/controls/moving_controls.h"
#include "engine/decide/inner_options.h"
#include "engine/decide/settled.h"
#include "engine/market/market_view.h"
#include "engine/plan/measures.h"
#include "engine/reading/written_market.h"
#include "engine/study/estimate.h"
#include "engine/study/greeks/jumping_trade.h"
#include "engine/study/price.h"
#include "engine/study/session/progress_of_walks.h"

namespace tilewalk::studies {

struct asked_number {
    const markets::keyed_number* number;
    greeks::risk_number risk;
};

struct asked_greeks {
    greek_method by;
    std::vector<asked_number> numbers{};  // every number of the market that is a risk factor
    std::vector<bool> is_wanted{};        // for each of `numbers`
    bool is_theta_wanted = false;
    std::vector<std::string> second_order{};  // the measures asked for, such as gamma

    const std::string& key(std::size_t n) const { return numbers[n].number->key; }
    std::vector<std::string> keys(std::span<const std::size_t> of) const;
};
// Settings of an inner run, whose results are differenced or averaged into another run's sensitivities.
struct outer_greeks {
    const asked_greeks& asked;
    double share = 1, widths = 1;         // factors on the moves of numbers and on smoothing widths
    double least_gain = 0;                // by which a control must divide the paths needed
    moving_controls* controls = nullptr;  // null if the inner run is on another day
};
// In an inner run, moves are outer->share times those of `outer`. Throws tilewalk::error (usage) if a wish
// fits no measure and no key of the market.
asked_greeks greeks_asked(const greek_options& options, const market& in,
                          const std::optional<outer_greeks>& outer);

struct greek_run {
    const resources& with;
    const book& trades;
    const market& in;
    const greek_options& wanted;
    const inner_options& options;
    const std::optional<part_of_run> part{};
    const std::optional<outer_greeks> outer{};

    const asked_greeks asked = greeks_asked(wanted, in, outer);
    const settled whole = settle(options, state_of(trades), {&in, 1});
    const settled run = part ? part_of(whole, *part) : whole;  // the whole run or one part
    const std::shared_ptr<greeks::adjoint_store> adjoints = with.adjoints();
    progress_of_walks progress{options, trades.size()};
    moving_controls controls{
        in, {run, with.operations(), options.cancel, jumps(), &with.passed()}, options.work.get()};

    const books::trade& trade(std::size_t i) const { return state_of(trades).trades[i]; }
    bool states_bias() const { return !outer; }
    jumps_of_controls jumps() const;
    // Calls of_one(i) for i in [0, count) on the threads of the run.
    template <class task>
    void each(std::size_t count, const task& of_one) const {
        threads::for_each(count, run.threads, options.cancel, [&](int, std::uint64_t i) { of_one(i); }, {});
    }
    // Prices trades in these markets as a later walk, and adds its path-steps to the manifest of `to`.
    std::vector<priced_book> walk(const book& some, std::span<const market> markets, const stages& by,
                                  results& to);
};

// A number whose sensitivity is a difference of prices; true if the number is known to move a jump.
using bumped = std::pair<std::size_t, bool>;

struct way_of_trade {
    std::vector<std::size_t> numbers{};  // numbers whose derivatives come from paths
    std::vector<double> certain{};       // their derivatives, if the trade walks no paths
    bool has_kinks = false;
    std::optional<jumping_trade> jumping{};
    std::vector<bumped> bumps{};
};
// Adds adjoints or tangents to plans of trades that don't jump. Returns by trade how derivatives are found.
std::vector<way_of_trade> add_ways_back(greek_run& run, planned_run& to, const stages& by);

using rows_by_trade = std::vector<std::vector<greek_row>>;
using numbered_rows = std::vector<std::map<std::size_t, greek_row>>;  // by trade and number of the market

// Makes the sensitivity rows of a run from derivatives.
struct greek_rows {
    const greek_run& run;
    const results& of;
    const decide::decided_by_trade& decided;

    // Returns a row without a value.
    greek_row named(std::size_t trade, std::size_t number, const char* method) const;
    // Returns what a derivative of 1 per unit of the trade makes in the row.
    double scale(std::size_t trade, std::size_t number) const;
    void fill(greek_row& row, std::size_t trade, std::size_t number, studies::estimate of_unit) const;
    // Returns the row of the number way.numbers[k].
    greek_row pathwise(std::size_t trade, const way_of_trade& way, std::size_t k,
                       const std::vector<std::vector<double>>& derivatives) const;
    greek_row treated(std::size_t trade, const way_of_trade& way, std::size_t k, treatment by,
                      const found_by_treatment& found) const;
};

// Sets the row's value, error and part means. Fails the row if the value is not finite.
void set_value(greek_row& row, studies::estimate of, const run_manifest& manifest);
greek_row failed(greek_row row, const std::string& why, error_kind kind);
std::string no_other_market(const std::string& key);
// Returns the bias of a smoothed value, given the value at twice the width. It is taken as linear in the
// width, as if no path ends on one side of the jump. Elsewhere it goes with up to the fourth power.
double bias_of_smoothing(double value, double wide);
// Least relative error of a derivative with a control, whose mean is differenced numerically.
inline constexpr double least_share_of_error = 1e-8;
std::vector<std::size_t> priced_in(const results& of);

// Adds rows of price differences, except for numbers shown to move nothing. Moved markets reuse the decisions
// of run.in, where `to` has prices: a policy that is best there changes no value to the first order.
void add_bumped(greek_run& run, const std::vector<way_of_trade>& ways,
                const decide::decided_by_trade& decided, results& to, numbered_rows& rows);

// `by` has the stages of prices, `decided` today's policies, `to` today's prices.
void add_theta(greek_run& run, const stages& by, const decide::decided_by_trade& decided, results& to,
               rows_by_trade& rows);

// Finds first-order sensitivities with moves and smoothing widths scaled by `share` and `widths`.
using first_order = std::function<results(const book& trades, const market& in, std::vector<std::string> keys,
                                          double share, double widths)>;
struct second_order_run {
    const greek_run& of;
    const std::vector<markets::market_reads>& reads;  // by trade
    first_order sensitivities;
};
// `to` has the prices of the trades.
void add_second_order(rows_by_trade& rows, results& to, const second_order_run& run);

// Cost of walking all parts, in walks of the run: a quarter of the parts is walked twice.
inline constexpr double walks_by_parts = 1.25;
using walk_of_part =
    std::function<results(const book& some, const part_of_run& part, const inner_options& how)>;
// Replaces rows of trades with rights by means over parts of the run. Each part trains its own policy, so the
// spread of the parts contains the error of training. `to` has the prices.
void take_from_parts(greek_run& run, const walk_of_part& walk, results& to, rows_by_trade& rows);

}  // namespace tilewalk::studies
