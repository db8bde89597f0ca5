// SPDX-License-Identifier: Apache-2.0
// Planned trades: programs that trades of a shape share, each trade's own numbers, and what keeps a trade
// from being priced.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "engine/decide/decided.h"
#include "engine/decide/settled.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/ways_back.h"
#include "engine/reading/book_state.h"
#include "engine/walk/arrays/shock_file.h"
#include "engine/walk/job.h"
#include "tilewalk/manifest.h"
#include "tilewalk/trade_facts.h"

namespace tilewalk::controls {
struct control;
}  // namespace tilewalk::controls

namespace tilewalk::exercise {
struct nested_program;
struct policy;
struct saved_policy;
}  // namespace tilewalk::exercise

namespace tilewalk::verbs {

// Programs by shape, so that a book of many trades of few shapes keeps and compiles few.
class shape_store {
  public:
    std::shared_ptr<const program::path_program> one_of(program::path_program code);
    std::size_t size() const;
    bool has(const program::path_program& code) const;
    // Drops the programs that nobody else holds, each told of before it goes.
    void drop_unused(const std::function<void(const program::path_program&)>& tell);

  private:
    mutable std::shared_mutex lock_;
    std::map<std::string, std::shared_ptr<const program::path_program>> by_shape_;
    std::set<const program::path_program*> all_;
};

// Pairs that trades take as 0, each once: a book has many trades and few pairs.
class missing_pairs {
  public:
    void add(const std::vector<correlation_taken>& taken);
    std::vector<factor_pair> all() const { return {pairs_.begin(), pairs_.end()}; }

  private:
    std::mutex lock_;
    std::set<factor_pair> pairs_;
};

// A trade's plan: the same for every run in its precision.
struct ready_trade {
    std::string currency;
    std::vector<std::string> remarks;
    std::shared_ptr<const program::path_program> code;
    program::path_data data;
    program::timeline when;
    std::vector<bool> idle;            // blocks, see plan::trade_program
    std::vector<std::string> checked;  // operations, likewise
    std::vector<correlation_taken> missing_correlations;
    std::optional<double> error_steps;  // see plan::trade_program
    double certain_value = 0;
    bool certain = false;  // no path is needed
    // The mean of what paths subtract from what is paid, by how much that jumps in all, and by how much the
    // price is out if no path lies between its jumps and those of what is paid.
    double control_mean = 0, control_jumps = 0, hidden_by_control = 0;
    double placed_jumps = 0;  // the part of control_jumps that stands where what is paid jumps
    // The part of the price and of that mean that rounding may put them out by, all paths alike: paths with a
    // control, or of integrated jumps, may leave no other error.
    double rounding = 0;
    std::shared_ptr<const ready_trade> without_control{};  // where that is yet to be held against shifts

    ready_trade(plan::trade_program made, shape_store& shapes);
    // The same trade with tangents, from how its numbers move along each direction.
    ready_trade(const ready_trade& of, const std::shared_ptr<const program::tangent_program>& tangents,
                const std::vector<program::path_data>& moves, const program::smoothing& widths = {});
    run::job job() const { return {code.get(), &data, &when}; }
};

// The rights of a trade, with the policy by which its plan uses them.
struct ready_rights {
    std::shared_ptr<const exercise::policy> policy;
    std::shared_ptr<const ready_trade> bounding;             // null: no bound, or another
    std::shared_ptr<const exercise::nested_program> nested;  // in its place
    std::optional<double> used_today;  // what using a right today pays, where the policy does
    bool is_policy_lower = true;       // than the best one
    std::uint64_t training_paths = 0;
    std::optional<double> gain_of_step;  // see exercise::policy
    double error_of_gain = 0;
    bool wants_bound = true;
    bool may_nest = false;  // another run may find a bound by paths inside of paths
    std::string remark;     // on where the policy is from, or empty
    std::shared_ptr<const exercise::saved_policy> saved;  // where the policy is to be kept
};

// A trade's plan with the points that its paths take; none: as the run says.
struct walked_job {
    std::shared_ptr<const ready_trade> trade;
    std::optional<quasi::points> points{};

