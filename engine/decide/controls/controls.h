// SPDX-License-Identifier: Apache-2.0
// Finds control variates of trades by pilots: a few paths walked before the run. A choice depends on the
// trade, its market, the seed and the number of paths alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/controls/control.h"
#include "engine/decide/pilot.h"
#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/plan/passed_programs.h"
#include "engine/plan/trade_program.h"
#include "engine/walk/cpu/compiled_programs.h"
#include "engine/walk/cpu/lane_operations.h"
#include "tilewalk/market.h"

namespace tilewalk::exercise {
struct policy;
}  // namespace tilewalk::exercise

namespace tilewalk::studies {

class sources;

// A trade, and the policy by which its paths use rights; null if it has no rights.
struct subject_of_control {
    const books::trade& trade;
    const exercise::policy* policy = nullptr;
};
subject_of_control subject_of(const books::trade& t, const planned& p);

// Jumps that controls may have. Pathwise derivatives do not see a control's jump, and smoothing adds a jump
// to smooth. A control that jumps gains if the payoff jumps at about the same place, else it loses.
enum class jumps_of_controls : std::uint8_t { any, beside_those_of_payoffs, none };

struct pilot_of_controls {
    const settled& run;
    const cpu::lane_operations& operations;
    const std::atomic<bool>* cancel;
    jumps_of_controls jumps = jumps_of_controls::any;
    plan::passed_programs* known = nullptr;  // programs that passes ran on; see plan::plan_trade

    bool is_wanted() const { return run.chooses_controls && run.replay.empty(); }
    std::uint64_t paths() const;  // 0 if a run has too few for a pilot
    bool is_of_derivatives() const { return jumps != jumps_of_controls::any; }
};

// A pilot whose program outputs the payoff and the sums of a basis of controls.
class sums_on_pilot {
  public:
    sums_on_pilot(const subject_of_control& of, const markets::market_state& in, const pilot_of_controls& by,
                  std::vector<arrays::shock_cube> scenarios);

    // False if a control can't be fitted: no path is random, or there are too many sources of noise.
    bool has_sums() const { return !made_.is_certain() && !adds_.basis().empty(); }
    std::span<const controls::weights> basis() const { return adds_.basis(); }
    const plan::trade_program& plan() const { return made_; }
    run::job job() const { return {&made_.code, &made_.data, &made_.when}; }
    const std::vector<program::jump>& jumps() const { return jumps_; }
    std::size_t jumps_of_a_path() const;  // how many times a path tests for a jump, over all jumps
    controls::pilot_paths walked(std::uint64_t paths) const { return walked(paths, made_.data); }
    // Walks the same paths with other numbers of the program, such as those of a moved market.
    controls::pilot_paths walked(std::uint64_t paths, const program::path_data& data) const;
    // Walks a path for each of `times`: its normals are that multiple of `way`, [slot][step].
    controls::pilot_paths walked_along(const controls::weights& way, std::span<const double> times) const;
    // Walks paths to rare events, in turn by four ways: a uniform near 0 or near 1 on one step, as a rare
    // jump draws it, or all normals twice or four times as large. Path p goes way p % ways_far_out.
    static constexpr std::size_t ways_far_out = 4;
    controls::pilot_paths walked_far_out() const;
    const controls::law_of_moves& law() const { return adds_.law(); }
    // Appends paths [first, paths) of a pilot over `points`.
    void add_over(const quasi::order& points, std::uint64_t first, std::uint64_t paths,
                  controls::pilot_paths& to) const;

  private:
    void walk(cpu::path_job job, controls::pilot_paths& to, std::uint64_t first = 0) const;

    const pilot_of_controls& by_;
    std::vector<arrays::shock_cube> scenarios_;
    controls::sums_of_moves adds_;
    plan::trade_program made_;
    cpu::lane_program code_;
    std::vector<program::jump> jumps_;
};

// The outcome of a pilot of controls. `what` is empty if no control pays, or the trade can have none.
struct chosen_control {
    std::optional<controls::control> what{};
    bool is_that_of_prices = true;  // false: `what` is for derivatives alone
    // Quasi-random points chosen for the trade less the control; empty until chosen.
    std::optional<chosen_points> points{};

    void give_points(const settled& run, planned& to) const {
        if (!points || !(run.chooses_source || run.chooses_construction)) return;
        to.points = points->taken_in(run);
        to.has_points_chosen = true;
    }
};
chosen_control choose_control(const subject_of_control& of, const markets::market_state& in,
                              const std::vector<arrays::shock_cube>& scenarios, const pilot_of_controls& by);
// Returns a control that may jump if `other` jumps, even if it gains nothing.
chosen_control choose_control_like(const controls::control& other, const subject_of_control& of,
                                   const markets::market_state& in,
                                   const std::vector<arrays::shock_cube>& scenarios,
                                   const pilot_of_controls& by);

// A plan that subtracts a control. plan_with makes none if paths have other moves than the control.
struct controlled_plan {
    plan::trade_program made;  // has a remark on the control
    double mean = 0;           // of the control
    double rounding = 0;       // see ready_trade::rounding
};
std::optional<controlled_plan> plan_with(const controls::control& what, const subject_of_control& of,
                                         const markets::market_state& in, const pilot_of_controls& by,
                                         std::uint32_t first_scenario = 0);
std::shared_ptr<ready_trade> ready_with(const controls::control& what, controlled_plan made,
                                        shape_store& shapes);

// Returns the relative error of a price by rounding that all paths share.
double rounding_in(program::precision p);

// Returns a remark for people: "control variate with correlation 0.9997 leaves 0.06 % of the variance, ...".
std::string evidence(const controls::control& of);

// Returns the control of a trade whose plan, as job `plain`, has none yet, from the first source with one.
chosen_control control_for(const subject_of_control& of, const run::job& plain,
                           const markets::market_state& in, const std::vector<arrays::shock_cube>& scenarios,
                           const pilot_of_controls& by, const sources& from);
void subtract(const controls::control& what, const books::trade& t, planned& p,
              const markets::market_state& in, const pilot_of_controls& by, shape_store& shapes,
              std::uint32_t first_scenario = 0);

}  // namespace tilewalk::studies
