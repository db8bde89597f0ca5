// SPDX-License-Identifier: Apache-2.0
// Rewrites of a trade's plan before its paths are walked, in order: integrate jumps, subtract a control,
// shift normals, pair paths. Prices, sessions, explanations and kernels compiled ahead all use this list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/decide/controls/controls.h"
#include "engine/decide/planned.h"
#include "engine/decide/sources.h"
#include "engine/walk/arrays/shock_cube.h"
#include "tilewalk/market.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

class moving_controls;
class progress_reporter;

struct scenarios_of_markets {
    std::vector<arrays::shock_cube> cubes;
    std::vector<std::uint32_t> first;  // by market: index of its first cube

    explicit scenarios_of_markets(std::span<const market> in);
};

struct control_stages {
    // Controls that move with the run's markets; null: the first market's pilot chooses.
    moving_controls* about = nullptr;
    jumps_of_controls jumps = jumps_of_controls::any;
    double least_gain = 0;  // controls whose fewer_paths is lower are left out
};

struct plans_of_trade {
    const books::trade& trade;
    std::vector<planned*> plans;
    chosen_control control{};  // set by rewrites: the control found last
};

// Rewrites plans. A trade that fails keeps its failure in its plan, and the others go on.
class rewriter {
  public:
    // All arguments must outlive the rewriter.
    rewriter(const pilot_of_controls& by, const sources& from, shape_store& shapes,
             std::span<const market> in, const control_stages& stages = {})
        : by_(by), from_(from), shapes_(shapes), in_(in), scenarios_(in), stages_(stages) {}

    void rewrite(plans_of_trade& of) const;
    chosen_control rewrite(const books::trade& t, planned& p) const;
    // Rewrites plans, ordered by market, then trade. A rewrite goes over all trades before the next begins.
    void rewrite(std::span<const books::trade> trades, std::span<planned> plans,
                 const progress_reporter& reporter, timings* times) const;

  private:
    struct entry {
        stage takes_time_of;
        bool (rewriter::*is_wanted)() const;
        void (rewriter::*make)(plans_of_trade&) const;
    };
    static std::span<const entry> list();

    bool integrates() const { return by_.run.chooses_preintegration; }
    bool subtracts() const { return by_.is_wanted(); }
    bool shifts() const { return by_.run.chooses_importance; }
    bool mirrors() const { return by_.run.walks_pairs; }
    void integrate(plans_of_trade& of) const;
    void subtract(plans_of_trade& of) const;
    void shift(plans_of_trade& of) const;
    void mirror(plans_of_trade& of) const;

    const pilot_of_controls& by_;
    const sources& from_;
    shape_store& shapes_;
    const std::span<const market> in_;
    const scenarios_of_markets scenarios_;
    const control_stages stages_;
};

}  // namespace tilewalk::studies