    run::job job() const {
        run::job made = trade->job();
        made.points = points;
        return made;
    }
    friend bool operator==(const walked_job&, const walked_job&) = default;
};

// A trade in a run.
struct planned {
    std::shared_ptr<const ready_trade> ready;  // null if it failed
    std::optional<error> failure;
    std::optional<error> gpu_failure;  // for which the CPU walks it
    std::vector<std::string> remarks;  // of a trade that failed
    // The way back, or the trade with tangents, where derivatives are wanted that paths give. The program of
    // the latter has an output more for each number of the market.
    std::shared_ptr<const greeks::ready_way_back> back;
    std::shared_ptr<const ready_trade> with_tangents;
    std::shared_ptr<const ready_rights> rights;
    std::shared_ptr<const controls::control> control{};  // null: none
    // The plan before its jumps were integrated, and its paths shifted or made pairs; null: `ready` itself.
    std::shared_ptr<const ready_trade> recorded{};
    std::shared_ptr<const decide::chosen_shifts> shifts{};  // of `ready`; null: none
    bool is_integrated = false;                             // see verbs/preintegration.h
    bool is_in_pairs = false;
    std::optional<quasi::points> points{};  // see walked_job
    bool has_points_chosen = false;         // with its control
    bool is_priced_apart = false;           // by another control than derivatives take
    double walks_by_parts = 0;              // walks of the run by policies of its parts

    bool needs_paths() const { return !failure && !ready->certain; }
    // The control whose plan `ready` is; null: none.
    const controls::control* subtracts() const {
        return shifts && shifts->drops_control ? nullptr : control.get();
    }
    // The trade as its paths are walked.
    walked_job walked() const { return {with_tangents ? with_tangents : ready, points}; }
    run::job job() const { return back ? back->both_ways(price_job()) : walked().job(); }
    run::job price_job() const { return walked_job{ready, points}.job(); }
    // The trade as it was recorded, and numbers of that program turned into those of `ready`, where the mean
    // of what is subtracted is so much.
    const ready_trade& as_recorded() const { return recorded ? *recorded : *ready; }
    program::path_data as_walked(const program::path_data& numbers, double control_mean) const;
};

// From a trade and a market to a program and its numbers.
using planner = std::function<plan::trade_program(const books::trade&, const markets::market_state&,
                                                  program::precision, const plan::poll&)>;

// Ends a planning that nobody waits for any more.
plan::poll poll_of(const std::atomic<bool>* cancel);
// To be stopped is no failure of the trade that was at work.
void throw_if_cancelled(const std::exception& any);
// Any failure of a trade stays with the trade, at the trade's place unless it knows better.
error at_trade(const books::trade& t, const std::exception& any);
trade_problem problem_of(const books::trade& t, const error& e);

// Throws tilewalk::error (input) where the run has more paths than the scenarios that the trade takes, or
// where the market has to state a correlation that it does not.
void check_for_run(const program::path_data& data, const std::vector<correlation_taken>& missing,
                   const markets::market_state& in, const settled& run);
// Fails the trade and says false if the file has not the shocks that it takes.
bool has_shocks_for(planned& p, const arrays::shock_file& file, std::uint64_t paths);

// `first_scenario`: how many arrays of scenarios stand before those of the market in the run.
planned plan_one(const books::trade& t, const markets::market_state& in, const settled& run,
                 shape_store& shapes, missing_pairs& missing, const std::atomic<bool>* cancel,
                 const planner& by, std::uint32_t first_scenario = 0);
// A trade that was planned in that market, for this run.
planned planned_again(const books::trade& t, const std::shared_ptr<const ready_trade>& ready,
                      const markets::market_state& in, const settled& run, missing_pairs& missing);
// Plans by plan::plan_trade.
planner usual_planner();

}  // namespace tilewalk::verbs
