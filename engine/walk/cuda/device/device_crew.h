// SPDX-License-Identifier: Apache-2.0
// A crew opens its devices, compiles their kernels, and shares out pieces of work. A lost device leaves
// its piece to the others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/walk/cuda/compile/counted_kernels.h"
#include "engine/walk/cuda/device/gpu_run.h"
#include "engine/walk/cuda/device/loaded_device.h"

namespace tilewalk::cuda {

struct built_kernel {
    std::string text;
    std::map<std::string, std::shared_ptr<const std::string>> cubins{};

    const std::shared_ptr<const std::string>& cubin_for(loaded_device& d) const {
        return cubins.at(d.get().properties().architecture());
    }
    kernel on(loaded_device& d, const char* name) const { return d.find(cubin_for(d), name); }
};
// A kernel to compile, and a function that is called with the error if it does not compile.
struct wanted_kernel {
    built_kernel* of;
    std::function<void(const error&)> fail;
};

// Extent of an error: it ends a piece, all of this device's work, or the whole work.
enum class ends { piece, share_of_device, work };

// Thrown by a worker that notices that the work was stopped.
struct stopped_early {};

// Work cut into numbered pieces. Worker w uses device w modulo the number of devices.
class piecework {
  public:
    virtual ~piecework() = default;
    // Each worker calls begin() before its first piece and end() after its last.
    virtual void begin(std::size_t) {}
    virtual void end(std::size_t) {}
    // Does a piece. Returns whether the device computed anything.
    virtual bool walk(std::size_t worker, std::size_t piece) = 0;
    // Extent of an error. Errors after which a device is lost end its share, whatever this returns.
    virtual ends ended_by(const error& why) const = 0;
    // Called if `piece` can't be done: with its error or, if no device is left, with the error of each.
    virtual void fail(std::size_t piece, const error& why) = 0;
    // Called when an error has ended the work, so that the other workers stop.
    virtual void give_up() {}
};

class device_crew {
  public:
    using devices = std::span<const std::shared_ptr<loaded_device>>;
    device_crew(devices on, kernel_store& kernels);

    devices all() const { return devices_; }
    std::size_t size() const { return devices_.size(); }
    loaded_device& operator[](std::size_t number) const { return *devices_[number]; }
    counted_kernels& kernels() { return kernels_; }

    // Returns the bytes that the work may take on each device: at most three quarters of what is free, and at
    // most `most` (0: no limit). Calls more(number, device) for each device, to open what else the work
    // needs. A device on which this fails is lost.
    std::uint64_t open(std::uint64_t most, const std::function<void(std::size_t, device&)>& more);
    // Architectures of the devices that are not lost, without repetition.
    std::vector<std::string> architectures() const;
    // Compiles each kernel for each architecture, on `threads` threads. If *cancel is set, waits for those
    // being compiled, which can't be interrupted, and throws tilewalk::error (cancelled).
    void compile(std::span<const wanted_kernel> wanted, int threads, const std::atomic<bool>* cancel);
    // Does all pieces of `work`. Calls tell(), if given, ten times a second. Throws tilewalk::error:
    // cancelled, or what ended the work.
    void walk(piecework& work, std::size_t pieces, std::size_t workers, const std::atomic<bool>* cancel,
              const std::function<void()>& tell = {});

    // Adds a worker's launches to the facts, which keep the most seconds of any worker.
    void count(std::size_t launches, double device_seconds = 0, double kernel_seconds = 0);
    // Forgets lost devices and counts, except those of kernels.
    void begin_again();
    gpu_facts facts() const;

  private:
    const std::vector<std::shared_ptr<loaded_device>> devices_;
    counted_kernels kernels_;
    std::mutex lock_;  // guards facts_ while workers run
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
