// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/gpu_timer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "engine/base/crew.h"
#include "tilewalk/error.h"

namespace tilewalk::tuning {

namespace {

constexpr int warm_ups = 3;
// Samples between two readings of the clock, since a reading takes longer than most kernels.
constexpr std::size_t samples_of_clock = 8;

// Pause after a sample that is dropped. A measurement gives up after stop_rule::most of them.
constexpr auto while_throttled = std::chrono::milliseconds(25);

const std::string copy_text =
    "#include \"kernels/studies/copy.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "copy(const tilewalk::kernels::studies::sixteen_bytes* from, "
    "tilewalk::kernels::studies::sixteen_bytes* to, unsigned long long count) {\n"
    "    tilewalk::kernels::studies::copy(from, to, count);\n}\n";

}  // namespace

gpu_timer::gpu_timer(std::shared_ptr<cuda::loaded_device> on, cuda::kernel_store& kernels,
                     std::unique_ptr<clocks> with, stop_rule until)
    : on_(std::move(on)),
      kernels_(kernels),
      clocks_(std::move(with)),
      until_(until),
      stream_(cuda::new_stream(on_->get())) {}

cuda::kernel gpu_timer::find(const std::string& text, const char* name, const cuda::toolkit_headers& with) {
    return on_->find(kernels_.cubin({text, device().properties().architecture(), with}), name);
}

void gpu_timer::compile(std::span<const std::string> texts, const cuda::toolkit_headers& with) {
    std::atomic<std::size_t> next{0}, done{0};
    const std::string architecture = device().properties().architecture();
    const std::size_t workers = std::min(texts.size(), static_cast<std::size_t>(threads::usable_cores()));
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < workers; ++t) {
            threads.emplace_back([&] {
                for (std::size_t i = next++; i < texts.size(); i = next++) {
                    if (cancel != nullptr && *cancel) break;
                    try {
                        kernels_.cubin({texts[i], architecture, with});
                    } catch (const std::exception&) {
                        // find() will compile it again, and report the error.
                    }
                    ++done;
                }
            });
        }
        while (done < texts.size() && !(cancel != nullptr && *cancel)) {
            says("compiling kernels: " + std::to_string(done) + " of " + std::to_string(texts.size()));
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
    if (cancel != nullptr && *cancel) throw error(error_kind::cancelled, "stopped");
}

void gpu_timer::flush_caches() {
    if (!flush_) flush_.emplace(device(), 2 * std::max<std::size_t>(device().properties().l2_bytes, 1 << 20));
    device().fill(flush_->as<void>(), 0, flush_->bytes(), stream_.get());
}

gpu_timer::timing gpu_timer::time(const std::function<void()>& work) {
    return time(work, true);
}

gpu_timer::timing gpu_timer::time_warm(const std::function<void()>& work) {
    return time(work, false);
}

std::optional<double> gpu_timer::sample(const std::function<void()>& work) {
    return sample(work, true);
}

std::optional<double> gpu_timer::sample(const std::function<void()>& work, bool cold) {
    if (cancel != nullptr && *cancel) throw error(error_kind::cancelled, "stopped");
    const cuda::in_flight waits(device(), {stream_.get()});
    if (cold) flush_caches();
    const auto begin = cuda::new_event(device(), stream_.get());
    work();
    const auto end = cuda::new_event(device(), stream_.get());
    device().wait(stream_.get());
    if (is_throttled()) return std::nullopt;
    return device().milliseconds_between(begin.get(), end.get());
}

std::optional<double> gpu_timer::sample_of(const std::function<double()>& work) {
    if (cancel != nullptr && *cancel) throw error(error_kind::cancelled, "stopped");
    flush_caches();
    device().wait(stream_.get());
    const double milliseconds = work();
    return is_throttled() ? std::nullopt : std::optional(milliseconds);
}

bool gpu_timer::is_throttled() {
    if (samples_++ % samples_of_clock == 0 || (clock_ && clock_->throttled)) clock_ = clocks_->now();
    return clock_ && clock_->throttled;
}

gpu_timer::timing gpu_timer::time(const std::function<void()>& work, bool cold) {
    {
        const cuda::in_flight waits(device(), {stream_.get()});
        for (int i = 0; i < warm_ups; ++i) work();
        device().wait(stream_.get());
    }
    return time_by([&] { return sample(work, cold); });
}

gpu_timer::timing gpu_timer::time_of(const std::function<double()>& work) {
    for (int i = 0; i < warm_ups; ++i) work();
    return time_by([&] { return sample_of(work); });
}

gpu_timer::timing gpu_timer::time_by(const std::function<std::optional<double>()>& sample) {
    const auto patient_sample = [&] {
        const auto got = sample();
        if (!got) std::this_thread::sleep_for(while_throttled);
        return got;
    };
    const auto got = measure(patient_sample, until_, seconds_now);
    if (!got) throw clock_throttled();
    return {got->of, got->dropped, clock_ ? clock_->multiprocessor_mhz : 0};
}

double gpu_timer::copy_rate() {
    if (copy_rate_) return *copy_rate_;
    // Bytes to copy: far more than the caches hold; with the target, at most a quarter of free memory.
    const std::size_t bytes =
        std::min<std::size_t>(std::size_t{1} << 30, device().free_bytes() / 8) / 16384 * 16384;
    const cuda::device_memory from(device(), bytes), to(device(), bytes);
    device().fill(from.as<void>(), 1, bytes, stream_.get());
    const cuda::kernel k = find(copy_text, "copy");
    const void* source = from.as<void>();
    void* target = to.as<void>();
    unsigned long long count = bytes / 16;
    void* arguments[] = {&source, &target, &count};
    cuda::launch how;
    how.blocks = static_cast<std::uint32_t>(bytes / 16384);
    how.threads = 256;
    const timing t = time([&] { run(k, how, arguments); });
    copy_rate_ = 2.0 * static_cast<double>(bytes) / (t.milliseconds.median * 1e-3);
    return *copy_rate_;
}

}  // namespace tilewalk::tuning
