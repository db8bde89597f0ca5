// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/group_jobs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "engine/walk/cuda/compile/correlation.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"

namespace tilewalk::cuda {

namespace {

// A key that is equal for jobs with the same points, where points are taken step by step.
std::vector<std::uint64_t> points_in_steps(const run::job& of) {
    std::vector<std::uint64_t> out{of.when->steps()};
    for (const std::uint32_t stream : of.code->normal_streams) {
        out.push_back(stream);
        out.push_back(program::key_of(of.data->normal_names, stream));
    }
    return out;
}

}  // namespace

ways_of_points::ways_of_points(const kernel_wish& how, std::span<const run::job> all, points_of_job points)
    : points_(std::move(points)), are_read_(how.feed && reads_shocks(how)) {
    if (are_read_) return;
    constexpr std::size_t most_alike = 2;
    std::map<std::vector<std::uint64_t>, std::size_t> alike;
    std::vector<std::vector<std::uint64_t>> taken(all.size());
    for (std::size_t j = 0; j < all.size(); ++j) {
        const auto of_job = points_(all[j]);
        if (!of_job || !quasi::are_few(*of_job, *all[j].code, *all[j].when)) continue;
        taken[j] = points_in_steps(all[j]);
        ++alike[taken[j]];
    }
    const auto is_lone = [&](std::size_t j) { return !taken[j].empty() && alike[taken[j]] <= most_alike; };
    for (const run::job& job : all) made_.insert(job.code);
    for (std::size_t j = 0; j < all.size(); ++j)
        if (!is_lone(j)) made_.erase(all[j].code);
}

point_way ways_of_points::way_of(const run::job& one) const {
    if (made_.contains(one.code)) return point_way::made;
    const auto points = are_read_ ? std::nullopt : points_(one);
    return points && quasi::meets_targets(*points, *one.code, *one.when) ? point_way::targets
                                                                         : point_way::read;
}

std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits) {
    const ways_of_points ways(run.how, run.among.empty() ? separated.given() : run.among,
                              [&](const run::job& job) { return run.points_of(job); });
    std::map<std::pair<const program::path_program*, point_way>, std::size_t> by_code;
    std::map<std::pair<std::string, std::string>, std::size_t> by_text;  // texts of path and matrix kernel
    std::vector<job_group> out;
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        if (packed.failures[j]) continue;
        const auto* code = run.jobs[j].code;
        kernel_wish wish =
            separated.is_separated(j) ? wish_that_reads_moves(run.how, code->slots_per_step()) : run.how;
        wish.points = separated.is_separated(j) ? point_way::read : ways.way_of(run.jobs[j]);
        auto known = by_code.find({code, wish.points});
        if (known == by_code.end()) {
            std::string moves_text;
            if (separated.is_separated(j)) {
                moves_text = correlation_text(
                    best_correlation_variant(static_cast<std::size_t>(code->normals_per_step)),
                    run.how.precision);
            }
            std::optional<tuned_choice> measured;
            if (tuned && wish.is_open() && !separated.is_separated(j)) {
                measured = tuned->choices.find(tuned->on, *code, wish);
            }
            const kernel_decision how = decide(
                wish, *code, [&](const kernel_decision& c, int) { return fits(c, *code); },
                measured ? &measured->how : nullptr);
            std::string text = path_kernel_text(*code, how);
            const auto [at, is_new] = by_text.emplace(std::pair(text, moves_text), out.size());
            if (is_new)
                out.push_back({{std::move(text), {}}, {std::move(moves_text), {}}, code, how, {}, false});
            known = by_code.emplace(std::pair(code, wish.points), at->second).first;
        }
        out[known->second].jobs.push_back(j);
    }
    // Longest jobs first, so that a launch does not end with a long one.
    for (job_group& g : out) {
        std::stable_sort(g.jobs.begin(), g.jobs.end(), [&](std::size_t a, std::size_t b) {
            return packed.records[a].steps > packed.records[b].steps;
        });
    }
    return out;
}

}  // namespace tilewalk::cuda
