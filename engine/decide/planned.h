// SPDX-License-Identifier: Apache-2.0
// Planned trades: programs that trades share, each trade's own numbers, and why a trade can't be priced.
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

namespace tilewalk::studies {

// Keeps one copy of each program, so that a book with many trades of few shapes compiles few. Thread-safe.
class shape_store {
  public:
    std::shared_ptr<const program::path_program> one_of(program::path_program code);
    std::size_t size() const;
    bool has(const program::path_program& code) const;
    // Drops the programs that only the store holds. Calls `tell` with each before.
    void drop_unused(const std::function<void(const program::path_program&)>& tell);

  private:
    mutable std::shared_mutex lock_;
    std::map<std::string, std::shared_ptr<const program::path_program>> by_shape_;
    std::set<const program::path_program*> all_;
};

// Collects, without duplicates, the pairs of factors whose missing correlation was taken as 0.
class missing_pairs {
  public:
    void add(const std::vector<correlation_taken>& taken);
    std::vector<factor_pair> all() const { return {pairs_.begin(), pairs_.end()}; }

  private:
    std::mutex lock_;
    std::set<factor_pair> pairs_;
};

// A trade's plan, ready to walk. It is the same in every run with the same precision.
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
    bool certain = false;  // the price is certain_value: no path is needed
    // Of the control that paths subtract: its mean, the sum of its jumps' sizes, and a bound on the error of
    // the price if no path falls between its jumps and the payoff's.
    double control_mean = 0, control_jumps = 0, hidden_by_control = 0;
    double placed_jumps = 0;  // part of control_jumps whose places a search found
    // Relative error of the price and of control_mean by rounding that all paths share. Paths with a control,
    // or with integrated jumps, may show no other error.
    double rounding = 0;
    // Set as long as importance sampling has to be compared with the control.
    std::shared_ptr<const ready_trade> without_control{};

    ready_trade(plan::trade_program made, shape_store& shapes);
    // Copies `of` and adds tangents. `moves` says, by direction, how the numbers of the trade move.
    ready_trade(const ready_trade& of, const std::shared_ptr<const program::tangent_program>& tangents,
                const std::vector<program::path_data>& moves, const program::smoothing& widths = {});
    run::job job() const { return {code.get(), &data, &when}; }
};

struct ready_rights {
    std::shared_ptr<const exercise::policy> policy;
    std::shared_ptr<const ready_trade> bounding;             // null if there is no bound, or a nested one
    std::shared_ptr<const exercise::nested_program> nested;  // null if no bound is nested
    // Payment of today's right, if the policy uses it and the trade ends.
    std::optional<double> used_today;
    bool is_policy_lower = true;  // true: the policy's worth is the lower bound
    std::uint64_t training_paths = 0;
    std::optional<double> gain_of_step;  // see exercise::policy
    double error_of_gain = 0;
    bool wants_bound = true;
    bool may_nest = false;  // with the setting on, a run would find a nested bound
    std::string remark;     // origin of the policy; may be empty
    std::shared_ptr<const exercise::saved_policy> saved;  // set if the caller wants to keep the policy
};

// A trade's plan, and the points that its paths take; empty if the run's setting decides.
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
    std::shared_ptr<const ready_trade> ready;  // null if planning failed
    std::optional<error> failure;
    std::optional<error> gpu_failure;  // why no GPU could walk it, so that the CPU does
    std::vector<std::string> remarks;  // of a trade that failed
    // Adjoint or tangents, if paths give derivatives; with_tangents has one more output for each derivative.
    std::shared_ptr<const greeks::ready_way_back> back;
    std::shared_ptr<const ready_trade> with_tangents;
    std::shared_ptr<const ready_rights> rights;
    std::shared_ptr<const controls::control> control{};  // null if there is none
    // The plan before rewrites by pre-integration, shifts or pairs; null if there were none: `ready` itself.
    std::shared_ptr<const ready_trade> recorded{};
    std::shared_ptr<const decide::chosen_shifts> shifts{};  // shifts that `ready` has; null if none
    bool is_integrated = false;                             // see decide/preintegration.h
    bool is_in_pairs = false;
    std::optional<quasi::points> points{};  // see walked_job
    bool has_points_chosen = false;         // a pilot need not choose points
    bool is_priced_apart = false;           // `control` is for derivatives; prices take another
    double walks_by_parts = 0;              // work in parts walked beside the run, in multiples of the run's

    bool needs_paths() const { return !failure && !ready->certain; }
    // Returns the control that `ready` subtracts; null if it has none, or shifts dropped it.
    const controls::control* subtracts() const {
        return shifts && shifts->drops_control ? nullptr : control.get();
    }
    walked_job walked() const { return {with_tangents ? with_tangents : ready, points}; }
    run::job job() const { return back ? back->both_ways(price_job()) : walked().job(); }
    run::job price_job() const { return walked_job{ready, points}.job(); }
    // The plan before rewrites, and as_walked(), which turns numbers of its program into numbers of `ready`.
    const ready_trade& as_recorded() const { return recorded ? *recorded : *ready; }
    program::path_data as_walked(const program::path_data& numbers, double control_mean) const;
};

using planner = std::function<plan::trade_program(const books::trade&, const markets::market_state&,
                                                  program::precision, const plan::poll&)>;

plan::poll poll_of(const std::atomic<bool>* cancel);
// Throws if `any` says that the run was cancelled, which is no failure of a trade.
void throw_if_cancelled(const std::exception& any);
// Returns the failure with the trade's place in its file, unless it has a better place.
error at_trade(const books::trade& t, const std::exception& any);
trade_problem problem_of(const books::trade& t, const error& e);

// Throws tilewalk::error (input) if scenarios have too few paths, or a demanded correlation is missing.
void check_for_run(const program::path_data& data, const std::vector<correlation_taken>& missing,
                   const markets::market_state& in, const settled& run);
// Returns false, and marks the trade as failed, if `file` lacks shocks that its paths take.
bool has_shocks_for(planned& p, const arrays::shock_file& file, std::uint64_t paths);

// `first_scenario`: number of scenario arrays that the run has before this market's.
planned plan_one(const books::trade& t, const markets::market_state& in, const settled& run,
                 shape_store& shapes, missing_pairs& missing, const std::atomic<bool>* cancel,
                 const planner& by, std::uint32_t first_scenario = 0);
planned planned_again(const books::trade& t, const std::shared_ptr<const ready_trade>& ready,
                      const markets::market_state& in, const settled& run, missing_pairs& missing);
// Returns a planner that calls plan::plan_trade, and runs the passes once for each shape of program.
planner usual_planner();

}  // namespace tilewalk::studies
