// SPDX-License-Identifier: Apache-2.0
// A device with its loaded kernels, kept for many runs.
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
    kernel find(const std::shared_ptr<const std::string>& cubin, const char* name);
    // The cubin must be loaded.
    std::span<std::byte> variable(const std::shared_ptr<const std::string>& cubin, const char* name);

  private:
    pooled_device device_;
    std::mutex lock_;
    struct loaded {
        std::shared_ptr<const std::string> cubin;  // keeps the key, its address, from reuse
        module in;
        std::map<std::string, kernel, std::less<>> kernels{};  // found so far, by name
    };
    std::map<const std::string*, loaded> modules_;
};

}  // namespace tilewalk::cuda
