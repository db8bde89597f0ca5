// SPDX-License-Identifier: Apache-2.0
// Stored choices: how each kernel ran fastest on a device, as measured by the tuner. Runs that leave the
// build open use them. They are JSON files by device, driver and kernel, in folder `tuned` beside the
// kernels.
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
    double milliseconds = 0;          // time of a launch
    double untuned_milliseconds = 0;  // time of a launch of the kernel that the rules would build
    std::string date;                 // day of the measurement
};

class tuned_choices {
  public:
    // If `folder` is empty, nothing is stored or found.
    explicit tuned_choices(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Empty if there is no file, or if it is damaged or belongs to another device, driver or program.
    std::optional<tuned_choice> find(const device_properties& on, const program::path_program& p,
                                     const kernel_wish& asked);
    // Throws tilewalk::error (io) if the choice can't be written.
    void remember(const device_properties& on, const program::path_program& p, const kernel_wish& asked,
                  const tuned_choice& found);

    // Counts changes to the stored choices; while it stays the same, so do the answers of find().
    std::uint64_t changes() const { return changes_; }

    std::filesystem::path file_of(const device_properties& on, const program::path_program& p,
                                  const kernel_wish& asked) const;

  private:
    const std::filesystem::path folder_;
    std::atomic<std::uint64_t> changes_{0};
    std::mutex lock_;
    std::unordered_map<std::string, std::optional<tuned_choice>> known_;  // by name of the file
};

}  // namespace tilewalk::cuda
