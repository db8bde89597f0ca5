// SPDX-License-Identifier: Apache-2.0
// A crew of devices: it opens them, compiles their kernels, and does work that is cut into pieces. A device
// that is lost leaves its piece to the others.
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
// A kernel that is to be compiled, and what its failure leads to.
struct wanted_kernel {
    built_kernel* of;
    std::function<void(const error&)> fail;
};

// Extent of a failure.
enum class ends { piece, share_of_device, work };

// Thrown by a worker that finds the work stopped.
struct stopped_early {};

// Work cut into pieces, which are known by number. Worker w serves device w, modulo their number.
class piecework {
  public:
    virtual ~piecework() = default;
    // Called once by each worker, before its first piece and after its last.
    virtual void begin(std::size_t) {}
    virtual void end(std::size_t) {}
    // Returns whether the device has walked.
    virtual bool walk(std::size_t worker, std::size_t piece) = 0;
    // A final error of a device ends its share, whatever the work says.
    virtual ends ended_by(const error& why) const = 0;
    // The piece can't be done; or no device is left for it, then called for each of them.
    virtual void fail(std::size_t piece, const error& why) = 0;
    // An error has ended the work, and other workers are to stop.
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

    // Returns the bytes that work may take on every device: at most three quarters of what is free, and at
    // most `most` (0: no such limit). `more` opens what else the work needs. A device for which either fails
    // is lost.
    std::uint64_t open(std::uint64_t most, const std::function<void(std::size_t, device&)>& more);
    // Of devices that are not lost, each once.
    std::vector<std::string> architectures() const;
    // Compiles each text for each architecture, on `threads` threads. Once *cancel is set it starts no more,
    // waits for those under way, since a compiler can't be interrupted, and throws tilewalk::error
    // (cancelled).
    void compile(std::span<const wanted_kernel> wanted, int threads, const std::atomic<bool>* cancel);
    // Does all pieces. `tell`, if there is one, is called about ten times a second. Throws
    // tilewalk::error: cancelled, or what has ended the work.
    void walk(piecework& work, std::size_t pieces, std::size_t workers, const std::atomic<bool>* cancel,
              const std::function<void()>& tell = {});

    // Counts launches, and seconds of one worker.
    void count(std::size_t launches, double device_seconds = 0, double kernel_seconds = 0);
    // Forgets what was lost and counted, but for kernels.
    void begin_again();
    gpu_facts facts() const;

  private:
    const std::vector<std::shared_ptr<loaded_device>> devices_;
    counted_kernels kernels_;
    std::mutex lock_;  // guards what workers count
    gpu_facts facts_;
};

}  // namespace tilewalk::cuda
