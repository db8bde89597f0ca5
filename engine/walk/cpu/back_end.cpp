// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cpu/back_end.h"

#include <deque>
#include <map>

#include "kernels/tile.h"

namespace tilewalk::cpu {

namespace {

std::optional<error> why_not_replayed(const run::job& j, const run::walk& of) {
    if (of.replay == nullptr) return {};
    try {
        of.replay->check({j.when->steps(), static_cast<std::uint64_t>(j.code->normals_per_step),
                          static_cast<std::uint64_t>(j.code->uniforms_per_step), of.paths});
        return {};
    } catch (const error& e) {
        return e;
    }
}

}  // namespace

run::outcome back_end::walk_all(const run::walk& of) {
    const threads::crew::limit limit(pool_->crew(), of.most_threads);
    run::outcome out;
    out.failures.resize(of.jobs.size());
    out.tallies.assign(of.jobs.size(), run::tally(kernels::tiles_of(of.paths), of.part_tiles()));
    compiled_programs of_this_walk;
    const auto compiled_with = [&](const program::path_program& p) -> compiled_programs& {
        return compiled_ && compiled_->takes(p) ? *compiled_ : of_this_walk;
    };
    std::map<const program::path_program*, std::shared_ptr<const lane_program>> code;
    std::vector<const program::path_program*> missing;
    const auto need = [&](const program::path_program& p) {
        if (code.try_emplace(&p).second && !compiled_with(p).has(p)) missing.push_back(&p);
    };
    for (const run::job& j : of.jobs) {
        need(*j.code);
        if (j.back.code == nullptr) continue;
        need(j.back.code->again);
        need(j.back.code->back);
    }
    pool_->crew().for_each(missing.size(), of.cancel,
                           [&](int, std::uint64_t i) { compiled_with(*missing[i]).code_of(*missing[i]); },
                           {});
    for (auto& [shape, made] : code) made = compiled_with(*shape).code_of(*shape);
    std::vector<std::size_t> walked;
    std::vector<path_job> jobs;
    std::deque<lane_way_back> ways;
    std::deque<quasi::order> orders;
    quasi::order_maker maker;
    for (std::size_t i = 0; i < of.jobs.size(); ++i) {
        const run::job& j = of.jobs[i];
        if ((out.failures[i] = why_not_replayed(j, of))) continue;
        path_job& p = jobs.emplace_back(path_job{code.at(j.code).get(),
                                                 j.data,
                                                 j.when,
                                                 of.seed,
                                                 of.paths,
                                                 precision_,
                                                 {},
                                                 {},
                                                 of.scenarios,
                                                 {},
                                                 of.tiles});
        if (j.back.code != nullptr) {
            p.back = &ways.emplace_back(*j.back.code, *code.at(&j.back.code->again),
                                        *code.at(&j.back.code->back), *j.back.data, *j.when);
        }
        p.part_tiles = of.part_tiles();
        if (const auto points = of.points_of(j))
            p.points = {&orders.emplace_back(maker.made_for(*j.code, *j.data, *j.when, *points)),
                        of.unit_paths};
        if (of.replay != nullptr) {
            p.normals = of.replay->normals();
            p.uniforms = of.replay->uniforms();
        }
        walked.push_back(i);
    }
    std::vector<run::tally> tallies = walk_tiles(jobs, of.cancel, [&](const pool_progress& p) {
        if (of.on_progress) of.on_progress({p.jobs_done, p.path_steps_done});
    });
    for (std::size_t k = 0; k < walked.size(); ++k) out.tallies[walked[k]] = std::move(tallies[k]);
    return out;
}

std::vector<run::tally> back_end::walk_tiles(std::span<const path_job> jobs, const std::atomic<bool>* cancel,
                                             const std::function<void(const pool_progress&)>& on_progress) {
    return pool_->walk_all(jobs, cancel, on_progress);
}

}  // namespace tilewalk::cpu
