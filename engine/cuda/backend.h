// SPDX-License-Identifier: Apache-2.0
// The GPUs of this process as an engine uses them: opened when they are first asked for, kept with the
// kernels that were loaded.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/cuda/kernel_store.h"
#include "engine/cuda/launcher.h"

namespace tilewalk::cuda {

class backend {
  public:
    struct choice {
        std::vector<std::shared_ptr<loaded_device>> devices;  // empty: the CPU
        bool may_fall_back = false;                           // to the CPU when a device fails
        std::string why_cpu;                                  // why no GPU was taken where one was welcome
    };
    // `wanted` is run_settings::device. Throws tilewalk::error: usage for a name or index that means nothing,
    // device for a GPU that was asked for and can't be used.
    choice choose(const std::string& wanted);

    // Throws tilewalk::error (device) if there is no run-time compiler.
    kernel_store& kernels();

  private:
    std::shared_ptr<loaded_device> open(int index);

    std::mutex lock_;
    std::map<int, std::shared_ptr<loaded_device>> open_;
    std::unique_ptr<kernel_store> kernels_;
};

}  // namespace tilewalk::cuda
