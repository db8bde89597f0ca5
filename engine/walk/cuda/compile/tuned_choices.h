// SPDX-License-Identifier: Apache-2.0
// Kept choices: the builds of kernels that were measured to be fastest on a device, for runs that leave it
// open. Stored for each device, driver and kernel as readable JSON, in the folder `tuned` beside the kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/device.h"
#include "products/program/passes.h"

namespace tilewalk::cuda {

struct tuned_choice {
    kernel_decision how;
    double milliseconds = 0;          // a launch's time
    double untuned_milliseconds = 0;  // a launch's time without this choice
    std::string date;                 // day of the measurement
};

class tuned_choices {
  public:
    // An empty folder remembers nothing.
    explicit tuned_choices(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Empty if the file is missing, damaged, or of another device, driver or program.
    std::optional<tuned_choice> find(const device_properties& on, const program::path_program& p,
                                     const kernel_wish& asked);
    // Throws tilewalk::error (io) if the choice can't be kept.
    void remember(const device_properties& on, const program::path_program& p, const kernel_wish& asked,
                  const tuned_choice& found);

    // While this count is unchanged, find() answers as before.
    std::uint64_t changes() const { return changes_; }

    std::filesystem::path file_of(const device_properties& on, const program::path_program& p,
                                  const kernel_wish& asked) const;

  private:
    const std::filesystem::path folder_;
    std::atomic<std::uint64_t> changes_{0};
    std::mutex lock_;
    std::unordered_map<std::string, std::optional<tuned_choice>> known_;  // by file
};

}  // namespace tilewalk::cuda
