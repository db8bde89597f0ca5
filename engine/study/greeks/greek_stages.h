// SPDX-License-Identifier: Apache-2.0
// The stages of a run of sensitivities, in their order: what is asked for, ways back of trades, treatments of
// their jumps, rows, differences of prices, of the second order, of two days, and of parts of the run.
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
#include "engine/decide/settled.h"
#include "engine/market/market_view.h"
#include "engine/plan/measures.h"
#include "engine/reading/written_market.h"
#include "engine/study/estimate.h"
#include "engine/study/greeks/jumping_trade.h"
#include "engine/study/price.h"
#include "engine/study/session/progress_of_walks.h"

namespace tilewalk::verbs {

struct asked_number {
    const markets::keyed_number* number;
    greeks::risk_number risk;
};

struct asked_greeks {
    greek_method by;
    std::vector<asked_number> numbers{};  // all of the market that are a risk
    std::vector<bool> is_wanted{};        // by number: the sensitivity to it
    bool is_theta_wanted = false;
    std::vector<std::string> second_order{};  // measures

    const std::string& key(std::size_t n) const { return numbers[n].number->key; }
    std::vector<std::string> keys(std::span<const std::size_t> of) const;
};
// A run whose sensitivities are differences or means of those of other runs, as these know it.
struct outer_greeks {
    const asked_greeks& asked;
    double share = 1, widths = 1;         // of its moves, and of its widths of smoothing
    double least_gain = 0;                // of controls
    moving_controls* controls = nullptr;  // null: of another day
};
// Numbers move by the share of their moves in the outer run, so that differences of the two are over the same
// distances. Throws tilewalk::error (usage) for a wish that fits no measure and no key.
asked_greeks greeks_asked(const greek_options& options, const market& in,
                          const std::optional<outer_greeks>& outer);

struct greek_run {
    const resources& with;
    const book& trades;
    const market& in;
    const greek_options& wanted;
    const run_options& options;
    const std::optional<part_of_run> part{};
    const std::optional<outer_greeks> outer{};

    const asked_greeks asked = greeks_asked(wanted, in, outer);
    const settled whole = settle(options, trades.state(), {&in, 1});
    const settled run = part ? part_of(whole, *part) : whole;  // what is walked
    const std::shared_ptr<greeks::adjoint_store> adjoints = with.adjoints();
    progress_of_walks progress{options, trades.size()};
    moving_controls controls{
        in, {run, with.operations(), options.cancel, jumps(), &with.passed()}, options.work.get()};

    const books::trade& trade(std::size_t i) const { return trades.state().trades[i]; }
    // Whether rows tell the bias of differences of prices and of smoothing.
    bool states_bias() const { return !outer; }
    jumps_of_controls jumps() const;
    // Calls of_one(i) for i in [0, count), on the threads of the run.
    template <class task>
    void each(std::size_t count, const task& of_one) const {
        threads::for_each(count, run.threads, options.cancel, [&](int, std::uint64_t i) { of_one(i); }, {});
    }
    // Prices some trades in these markets, as a walk after the first, and adds the steps of that.
    std::vector<priced_book> walk(const book& some, std::span<const market> markets, const stages& by,
                                  results& to);
};

// A number of the market that a trade has no derivative of paths to, and whether it is known to move a jump.
using bumped = std::pair<std::size_t, bool>;

struct way_of_trade {
    std::vector<std::size_t> numbers{};  // of the market: paths give derivatives to them
    std::vector<double> certain{};       // these, if the trade needs no path
    bool has_kinks = false;
    std::optional<jumping_trade> jumping{};
    std::vector<bumped> bumps{};
};
// By trade. Plans get their ways back or tangents, but for those of jumping trades.
std::vector<way_of_trade> add_ways_back(greek_run& run, planned_run& to, const stages& by);

using rows_by_trade = std::vector<std::vector<greek_row>>;
using numbered_rows = std::vector<std::map<std::size_t, greek_row>>;  // by trade and number of the market

// Makes rows of the first order.
struct greek_rows {
    const greek_run& run;
    const results& of;
    const decide::decided_by_trade& decided;

    // Without a value.
    greek_row named(std::size_t trade, std::size_t number, const char* method) const;
    // The value of a row, if the derivative of one unit to the number is 1.
    double scale(std::size_t trade, std::size_t number) const;
    // From the derivative of one unit.
    void fill(greek_row& row, std::size_t trade, std::size_t number, studies::estimate of_unit) const;
    // Number `k` of those that paths give derivatives to, by number and part.
    greek_row pathwise(std::size_t trade, const way_of_trade& way, std::size_t k,
                       const std::vector<std::vector<double>>& derivatives) const;
    // The same with its jumps treated so.
    greek_row treated(std::size_t trade, const way_of_trade& way, std::size_t k, treatment by,
                      const found_by_treatment& found) const;
};

// The value of an estimate, the mean of its parts, and its error. Not finite: the row has failed.
void set_value(greek_row& row, studies::estimate of, const run_manifest& told);
greek_row failed(greek_row row, const std::string& why, error_kind kind);
// Why a number has no difference.
std::string no_other_market(const std::string& key);
// The bias of a value that smoothing found, from the value that smoothing twice as wide finds. It goes with
// the fourth power of the width, or, where a payoff has a kink near a jump, with a lower one, or, where no
// path ends on one side of it, as between two barriers, with the first: here, the first.
double bias_of_smoothing(double value, double wide);
// The derivative of a control's mean is a difference: an error is never said to be less than such a share of
// the derivative.
inline constexpr double least_share_of_error = 1e-8;
// The places of the trades that have not failed.
std::vector<std::size_t> priced_in(const results& of);

// Adds the rows of bumps, but for numbers that are shown to move nothing. Moved markets follow what is
// decided in this one: rights are used in each as is best in this one, which changes no value to the first
// order. `to` has the prices of this market.
void add_bumped(greek_run& run, const std::vector<way_of_trade>& ways,
                const decide::decided_by_trade& decided, results& to, numbered_rows& rows);

// Adds a row for each trade that has a price today, which is in `to`: its difference to the price of the next
// day. `by` are the stages of prices, and `decided` has today's policies.
void add_theta(greek_run& run, const stages& by, const decide::decided_by_trade& decided, results& to,
               rows_by_trade& rows);

// Sensitivities of the first order of some trades to some keys in another market. Numbers move by
// `share` of the usual move where these are differences of prices; jumps that are smoothed are so by
// `widths` times the usual widths.
using first_order = std::function<results(const book& trades, const market& in, std::vector<std::string> keys,
                                          double share, double widths)>;
struct second_order_run {
    const greek_run& of;
    const std::vector<markets::market_reads>& reads;  // by trade
    first_order sensitivities;
};
// Adds the rows of the measures that are asked for. `to` has the prices of the trades.
void add_second_order(rows_by_trade& rows, results& to, const second_order_run& run);

// All parts walk so much, in walks of the run: some are walked again by other policies.
inline constexpr double walks_by_parts = 1.25;
// Finds the sensitivities of some trades on a part of the run.
using walk_of_part =
    std::function<results(const book& some, const part_of_run& part, const run_options& how)>;
// Takes the rows of trades with rights, whose prices are in `to`, from parts of the run that follow policies
// of their own, each trained on other paths: their spread contains what another training would have given.
void take_from_parts(greek_run& run, const walk_of_part& walk, results& to, rows_by_trade& rows);

}  // namespace tilewalk::verbs
