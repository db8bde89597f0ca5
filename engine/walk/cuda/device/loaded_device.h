// SPDX-License-Identifier: Apache-2.0
// An open device with the kernels loaded on it, kept from run to run.
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
    // The module's variable `name`. The cubin must have been loaded by find().
    std::span<std::byte> variable(const std::shared_ptr<const std::string>& cubin, const char* name);

  private:
    pooled_device device_;
    std::mutex lock_;
    struct loaded {
        std::shared_ptr<const std::string> cubin;  // owned, because the map's key is its address
        module in;
        std::map<std::string, kernel, std::less<>> kernels{};  // by name, those asked for so far
    };
    std::map<const std::string*, loaded> modules_;
};

}  // namespace tilewalk::cuda
