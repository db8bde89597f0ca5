// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/group_jobs.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "engine/cuda/correlation.h"
#include "engine/cuda/decide.h"
#include "engine/cuda/kernel_text.h"

namespace tilewalk::cuda {

std::vector<job_group> group_jobs(
    const gpu_run& run, const separated_jobs& separated, const packed_trades& packed,
    const std::optional<tuned_device>& tuned,
    const std::function<bool(const kernel_decision&, const program::path_program&)>& fits) {
    std::map<const program::path_program*, std::size_t> by_code;
    std::map<std::pair<std::string, std::string>, std::size_t> by_text;  // texts of walk and correlate
    std::vector<job_group> out;
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
        if (packed.failures[j]) continue;
        const auto* code = run.jobs[j].code;
        auto known = by_code.find(code);
        if (known == by_code.end()) {
            kernel_wish wish = run.how;
            std::string moves_text;
            if (separated.is_separated(j)) {
                wish = wish_that_reads_moves(run.how, code->slots_per_step());
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
            known = by_code.emplace(code, at->second).first;
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
