// SPDX-License-Identifier: Apache-2.0
// Times work on a GPU between two events, with its caches flushed. Samples at a throttled clock don't count.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "engine/walk/tuning/clocks.h"
#include "engine/walk/tuning/statistics.h"
#include "tilewalk/error.h"

namespace tilewalk::tuning {

// Thrown if the clock was throttled for as long as the timer waits. Nothing was measured.
class clock_throttled : public error {
  public:
    clock_throttled()
        : error(error_kind::device,
                "the clock was throttled throughout; is the GPU too hot, short of power, or at work for "
                "somebody else?") {}
};

class gpu_timer {
  public:
    gpu_timer(std::shared_ptr<cuda::loaded_device> on, cuda::kernel_store& kernels,
              std::unique_ptr<clocks> with, stop_rule until);

    cuda::device& device() const { return on_->get(); }
    const std::shared_ptr<cuda::loaded_device>& loaded() const { return on_; }
    cuda::stream stream() const { return stream_.get(); }
    cuda::kernel_store& kernels() const { return kernels_; }
    const stop_rule& until() const { return until_; }

    // Kernel `name` of a text that includes only "kernels/..." and the toolkit headers `with`. Throws
    // tilewalk::error (compile) with the compiler's messages.
    cuda::kernel find(const std::string& text, const char* name, const cuda::toolkit_headers& with = {});
    // Compiles texts that find() will ask for, on all cores. Errors are left to find().
    void compile(std::span<const std::string> texts, const cuda::toolkit_headers& with = {});

    // Times all that `work` puts into stream(), after a warm-up. Throws clock_throttled.
    struct timing {
        summary milliseconds;
        std::size_t dropped = 0;
        int clock_mhz = 0;  // of the multiprocessors at the end; 0: unknown
    };
    timing time(const std::function<void()>& work);
    // As time(), without flushing caches.
    timing time_warm(const std::function<void()>& work);

    // Takes one sample after flushing caches, in milliseconds; empty if the clock was throttled.
    std::optional<double> sample(const std::function<void()>& work);

    // Times work that uses streams of its own: `work` waits for them and returns milliseconds on the device.
    timing time_of(const std::function<double()>& work);
    std::optional<double> sample_of(const std::function<double()>& work);

    void run(cuda::kernel k, const cuda::launch& how, std::span<void*> arguments) {
        device().run(k, how, arguments, stream_.get());
    }

    template <class value>
    cuda::device_memory uploaded(const std::vector<value>& from) {
        cuda::device_memory to(device(), from.size() * sizeof(value));
        device().upload(to.as<void>(), from.data(), from.size() * sizeof(value), stream_.get());
        device().wait(stream_.get());
        return to;
    }
    template <class value>
    std::vector<value> downloaded(const void* from, std::size_t count) {
        std::vector<value> to(count);
        device().download(to.data(), from, count * sizeof(value), stream_.get());
        device().wait(stream_.get());
        return to;
    }

    // Bytes a second, read and written together, of the fastest copy kernel. Measured on the first call.
    double copy_rate();

    clocks& clock() const { return *clocks_; }

    std::function<void(const std::string&)> says = [](const std::string&) {};
    // If set to true by another thread, timing throws tilewalk::error (cancelled).
    const std::atomic<bool>* cancel = nullptr;

  private:
    timing time(const std::function<void()>& work, bool cold);
    std::optional<double> sample(const std::function<void()>& work, bool cold);
    timing time_by(const std::function<std::optional<double>()>& sample);
    bool is_throttled();
    void flush_caches();

    std::shared_ptr<cuda::loaded_device> on_;
    cuda::kernel_store& kernels_;
    std::unique_ptr<clocks> clocks_;
    stop_rule until_;
    cuda::owned_stream stream_;
    std::optional<cuda::device_memory> flush_;
    std::optional<double> copy_rate_;
    std::optional<clock_state> clock_;
    std::size_t samples_ = 0;
};

}  // namespace tilewalk::tuning
