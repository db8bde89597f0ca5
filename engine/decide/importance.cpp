// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/importance.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/crew.h"
#include "engine/decide/seeds.h"
#include "engine/decide/sources.h"
#include "engine/walk/cpu/lane_machine.h"
#include "tilewalk/timings.h"

namespace tilewalk::studies {

namespace {

constexpr std::uint64_t most_paths_tried = 4096;

// Shares of paths whose normals are not shifted. The larger one is for paths that draw uniforms, too: a rare
// payoff may come from uniforms alone, as by a jump, more rarely than a pilot sees. The second moment is then
// at most twice that without shifts; with the smaller share it could be ten times as large.
constexpr double few_unshifted = 0.1, many_unshifted = 0.5;

importance::outcome pilot_of(const plan_to_shift& plan, std::uint64_t blocks, const pilot_of_controls& by) {
    const run::job& of = plan.job;
    const cpu::lane_program code = cpu::compile(*of.code);
    cpu::lane_machine machine(by.operations);
    std::vector<double> outputs(code.outputs.size() * kernels::paths_per_tile);
    importance::pilot pilot;
    pilot.slots = static_cast<std::size_t>(of.code->normals_per_step);
    pilot.times = of.when->times;
    pilot.unshifted = of.code->uniforms_per_step > 0 ? many_unshifted : few_unshifted;
    // A seed of the pilot's own: the run's price would be too high on paths on which shifts were found.
    pilot.seed = decide::seed_for(by.run.seed, decide::purpose::importance);
    pilot.blocks = blocks;
    pilot.draw = by.operations.double_draws.normals;
    pilot.walk = [&](std::uint64_t block, const arrays::shock_cube& normals, double* payoffs) {
        cpu::path_job job;
        job.code = &code;
        job.data = of.data;
        job.when = of.when;
        job.seed = pilot.seed + block;
        job.paths = cpu::lanes;
        job.normals = normals;
        machine.walk_paths(job, 0, outputs.data(), by.cancel);
        std::copy_n(outputs.data(), cpu::lanes, payoffs);
    };
    importance::outcome out = importance::find(pilot);
    if (out.shifts) out.shifts->normals.centre -= plan.control_mean;
    return out;
}

}  // namespace

std::optional<chosen_shifts> choose_shifts(const books::trade& t, const plan_to_shift& plan,
                                           const std::optional<plan_to_shift>& without_control,
                                           const pilot_of_controls& by) {
    const bool may_have_some = by.run.chooses_importance && by.run.replay.empty() && !plan::has_rights(t) &&
                               plan.job.when->steps() > 0 && plan.job.data->scenarios.empty();
    if (!may_have_some) return std::nullopt;
    const std::uint64_t all = std::min(by.run.paths_of_pilot(), most_paths_tried) / cpu::lanes;
    const bool tries_both = without_control && all >= 2 * importance::pilot::fewest_blocks;
    const std::uint64_t blocks = tries_both ? all / 2 : all;
    importance::outcome found = pilot_of(plan, blocks, by);
    if (tries_both) {
        importance::outcome other = pilot_of(*without_control, blocks, by);
        if (other.shifts && other.variance < found.variance)
            return chosen_shifts{std::move(*other.shifts), true};
    }
    if (!found.shifts) return std::nullopt;
    return chosen_shifts{std::move(*found.shifts), false};
}

std::string evidence(const importance::found_shifts& of) {
    const std::size_t ways = of.normals.ways.size();
    return fmt::format(
        "importance sampling with {} shift{} of the shocks leaves {:.2g} % of the variance, on {} pilot "
        "paths",
        ways, ways == 1 ? "" : "s", 100 / of.fewer_paths, of.pilot_paths);
}

namespace {

plan_to_shift to_shift(const ready_trade& t) {
    return {t.job(), t.control_mean};
}

std::optional<program::whole_program> shifted_plan(const importance::found_shifts& by,
                                                   const plan_to_shift& plan) {
    program::normal_shifts shifts = by.normals;
    const std::vector<std::vector<double>>& first = shifts.ways.front().by_slot;
    const bool fits = first.size() == static_cast<std::size_t>(plan.job.code->normals_per_step) &&
                      first.front().size() == plan.job.when->steps();
    if (!fits) return std::nullopt;
    shifts.centre += plan.control_mean;
    return program::shifted(*plan.job.code, *plan.job.data, *plan.job.when, shifts);
}

}  // namespace

void shift(planned& p, const std::shared_ptr<const chosen_shifts>& by, shape_store& shapes) {
    if (by == nullptr) return;
    const bool drops_control = by->drops_control && p.ready->without_control != nullptr;
    const std::shared_ptr<const ready_trade> from = drops_control ? p.ready->without_control : p.ready;
    std::optional<program::whole_program> made = shifted_plan(by->by, to_shift(*from));
    if (!made) return;
    auto ready = std::make_shared<ready_trade>(*from);
    ready->code = shapes.one_of(std::move(made->code));
    ready->data = std::move(made->data);
    ready->when = std::move(made->when);
    ready->remarks.push_back(evidence(by->by));
    if (!p.recorded) p.recorded = from;
    p.ready = std::move(ready);
    p.shifts = by;
}

std::shared_ptr<const chosen_shifts> shifts_for(const books::trade& t, const planned& p,
                                                const pilot_of_controls& by, const sources& from) {
    if (!by.run.chooses_importance) return nullptr;
    if (const decide::decided known = from.known(t.id); known.shifts) return *known.shifts;
    const plan_to_shift plan = to_shift(*p.ready);
    std::optional<plan_to_shift> without_control;
    if (const auto& plain = p.ready->without_control) without_control = to_shift(*plain);
    std::optional<chosen_shifts> found =
        from.shifts(plan.job, without_control ? &without_control->job : nullptr,
                    [&] { return choose_shifts(t, plan, without_control, by); });
    return found ? std::make_shared<const chosen_shifts>(*std::move(found)) : nullptr;
}

}  // namespace tilewalk::studies
