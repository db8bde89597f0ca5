// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/group_jobs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "engine/cuda/correlation.h"
#include "engine/cuda/decide.h"
#include "engine/cuda/feeds.h"
#include "engine/cuda/kernel_text.h"

namespace tilewalk::cuda {

kernel_wish wish_for_points(kernel_wish how, const std::optional<quasi::points>& points,
                            const program::path_program& code, const program::timeline& when) {
    const bool reads_moves = how.feed && reads_shocks(how);
    how.meets_targets = points && !reads_moves && quasi::meets_targets(*points, code, when);
    return how;
}

std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits) {
    // By code, and whether targets are met.
    std::map<std::pair<const program::path_program*, bool>, std::size_t> by_code;
    std::map<std::pair<std::string, std::string>, std::size_t> by_text;  // texts of walk and correlate
    std::vector<job_group> out;
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        if (packed.failures[j]) continue;
        const auto* code = run.jobs[j].code;
        kernel_wish wish = separated.is_separated(j) ? wish_that_reads_moves(run.how, code->slots_per_step())
                                                     : wish_for_points(run.how, run.points_of(run.jobs[j]),
                                                                       *code, *run.jobs[j].when);
        auto known = by_code.find({code, wish.meets_targets});
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
            known = by_code.emplace(std::pair(code, wish.meets_targets), at->second).first;
        }
        out[known->second].jobs.push_back(j);
    }
    // Longest first, so that the last to run are short.
    for (job_group& g : out) {
        std::stable_sort(g.jobs.begin(), g.jobs.end(), [&](std::size_t a, std::size_t b) {
            return packed.records[a].steps > packed.records[b].steps;
        });
    }
    return out;
}

}  // namespace tilewalk::cuda
