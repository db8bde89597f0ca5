// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/launcher.h"

#include <map>
#include <numeric>
#include <utility>

#include "engine/walk/cuda/compile/kernel_text.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

std::vector<needed_kernel> kernels_of(std::span<const run::job> jobs, const kernel_wish& how,
                                      std::string_view correlation, const std::optional<tuned_device>& tuned,
                                      const std::optional<quasi::points>& points, int threads) {
    const separated_jobs separated(jobs, correlation, how.precision);
    gpu_run run;
    run.jobs = separated.jobs();
    run.how = how;
    run.points = points;
    // A run takes points only if it has a unit. Texts of kernels do not depend on the unit's length.
    run.unit_paths = kernels::paths_per_tile;
    std::vector<needed_kernel> out;
    std::map<std::string, std::vector<std::size_t>> correlate;
    std::size_t correlations = 0;
    const auto anything_fits = [](const kernel_decision&, const program::path_program&) { return true; };
    for (job_group& g : group_jobs(run, separated, pack(run.jobs, program::real_type(how.precision), threads),
                                   tuned, anything_fits)) {
        if (g.reads_moves()) {
            auto& readers = correlate[g.correlate.text];
            readers.insert(readers.end(), g.jobs.begin(), g.jobs.end());
        }
        out.push_back({"walk_" + std::to_string(out.size() + 1), std::move(g.walk.text), std::move(g.jobs),
                       !g.reads_moves(), g.how});
    }
    for (auto& [text, readers] : correlate) {
        out.push_back({"correlate_" + std::to_string(++correlations), text, std::move(readers)});
    }
    needed_kernel merge{"merge_tiles", merge_kernel_text(), std::vector<std::size_t>(jobs.size())};
    std::iota(merge.jobs.begin(), merge.jobs.end(), std::size_t{0});
    out.push_back(std::move(merge));
    return out;
}

run::outcome launcher::walk_all(const run::walk& of) {
    gpu_outcome got = walk_all(gpu_run{of, with_});
    facts_.add(got);
    return got;
}

gpu_outcome launcher::walk_all(const gpu_run& run) {
    ready_run once;
    return (keeps_ != nullptr ? *keeps_ : once).walk(run, devices_, kernels_);
}

}  // namespace tilewalk::cuda
