// SPDX-License-Identifier: Apache-2.0
// The GPUs of this process. A GPU is opened on first use and stays open, with its loaded kernels.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/compile/kernels_ahead.h"
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "tilewalk/timings.h"

namespace tilewalk::cuda {

// The machine's GPUs and compiler, which tests replace.
struct gpu_machine {
    std::function<device_survey()> survey = survey_devices;
    std::function<std::unique_ptr<device>(int)> open = open_device;
    std::function<std::string()> why_no_compiler = cuda::why_no_compiler;
    std::function<cuda::compiler&()> compiler = nvrtc_compiler;
    std::filesystem::path kernel_folder = default_cache_folder();
    // For setting `auto`: tiles that the processor walks before GPUs take over. Empty: it walks until a GPU
    // is open and a kernel is there that is worth its compilation.
    std::optional<std::uint64_t> tiles_before_gpus{};
};

class backend {
  public:
    explicit backend(gpu_machine on = {});
    // Waits for GPUs that are being opened and for kernels that are being compiled.
    ~backend();
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;

    struct choice {
        std::vector<std::shared_ptr<loaded_device>> devices;  // empty: run on the CPU
        bool may_fall_back = false;     // whether the CPU may take over if a device fails
        std::string why_cpu;            // for setting `auto`: why no GPU is used
        std::vector<std::string> lost;  // for setting `auto`: GPUs that failed to open, and why
    };
    // Chooses devices for run_settings::device. Throws tilewalk::error: usage for an unknown name or index,
    // device if a GPU that the setting names can't be used.
    choice choose(const std::string& wanted);
    // Returns what choose(wanted) has returned, if no GPU failed to open then; else empty.
    std::optional<choice> chosen(const std::string& wanted) const;
    // Starts opening the GPUs that choose(wanted) will return, in a thread. Errors are left to choose().
    void open_ahead(const std::string& wanted, timings* times = nullptr);

    // Calls task() on a thread of its own, or at once if the system gives none. The task may outlive its
    // caller, but not this object. It must not throw.
    void beside(std::function<void()> task);
    // Whether this object is being destroyed, so that tasks should end.
    bool is_closing() const { return is_closing_; }

    // The cache of compiled kernels. Throws tilewalk::error (device) if there is no run-time compiler.
    kernel_store& kernels();
    // Compiles into kernels(). Throws as kernels() does.
    kernels_ahead& ahead();
    // Seconds that walks for setting `auto` have taken on the processor.
    double seconds_on_processor() const { return seconds_on_processor_; }
    void add_seconds_on_processor(double more) { seconds_on_processor_ += more; }
    const std::optional<std::uint64_t>& tiles_before_gpus() const { return machine_.tiles_before_gpus; }
    tuned_choices& tuned() { return tuned_; }
    // The first GPU that choose(wanted) would return, without opening it; empty for the CPU.
    std::optional<device_properties> first_of(const std::string& wanted) const;

  private:
    void end_tasks();
    // Whether this is a copy of an object that had begun to use GPUs, in a forked process.
    bool is_forked() const;
    choice newly_chosen(const std::string& wanted);
    std::shared_ptr<loaded_device> open(int index);

    const pid_t process_ = ::getpid();
    std::atomic<bool> has_begun_{false};
    gpu_machine machine_;
    tuned_choices tuned_;
    std::mutex lock_;
    std::map<int, std::shared_ptr<loaded_device>> open_;
    mutable std::mutex lock_of_chosen_;
    std::map<std::string, choice> chosen_;  // by value of the setting device
    std::unique_ptr<kernel_store> kernels_;
    std::unique_ptr<kernels_ahead> ahead_;
    std::atomic<double> seconds_on_processor_{0};
    std::atomic<bool> is_closing_{false};
    std::mutex lock_of_tasks_;
    struct task {
        std::shared_ptr<std::atomic<bool>> has_ended;
        std::jthread by;
    };
    std::vector<task> tasks_;
};

}  // namespace tilewalk::cuda
