// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/preintegration.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "products/program/cost.h"
#include "products/program/integrate.h"
#include "products/program/jumps.h"

namespace tilewalk::studies {

namespace {

constexpr const char* remark_on_integration =
    "preintegration: the shocks before its dates are integrated along one direction, without a control "
    "variate";

// Least factor of time saved in a pilot: the pilot's own error is about as large.
constexpr double least_time_saved = 1.5;

// Returns the work of a path, in additions. `normal` is the work of drawing one normal number.
double cost_of_path(const ready_trade& of) {
    constexpr double normal = 30;
    double out = normal * of.code->normals_per_step * static_cast<double>(of.when.steps());
    for (std::size_t s = 0; s < of.code->sections.size(); ++s) {
        double once = 1;
        for (const program::node& n : of.code->sections[s].nodes) once += program::cost(n.code);
        out += once * static_cast<double>(of.data.runs[s]);
    }
    return out;
}

}  // namespace

std::shared_ptr<const ready_trade> integrated(const books::trade& t, const planned& p,
                                              program::precision walked_in, shape_store& shapes) {
    const ready_trade& of = *p.ready;
    if (plan::has_rights(t) || !of.data.scenarios.empty()) return nullptr;
    std::optional<program::whole_program> made = program::integrated(*of.code, of.data, of.when);
    if (!made) return nullptr;
    auto out = std::make_shared<ready_trade>(of);
    out->code = shapes.one_of(std::move(made->code));
    out->data = std::move(made->data);
    out->when = std::move(made->when);
    out->rounding = rounding_in(walked_in);
    out->remarks.emplace_back(remark_on_integration);
    return out;
}

bool pays(const ready_trade& plain, const ready_trade& integrated, const pilot_of_controls& by) {
    // A payoff without jumps gains more by a run's many points than by a pilot's 32: 5 to 36,000 times as
    // much (bench/results/2026-11-30-AMD-EPYC-bench-convergence-preintegration.jsonl).
    if (by.run.unit_paths > 0 &&
        program::jumps_of(*integrated.code, integrated.data, integrated.when).empty())
        return true;
    const auto time_for_an_error = [&](const ready_trade& of) {
        return pilot_of_points(by.operations, by.run).variance_left(of.job(), by.cancel) * cost_of_path(of);
    };
    return time_for_an_error(plain) > least_time_saved * time_for_an_error(integrated);
}

}  // namespace tilewalk::studies
