// SPDX-License-Identifier: Apache-2.0
// Keeps a run's setup for the next one: jobs grouped by kernel, kernels, packed trades, and each device's
// memory. A run of the same programs then uploads only numbers that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/paths/device_walk.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// For one thread at a time.
class ready_run {
  public:
    // The most device memory kept. Larger runs take so long that a new setup does not matter.
    static constexpr std::size_t most_bytes_left = std::size_t{64} << 20;

    // Walks a run. Its state is kept if jobs have an owner (see run::walk), read no arrays of shocks or
    // scenarios, and did not fail on a device. Throws tilewalk::error (cancelled).
    gpu_outcome walk(const gpu_run& asked, device_crew::devices devices, kernel_store& kernels);

    bool is_empty() const { return !state_; }

  private:
    bool is_made_for(const gpu_run& asked, device_crew::devices devices) const;
    bool take_over(const gpu_run& asked, device_crew::devices devices);
    void begin(const gpu_run& asked, device_crew::devices devices, kernel_store& kernels);
    gpu_outcome walked(bool is_anew);
    bool is_worth_leaving(const gpu_outcome& got) const;
    void leave(const gpu_outcome& got);
    void forget();

    std::optional<device_crew> crew_;
    std::shared_ptr<const void> owner_;  // owns the data that the jobs of state_ point to
    std::uint64_t tuned_changes_ = 0;
    std::unique_ptr<run_state> state_;
    std::vector<std::unique_ptr<device_walk>> walks_;  // by device
};

}  // namespace tilewalk::cuda
