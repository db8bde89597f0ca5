// SPDX-License-Identifier: Apache-2.0
// Owners of device resources: memory, streams, events, modules, textures. Memory must not be released while
// work uses it; in_flight ensures this if an error ends a run early.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/device.h"

namespace tilewalk::cuda {

template <class handle, void (device::*close)(handle) noexcept>
class owned {
  public:
    owned(device& on, handle what) noexcept : on_(&on), what_(what) {}
    ~owned() {
        if (on_ != nullptr) (on_->*close)(what_);
    }
    owned(owned&& other) noexcept : on_(std::exchange(other.on_, nullptr)), what_(other.what_) {}
    owned& operator=(owned&& other) noexcept {
        std::swap(on_, other.on_);
        std::swap(what_, other.what_);
        return *this;
    }

    handle get() const noexcept { return what_; }

  private:
    device* on_;
    handle what_;
};

using owned_stream = owned<stream, &device::close_stream>;
using owned_event = owned<event, &device::close_event>;
using owned_module = owned<module, &device::unload>;
using owned_texture = owned<texture, &device::close_texture>;

inline owned_stream new_stream(device& on) {
    return {on, on.open_stream()};
}
inline owned_event new_event(device& on, stream s) {
    owned_event e(on, on.open_event());
    on.record(e.get(), s);
    return e;
}

class device_memory {
  public:
    device_memory(device& on, std::size_t bytes) : memory_(on, on.allocate(bytes)), bytes_(bytes) {}

    std::size_t bytes() const noexcept { return bytes_; }
    template <class value>
    value* as() const noexcept {
        return static_cast<value*>(memory_.get());
    }

  private:
    owned<void*, &device::release> memory_;
    std::size_t bytes_;
};

// Page-locked host memory: copied at full speed while kernels run, or read by kernels directly.
class pinned_memory {
  public:
    pinned_memory(device& on, std::size_t bytes)
        : on_(&on), memory_(on, on.allocate_pinned(bytes)), bytes_(bytes) {}

    std::size_t bytes() const noexcept { return bytes_; }
    template <class value>
    value* as() const noexcept {
        return static_cast<value*>(memory_.get());
    }
    template <class value>
    value* on_device() const {
        return static_cast<value*>(on_->device_address_of(memory_.get()));
    }

  private:
    device* on_;
    owned<void*, &device::release_pinned> memory_;
    std::size_t bytes_;
};

// Waits for all work in the streams when destroyed. Declare it after the memory that the work uses.
class in_flight {
  public:
    in_flight(device& on, std::vector<stream> streams) : on_(on), streams_(std::move(streams)) {}
    ~in_flight();
    // Skips the wait. To be called when all work has been waited for.
    void end() noexcept { streams_.clear(); }
    in_flight(const in_flight&) = delete;
    in_flight& operator=(const in_flight&) = delete;

  private:
    device& on_;
    std::vector<stream> streams_;
};

}  // namespace tilewalk::cuda
