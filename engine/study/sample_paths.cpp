// SPDX-License-Identifier: Apache-2.0
// Walks some paths of a trade as pricing does, and keeps what people may want to see of them.
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "engine/decide/controls/controls.h"
#include "engine/decide/pilot.h"
#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/numerics/quasi/order.h"
#include "engine/plan/watched_program.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/lane_program.h"
#include "kernels/tile.h"
#include "products/language/product.h"
#include "tilewalk/engine.h"

namespace tilewalk {

namespace {

using namespace studies;

const books::trade& trade_named(const books::book_state& in, const std::string& id) {
    const auto at = std::ranges::find(in.trades, id, &books::trade::id);
    if (at != in.trades.end()) return *at;
    std::vector<std::string> known;
    for (const books::trade& t : in.trades) known.push_back(t.id);
    const std::string near = language::nearest(id, known);
    throw error(error_kind::usage,
                fmt::format("the book has no trade '{}'{}", id,
                            near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

// Returns the points that pricing would take; empty for independent numbers.
std::optional<quasi::points> points_of(const books::trade& t, const plan::trade_program& made,
                                       const markets::market_state& in, const settled& run,
                                       const cpu::lane_operations& operations,
                                       const std::atomic<bool>* cancel) {
    if (run.unit_paths == 0) return std::nullopt;
    if (!run.chooses_source && !run.chooses_construction) return run.points;
    const std::vector<arrays::shock_cube> scenarios = in.scenario_cubes();
    if (!plan::has_rights(t)) {
        const chosen_control control = choose_control({t}, in, scenarios, {run, operations, cancel});
        if (control.points) return control.points->taken_in(run);
    }
    return pilot_of_points(operations, run)
        .choose({&made.code, &made.data, &made.when}, scenarios, cancel)
        .taken_in(run);
}

// Returns numbers by step, then by asset (the sum paid comes last), then by path.
std::vector<double> left_of(const plan::watched_program& watched, cpu::path_job job,
                            const cpu::lane_operations& operations, const std::atomic<bool>* cancel) {
    const program::path_program& program = watched.made.code;
    const cpu::lane_program code = cpu::compile(program);
    std::vector<double> out(job.when->steps() * (watched.seen.size() + 1) * job.paths),
        payoffs(program.payoff_rows() * kernels::paths_per_tile);
    cpu::left_numbers leaves{{}, out.data(), job.paths};
    leaves.sections.resize(watched.section + 1);
    leaves.sections[watched.section].states = watched.seen;
    leaves.sections[watched.section].states.push_back(program.outputs.front());
    job.code = &code;
    job.leaves = &leaves;
    job.check();
    cpu::lane_machine machine(operations);
    for (std::uint64_t first = 0; first < job.paths; first += cpu::lanes)
        machine.walk_paths(job, first, payoffs.data(), cancel);
    return out;
}

void tell_of(const plan::watched_program& watched, const std::vector<double>& left, std::size_t paths,
             trade_paths& to) {
    const plan::trade_program& made = watched.made;
    const std::size_t steps = made.when.steps(), paid = watched.seen.size();
    const auto add = [&](std::vector<double>& of_path, std::size_t what, std::size_t path) {
        for (std::size_t s = 0; s < steps; ++s)
            of_path.push_back(left[(s * (paid + 1) + what) * paths + path]);
    };
    to.spots.assign(to.assets.size(), std::vector<std::vector<double>>(paths));
    to.paid.assign(paths, {made.data.initial_states[made.code.outputs.front()]});
    for (std::size_t p = 0; p < paths; ++p) {
        for (std::size_t a = 0; a < to.assets.size(); ++a) {
            to.spots[a][p].push_back(to.spots_today[a]);
            add(to.spots[a][p], a, p);
        }
        add(to.paid[p], paid, p);
    }
}

}  // namespace

trade_paths paths_of(const engine& by, const book& trades, const market& in, const std::string& trade,
                     const run_options& options, std::size_t paths) {
    const books::trade& t = trade_named(state_of(trades), trade);
    if (t.failure) throw *t.failure;
    const settled run = settle({options}, state_of(trades), {&in, 1});
    const cpu::lane_operations& operations = operations_named(by.settings().instruction_set);
    const plan::poll often = poll_of(options.cancel);
    const plan::trade_program plain =
        plan::plan_trade(t, state_of(in), program::precision::double_, {}, often);
    check_for_run(plain.data, plain.missing_correlations, state_of(in), run);
    const plan::watched_program watched = plan::plan_watched(t, state_of(in), often);
    const plan::trade_program& made = watched.made;

    trade_paths out;
    out.trade = t.id;
    out.currency = made.currency;
    out.as_of = in.as_of();
    out.seed = run.seed;
    if (made.is_certain()) return out;
    out.years = made.when.times;
    out.assets = made.assets;
    for (const std::string& asset : out.assets)
        out.spots_today.push_back(state_of(in).find_asset(asset).spot);
    paths = std::clamp<std::size_t>(paths, 1, std::min<std::size_t>(most_sample_paths, run.paths));

    const std::optional<arrays::shock_file> replay = replayed_in(run);
    const std::optional<quasi::points> points =
        replay ? std::nullopt : points_of(t, plain, state_of(in), run, operations, options.cancel);
    // Points are ordered for the trade's own program, as watching more dates would change the order.
    quasi::order_maker maker;
    std::optional<quasi::order> order;
    if (points) order.emplace(maker.made_for(plain.code, plain.data, plain.when, *points));
    out.random = replay ? "shocks of " + run.replay : std::string(source_of(run, points.has_value()).name);
    if (points) out.random += fmt::format(", {}", quasi::name_of(points->construction));

    cpu::path_job job{nullptr, &made.data, &made.when, run.seed, paths};
    const std::vector<arrays::shock_cube> scenarios = state_of(in).scenario_cubes();
    job.scenarios = scenarios;
    if (order) job.points = {&*order, run.unit_paths};
    if (replay) {
        replay->check({made.when.steps(), static_cast<std::uint64_t>(made.code.normals_per_step),
                       static_cast<std::uint64_t>(made.code.uniforms_per_step), paths});
        job.normals = replay->normals();
        job.uniforms = replay->uniforms();
    }
    tell_of(watched, left_of(watched, job, operations, options.cancel), paths, out);
    return out;
}

}  // namespace tilewalk
