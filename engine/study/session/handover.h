// SPDX-License-Identifier: Apache-2.0
// Walks on the processor until GPUs are ready, and hands the rest over to them. Both have the same bits, and
// tallies merge in one fixed tree, so nobody can tell from results who walked which tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/study/session/gpus_ahead.h"
#include "engine/walk/job.h"
#include "tilewalk/error.h"

namespace tilewalk::studies {

class handover final : public run::back_end {
  public:
    // `tiles_first`: tiles that the processor walks before GPUs take the rest. Empty: the processor walks
    // what takes it less time than compiling a kernel, and all else until the kernel is there. `begin` is
    // told now and then how many seconds the processor would still take, and lets GPUs prepare if that is
    // worth it.
    handover(std::shared_ptr<gpus_ahead> gpus, std::span<const owned_job> jobs, int threads,
             std::unique_ptr<run::back_end> on_cpu, std::optional<std::uint64_t> tiles_first,
             std::function<void(double)> begin);
    // Leaves kernels that are still missing to the engine's threads.
    ~handover() override;

    // Throws tilewalk::error (cancelled). A trade that GPUs can't walk is walked on the processor.
    run::outcome walk_all(const run::walk& of) override;

    // By number of the job: path-steps that GPUs walked, and why they failed to walk others.
    std::uint64_t steps_on_gpus(std::size_t job) const { return steps_on_gpus_[job]; }
    const std::optional<error>& gpu_failure(std::size_t job) const { return gpu_failures_[job]; }
    // Facts of the GPUs' walks, with the kernels that were compiled for them.
    cuda::gpu_facts facts() const;

  private:
    class shared_walk;
    using identity = std::tuple<const void*, const void*, const void*, int>;
    static identity identity_of(const run::job& j);

    const std::shared_ptr<gpus_ahead> gpus_;
    const int threads_;
    const std::unique_ptr<run::back_end> on_cpu_;
    const std::optional<std::uint64_t> tiles_first_;
    const std::function<void(double)> begin_;
    std::map<identity, std::size_t> numbers_;  // of jobs
    std::vector<double> spent_;                // core-seconds on the processor, by number
    std::vector<std::uint64_t> steps_on_gpus_;
    std::vector<std::optional<error>> gpu_failures_;
    std::set<std::size_t> groups_used_;  // groups of which GPUs walked a part
    std::uint64_t tiles_walked_ = 0;     // on the processor
    double operations_a_second_ = 0;     // of a core; 0 before anything was walked
};

}  // namespace tilewalk::studies
