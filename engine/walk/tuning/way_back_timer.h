// SPDX-License-Identifier: Apache-2.0
// Times one trade's walk forward and back on a GPU, with one kernel after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/walk/cuda/compile/way_back_text.h"
#include "engine/walk/job.h"
#include "engine/walk/tally.h"
#include "engine/walk/tuning/gpu_timer.h"

namespace tilewalk::tuning {

class way_back_timer {
  public:
    // Copies the job, but not its program and numbers, which must outlive the timer.
    way_back_timer(gpu_timer& on, const run::job& of, std::uint64_t paths)
        : on_(on), of_(of), paths_(paths) {}

    const run::job& timed() const { return of_; }
    std::uint64_t paths() const { return paths_; }
    std::string text(const cuda::way_back_decision& how) const;
    // Why a kernel with this decision can't be built or run on the device; empty if it can.
    std::string why_not(const cuda::way_back_decision& how) const;
    struct kernel_figures {
        int warps = 0;  // that run at once on a multiprocessor
        int registers = 0;
        std::size_t local_bytes = 0, shared_bytes = 0;
    };
    kernel_figures figures(const cuda::way_back_decision& how);

    run::tally found(const cuda::way_back_decision& how);
    gpu_timer::timing time(const cuda::way_back_decision& how);
    std::optional<double> sample(const cuda::way_back_decision& how);

    // Bytes of shocks that are written on the way forward and read on the way back.
    std::uint64_t bytes_kept(const cuda::way_back_decision& how) const;

  private:
    double walk(const cuda::way_back_decision& how, std::optional<run::tally>* into = nullptr);

    gpu_timer& on_;
    run::job of_;
    std::uint64_t paths_;
};

}  // namespace tilewalk::tuning
