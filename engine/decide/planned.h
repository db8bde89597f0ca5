// SPDX-License-Identifier: Apache-2.0
// Planned trades: shared programs, each trade's own numbers, and why a trade can't be priced.
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
#include "tilewalk/trade_plan.h"

namespace tilewalk::controls {
struct control;
}  // namespace tilewalk::controls

namespace tilewalk::exercise {
struct nested_program;
struct policy;
struct saved_policy;
}  // namespace tilewalk::exercise

namespace tilewalk::verbs {

// Programs by shape, so that a book of many trades of few shapes keeps and compiles few. Thread-safe.
class shape_store {
  public:
    std::shared_ptr<const program::path_program> one_of(program::path_program code);
    std::size_t size() const;
    bool has(const program::path_program& code) const;
    // Drops the programs that nobody else holds, after calling `tell` with each.
    void drop_unused(const std::function<void(const program::path_program&)>& tell);

  private:
    mutable std::shared_mutex lock_;
    std::map<std::string, std::shared_ptr<const program::path_program>> by_shape_;
    std::set<const program::path_program*> all_;
};

// Pairs whose correlation trades take as 0, without duplicates.
class missing_pairs {
  public:
    void add(const std::vector<correlation_taken>& taken);
    std::vector<factor_pair> all() const { return {pairs_.begin(), pairs_.end()}; }

  private:
    std::mutex lock_;
    std::set<factor_pair> pairs_;
};

// A trade's plan, the same for every run in its precision.
struct ready_trade {
    std::string currency;
    std::vector<std::string> remarks;
    std::shared_ptr<const program::path_program> code;
    program::path_data data;
    program::timeline when;
    std::vector<bool> idle;            // see plan::trade_program
    std::vector<std::string> checked;  // see plan::trade_program
    std::vector<correlation_taken> missing_correlations;
    std::optional<double> error_steps;  // see plan::trade_program
    double certain_value = 0;
    bool certain = false;  // no path is needed
    // Mean of what paths subtract from the payoff, the sum of its jumps, and the error of the price if no
    // path lies between its jumps and those of the payoff.
    double control_mean = 0, control_jumps = 0, hidden_by_control = 0;
    double placed_jumps = 0;  // part of control_jumps that is where the payoff jumps
    // Relative error that rounding may leave in the price and in control_mean, on all paths alike: paths with
    // a control, or with integrated jumps, may leave no other error.
    double rounding = 0;
    std::shared_ptr<const ready_trade> without_control{};  // set while it has to be compared with shifts

    ready_trade(plan::trade_program made, shape_store& shapes);
    // The same trade with tangents; `moves` has how its numbers move along each direction.
    ready_trade(const ready_trade& of, const std::shared_ptr<const program::tangent_program>& tangents,
                const std::vector<program::path_data>& moves, const program::smoothing& widths = {});
    run::job job() const { return {code.get(), &data, &when}; }
};

struct ready_rights {
    std::shared_ptr<const exercise::policy> policy;
    std::shared_ptr<const ready_trade> bounding;             // null: no bound, or `nested`
    std::shared_ptr<const exercise::nested_program> nested;  // instead of `bounding`
    std::optional<double> used_today;  // payoff of using a right today, if the policy does
    bool is_policy_lower = true;       // false if the best policy may be worth less
    std::uint64_t training_paths = 0;
    std::optional<double> gain_of_step;  // see exercise::policy
    double error_of_gain = 0;
    bool wants_bound = true;
    bool may_nest = false;                                // another run may find a nested bound
    std::string remark;                                   // on the policy's origin, or empty
    std::shared_ptr<const exercise::saved_policy> saved;  // set if the policy is to be kept
};

// A trade's plan with the points that its paths take; empty points: as the run says.
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

struct planned {
    std::shared_ptr<const ready_trade> ready;  // null if it failed
    std::optional<error> failure;
    std::optional<error> gpu_failure;  // why the CPU walks it instead
    std::vector<std::string> remarks;  // of a trade that failed
    // The way back or tangents, if paths give derivatives. Tangents add an output for each number.
    std::shared_ptr<const greeks::ready_way_back> back;
    std::shared_ptr<const ready_trade> with_tangents;
    std::shared_ptr<const ready_rights> rights;
    std::shared_ptr<const controls::control> control{};  // null: none
    // The plan before its jumps were integrated, or its paths shifted or made pairs; null: `ready` itself.
    std::shared_ptr<const ready_trade> recorded{};
    std::shared_ptr<const decide::chosen_shifts> shifts{};  // applied to `ready`; null: none
    bool is_integrated = false;                             // see decide/preintegration.h
    bool is_in_pairs = false;
    std::optional<quasi::points> points{};  // see walked_job
    bool has_points_chosen = false;         // no pilot has to choose them
    bool is_priced_apart = false;           // with another control than derivatives take
    double walks_by_parts = 0;              // work of walks by parts, in walks of the run

    bool needs_paths() const { return !failure && !ready->certain; }
    // Returns the control that `ready` subtracts; null: none.
    const controls::control* subtracts() const {
        return shifts && shifts->drops_control ? nullptr : control.get();
    }
    walked_job walked() const { return {with_tangents ? with_tangents : ready, points}; }
    run::job job() const { return back ? back->both_ways(price_job()) : walked().job(); }
    run::job price_job() const { return walked_job{ready, points}.job(); }
    // The trade as recorded, and numbers of that program turned into those of `ready`.
    const ready_trade& as_recorded() const { return recorded ? *recorded : *ready; }
    program::path_data as_walked(const program::path_data& numbers, double control_mean) const;
};

using planner = std::function<plan::trade_program(const books::trade&, const markets::market_state&,
                                                  program::precision, const plan::poll&)>;

plan::poll poll_of(const std::atomic<bool>* cancel);
// Throws if the run was stopped, which is no failure of the trade at work.
void throw_if_cancelled(const std::exception& any);
// Returns the failure at the trade's place, unless it knows a better one.
error at_trade(const books::trade& t, const std::exception& any);
trade_problem problem_of(const books::trade& t, const error& e);

// Throws tilewalk::error (input) for scenarios of too few paths, or if a demanded correlation is missing.
void check_for_run(const program::path_data& data, const std::vector<correlation_taken>& missing,
                   const markets::market_state& in, const settled& run);
// Returns false and fails the trade if the file lacks shocks that it takes.
bool has_shocks_for(planned& p, const arrays::shock_file& file, std::uint64_t paths);

// first_scenario`: the number of scenario arrays in the run before those of this market.
planned plan_one(const books::trade& t, const markets::market_state& in, const settled& run,
                 shape_store& shapes, missing_pairs& missing, const std::atomic<bool>* cancel,
                 const planner& by, std::uint32_t first_scenario = 0);
planned planned_again(const books::trade& t, const std::shared_ptr<const ready_trade>& ready,
                      const markets::market_state& in, const settled& run, missing_pairs& missing);
// Returns a planner that calls plan::plan_trade and runs passes once for each shape.
planner usual_planner();

}  // namespace tilewalk::verbs
