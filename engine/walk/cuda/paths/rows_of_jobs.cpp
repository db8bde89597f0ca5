// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/rows_of_jobs.h"

#include <algorithm>
#include <utility>

namespace tilewalk::cuda {

using kernels::word32;
using random::shock_kind;

void add_rows_alike(const program::path_program& code, std::uint64_t steps, shock_plan& plan) {
    auto normals = static_cast<std::uint64_t>(code.normals_per_step);
    auto uniforms = static_cast<std::uint64_t>(code.uniforms_per_step);
    if (plan.replay != nullptr) {
        plan.replay->check({steps, normals, uniforms, plan.paths});
        if (normals > 0) normals = plan.replay->normals().slots;
        if (uniforms > 0) uniforms = plan.replay->uniforms().slots;
    } else {
        random::check_normals(*plan.source, steps * normals);
    }
    plan.normal_rows = std::max(plan.normal_rows, steps * normals);
    plan.uniform_rows = std::max(plan.uniform_rows, steps * uniforms);
}

std::optional<quasi::order> rows_of_jobs::order_of(const run::job& job,
                                                   const std::optional<quasi::points>& points) {
    if (!plan_.source->is_points) return std::nullopt;
    return maker_.made_for(*job.code, *job.data, *job.when, points.value_or(quasi::points{}));
}

std::size_t rows_of_jobs::add(const run::job& job, std::optional<quasi::order> order, point_way way) {
    const program::path_program& code = *job.code;
    const program::path_data& data = *job.data;
    const std::size_t steps = job.when->steps();
    share made{};
    if (order)
        made.points = plan_.points.add(*std::move(order), way);
    else
        made.normals =
            plan_.normals.add(code.normal_streams, code.normals_per_step, data.normal_names, steps);
    if (way == point_way::read && (!made.points || !plan_.points.order_of(*made.points).has_quasi_uniforms()))
        made.uniforms =
            plan_.uniforms.add(code.uniform_streams, code.uniforms_per_step, data.uniform_names, steps);
    shares_.push_back(made);
    return shares_.size() - 1;
}

void rows_of_jobs::end() {
    plan_.normal_rows = plan_.normals.rows() + plan_.points.rows(shock_kind::normal);
    plan_.uniform_rows = plan_.uniforms.rows() + plan_.points.rows(shock_kind::uniform);
}

rows_of_jobs::first_rows rows_of_jobs::first_rows_of(std::size_t number) const {
    const share& s = shares_[number];
    const auto of_points = [&](shock_kind kind, const noise_rows& before) {
        return static_cast<word32>(before.rows() + plan_.points.first_row(kind, *s.points));
    };
    const bool has_points = s.points.has_value(),
               has_quasi_uniforms = has_points && plan_.points.order_of(*s.points).has_quasi_uniforms();
    if (has_points && plan_.points.is_made(*s.points))
        return {static_cast<word32>(plan_.points.first_made_point(*s.points)), 0, 0};
    return {has_points ? of_points(shock_kind::normal, plan_.normals)
                       : static_cast<word32>(plan_.normals.first_row(s.normals)),
            has_quasi_uniforms ? of_points(shock_kind::uniform, plan_.uniforms)
                               : static_cast<word32>(plan_.uniforms.first_row(s.uniforms)),
            has_points ? static_cast<word32>(plan_.points.first_target_step(*s.points)) : 0};
}

}  // namespace tilewalk::cuda
