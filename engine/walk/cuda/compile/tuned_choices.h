// SPDX-License-Identifier: Apache-2.0
// Kept choices: the ways to build kernels that were measured to be fastest on a device, for runs that leave
// it open. Each device, driver and kernel has a file that people can read: JSON in the folder `tuned` beside
// the kernels.
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
    double milliseconds = 0;          // a launch of the kernel takes
    double untuned_milliseconds = 0;  // the same without this choice
    std::string date;                 // day of the measurement
};

class tuned_choices {
  public:
    // An empty folder remembers nothing.
    explicit tuned_choices(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // The choice for a kernel of this program; a file that is damaged, or of another device, driver
    // or program, is as good as none.
    std::optional<tuned_choice> find(const device_properties& on, const program::path_program& p,
                                     const kernel_wish& asked);
    // Throws tilewalk::error (io) if it can't be kept.
    void remember(const device_properties& on, const program::path_program& p, const kernel_wish& asked,
                  const tuned_choice& found);

    // Counts the choices remembered: as long as it stays, find() says what it said.
    std::uint64_t changes() const { return changes_; }

    // The file in which a choice is kept.
    std::filesystem::path file_of(const device_properties& on, const program::path_program& p,
                                  const kernel_wish& asked) const;

  private:
    const std::filesystem::path folder_;
    std::atomic<std::uint64_t> changes_{0};
    std::mutex lock_;
    std::unordered_map<std::string, std::optional<tuned_choice>> known_;  // by file
};

}  // namespace tilewalk::cuda
