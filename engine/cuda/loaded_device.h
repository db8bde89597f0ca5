// SPDX-License-Identifier: Apache-2.0
// A device with the kernels that are loaded on it, kept for many runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "engine/cuda/device.h"

namespace tilewalk::cuda {

class loaded_device {
  public:
    explicit loaded_device(std::unique_ptr<device> d) : device_(std::move(d)) {}
    ~loaded_device();

    device& get() const { return *device_; }
    // The kernel `name` of a cubin; loaded once.
    kernel find(const std::shared_ptr<const std::string>& cubin, const char* name);
    // A variable of a cubin that is loaded.
    std::span<std::byte> variable(const std::shared_ptr<const std::string>& cubin, const char* name);

  private:
    std::unique_ptr<device> device_;
    std::mutex lock_;
    struct loaded {
        std::shared_ptr<const std::string> cubin;  // keeps its address, the key, from being used again
        module in;
    };
    std::map<const std::string*, loaded> modules_;
};

}  // namespace tilewalk::cuda
