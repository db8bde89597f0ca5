// SPDX-License-Identifier: Apache-2.0
// A device with the kernels that are loaded on it, kept for many runs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/pooled_device.h"

namespace tilewalk::cuda {

class loaded_device {
  public:
    explicit loaded_device(std::unique_ptr<device> d, const idle_limits& most = {})
        : device_(std::move(d), most) {}
    ~loaded_device();

    device& get() { return device_; }
    // The kernel `name` of a cubin; loaded once, and found once.
    kernel find(const std::shared_ptr<const std::string>& cubin, const char* name);
    // A variable of a cubin that is loaded.
    std::span<std::byte> variable(const std::shared_ptr<const std::string>& cubin, const char* name);

  private:
    pooled_device device_;
    std::mutex lock_;
    struct loaded {
        std::shared_ptr<const std::string> cubin;  // keeps its address, the key, from being used again
        module in;
        std::map<std::string, kernel, std::less<>> kernels{};  // found so far, by name
    };
    std::map<const std::string*, loaded> modules_;
};

}  // namespace tilewalk::cuda
