// SPDX-License-Identifier: Apache-2.0
// The paths of a run: what GPUs walk, what is left to the CPU, and the shadow sample.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/decide/teller.h"
#include "engine/decide/walked_trade.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cpu/lane_operations.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/job.h"
#include "engine/walk/kept/work.h"
#include "engine/walk/units.h"
#include "kernels/tile_result.h"
#include "tilewalk/manifest.h"

namespace tilewalk::verbs {

// Makes a back end that walks on the CPU.
using cpu_maker = std::function<std::unique_ptr<run::back_end>(const cpu::lane_operations&, int threads,
                                                               program::precision)>;

// The store that walks take known tallies from, and keep new ones in.
struct keeping {
    std::shared_ptr<kept::work> work{};  // null: all is walked, and nothing kept
    std::vector<std::string> arrays{};   // fingerprints of the arrays of scenarios of the run, by number

    kept::conditions conditions(const settled& run) const;
    // Conditions of the first tiles, which are compared with double.
    kept::conditions conditions_of_shadows(const settled& run, program::precision in) const;
};

class book_walk {
  public:
    // `all` says which paths; its jobs and its progress are those of each walk.
    book_walk(std::vector<planned>& plans, const settled& run, run::walk all, teller& tells,
              const keeping& keeps);

    // Takes what is known already. Throws tilewalk::error (input) if that has to be all and is not.
    void take_known();
    // Walks what GPUs can. The rest is left to the CPU where that
    // is allowed and the CPU has the precision and the random numbers, else it fails with the GPU's error. A
    // run that is left for another call goes into `keeps`, if there is any. Kernels of ways back are built by
    // `way_back`, if there is one.
    void on_gpus(cuda::backend& gpus, const cuda::backend::choice& on, run_manifest& told,
                 ready_on_gpus* keeps = nullptr, const cuda::ways_back::decider& way_back = {});
    // Walks what is left.
    void on_cpu(const cpu::lane_operations& operations, const cpu_maker& make);
    // Takes the difference of a run that is not in double from double, for every trade, on its first tiles.
    void take_shadows(const cpu::lane_operations& operations, const cpu_maker& make);

    // Results by trade; a trade that needed no path, or failed, has none.
    std::vector<std::optional<walked_trade>> take_walked() { return std::move(walked_); }

  private:
    bool takes_points(std::size_t trade) const;
    bool is_quasi(std::size_t trade) const;
    std::vector<std::optional<error>> walk(const kept::walker& on, const run::walk& asked,
                                           std::span<const run::job> named, const kept::conditions& by,
                                           const kept::taker& take);
    run::outcome walk(run::back_end& on, const run::walk& asked, std::span<const run::job> named,
                      const kept::conditions& by);
    // The jobs of trades as they are known everywhere, for a store; without one there are none.
    std::vector<run::job> named(const std::vector<std::size_t>& trades) const;
    void take_known_samples(const std::vector<std::size_t>& trades);
    void walk_on_gpus(const std::vector<std::size_t>& trades, bool has_points, cuda::backend& gpus,
                      const cuda::backend::choice& on, cuda::gpu_facts& told, ready_on_gpus* keeps);
    // The precision or the numbers that the CPU lacks, with what to take in their place; empty: none.
    std::string lack_of_cpu() const;
    // The trades that a GPU can walk both ways. The others are left, or fail where the CPU lacks something.
    std::vector<std::size_t> choose_both_ways(const std::vector<std::size_t>& trades,
                                              std::vector<left_work>& told_left);
    void walk_both_ways(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                        const cuda::backend::choice& on, cuda::gpu_facts& told,
                        const cuda::ways_back::decider& by);
    void take_gpu_outcome(const std::vector<std::size_t>& trades, run::outcome& got, bool is_quasi,
                          bool cpu_can);
    void take_gpu_sample(const std::vector<std::size_t>& trades, cuda::backend& gpus,
                         const cuda::backend::choice& on, cuda::gpu_settings with, run::walk asked,
                         cuda::gpu_facts& facts, cuda::ready_run& keeps);

    std::vector<planned>& plans_;
    const settled& run_;
    run::walk all_;
    teller& tells_;
    const keeping& keeps_;
    std::uint64_t steps_known_ = 0;  // path-steps that need not be walked
    std::vector<std::size_t> left_;  // trades whose paths are still to be walked
    std::vector<std::optional<walked_trade>> walked_;
};

// Adds the kernels of a walk, and their time.
void add_kernels(const cuda::gpu_facts& of, run_manifest& told);

// Seats trades in the programs that GPUs walk them by, ahead of the walk: a walk of these trades finds them.
void seat_ahead(std::span<const planned> plans, const settled& run, ready_on_gpus& into);

}  // namespace tilewalk::verbs
