// SPDX-License-Identifier: Apache-2.0
// Controls of trades: a pilot of each trade fits one, and where that shows a gain the trade's paths subtract
// it. A choice depends on the trade, its market, the seed and the number of paths, and on no device.
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

namespace tilewalk::verbs {

class sources;

// A trade as its plan walks: by its policy, where somebody may end it early.
struct subject_of_control {
    const books::trade& trade;
    const exercise::policy* policy = nullptr;
};
subject_of_control subject_of(const books::trade& t, const planned& p);

// The jumps that controls may have. Derivatives by paths see no jump, and smoothing sees one more: what is
// smoothed beside a payoff that jumps gains where both jump at about one place, and loses where they do not.
enum class jumps_of_controls : std::uint8_t { any, beside_those_of_payoffs, none };

// All that the control of a trade depends on, beside the trade and its market.
struct pilot_of_controls {
    const settled& run;
    const cpu::lane_operations& operations;
    const std::atomic<bool>* cancel;
    jumps_of_controls jumps = jumps_of_controls::any;
    plan::passed_programs* known = nullptr;  // see plan::plan_trade

    bool is_wanted() const { return run.chooses_controls && run.replay.empty(); }
    std::uint64_t paths() const;  // 0: the run has too few for a pilot
    // The controls of prices may have any jumps.
    bool is_of_derivatives() const { return jumps != jumps_of_controls::any; }
};

// Paths of a pilot with the sums of their moves.
class sums_on_pilot {
  public:
    sums_on_pilot(const subject_of_control& of, const markets::market_state& in, const pilot_of_controls& by,
                  std::vector<arrays::shock_cube> scenarios);

    // Else there is no path to walk: nothing moves, or too much.
    bool has_sums() const { return !made_.is_certain() && !adds_.basis().empty(); }
    std::span<const controls::weights> basis() const { return adds_.basis(); }
    const plan::trade_program& plan() const { return made_; }
    run::job job() const { return {&made_.code, &made_.data, &made_.when}; }
    const std::vector<program::jump>& jumps() const { return jumps_; }
    std::size_t jumps_of_a_path() const;  // each as often as a path looks for it
    // So many paths, of independent numbers.
    controls::pilot_paths walked(std::uint64_t paths) const { return walked(paths, made_.data); }
    // The same paths with other numbers of the program.
    controls::pilot_paths walked(std::uint64_t paths, const program::path_data& data) const;
    // Paths whose normals, by slot and step, are so many times those of one way.
    controls::pilot_paths walked_along(const controls::weights& way, std::span<const double> times) const;
    // Paths of which each goes where few do, in one of so many ways: a uniform number near 0 or near 1 on one
    // step, as one of a rare jump is, or all normals twice or four times as large. Path p goes way p % ways.
    static constexpr std::size_t ways_far_out = 4;
    controls::pilot_paths walked_far_out() const;
    const controls::law_of_moves& law() const { return adds_.law(); }
    // Adds paths over points, from the `first` of so many on.
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

// None where it would not pay, or where the trade can have none.
struct chosen_control {
    std::optional<controls::control> what{};
    bool is_that_of_prices = true;  // one with any jumps
    // The points that suit the trade with that control; none: they are still to be chosen.
    std::optional<chosen_points> points{};

    void give_points(const settled& run, planned& to) const {
        if (!points || !(run.chooses_source || run.chooses_construction)) return;
        to.points = points->taken_in(run);
        to.has_points_chosen = true;
    }
};
chosen_control choose_control(const subject_of_control& of, const markets::market_state& in,
                              const std::vector<arrays::shock_cube>& scenarios, const pilot_of_controls& by);
// One that jumps if that of another day does, whatever it gains.
chosen_control choose_control_like(const controls::control& other, const subject_of_control& of,
                                   const markets::market_state& in,
                                   const std::vector<arrays::shock_cube>& scenarios,
                                   const pilot_of_controls& by);

// The trade's plan with a control. None in a market where its paths have other moves than the control is of.
// `first_scenario`: see plan_one.
struct controlled_plan {
    plan::trade_program made;  // with a remark on the control
    double mean = 0;           // of what is subtracted
    double rounding = 0;       // see ready_trade
};
std::optional<controlled_plan> plan_with(const controls::control& what, const subject_of_control& of,
                                         const markets::market_state& in, const pilot_of_controls& by,
                                         std::uint32_t first_scenario = 0);
// The same, to be walked.
std::shared_ptr<ready_trade> ready_with(const controls::control& what, controlled_plan made,
                                        shape_store& shapes);

// The part of a price that rounding may put it out by, all paths alike.
double rounding_in(program::precision p);

// For people: "a control with the correlation 0.9997 leaves 0.06 % of the variance, as 2048 pilot paths
// show".
std::string evidence(const controls::control& of);

// The control of a trade whose plan has none yet, by the first of the sources that knows.
chosen_control control_for(const subject_of_control& of, const run::job& plain,
                           const markets::market_state& in, const std::vector<arrays::shock_cube>& scenarios,
                           const pilot_of_controls& by, const sources& from);
// Plans a trade with a control, where it fits.
void subtract(const controls::control& what, const books::trade& t, planned& p,
              const markets::market_state& in, const pilot_of_controls& by, shape_store& shapes,
              std::uint32_t first_scenario = 0);

}  // namespace tilewalk::verbs
