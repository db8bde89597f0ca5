// SPDX-License-Identifier: Apache-2.0
// Times a trade's walk both ways on a GPU with one kernel after another.
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

    const run::job& of() const { return of_; }
    std::uint64_t paths() const { return paths_; }
    std::string text(const cuda::way_back_decision& how) const;
    // Why such a kernel can't be built or run on this device; empty if it can.
    std::string why_not(const cuda::way_back_decision& how) const;
    struct kernel_figures {
        int warps = 0;  // resident at a time
        int registers = 0;
        std::size_t local_bytes = 0, shared_bytes = 0;
    };
    kernel_figures figures(const cuda::way_back_decision& how);

    run::tally found(const cuda::way_back_decision& how);
    gpu_timer::timing time(const cuda::way_back_decision& how);
    std::optional<double> sample(const cuda::way_back_decision& how);

    // Bytes of shocks written on the way forth and read on the way back.
    std::uint64_t bytes_kept(const cuda::way_back_decision& how) const;

  private:
    double walk(const cuda::way_back_decision& how, std::optional<run::tally>* into = nullptr);

    gpu_timer& on_;
    run::job of_;
    std::uint64_t paths_;
};

}  // namespace tilewalk::tuning
