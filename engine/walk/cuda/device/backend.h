// SPDX-License-Identifier: Apache-2.0
// The process's GPUs for an engine. A GPU is opened on first use, and stays open with its loaded kernels.
#pragma once

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
#include "engine/walk/cuda/compile/tuned_choices.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "tilewalk/timings.h"

namespace tilewalk::cuda {

// Tests bring GPUs of their own.
struct gpu_machine {
    std::function<device_survey()> survey = survey_devices;
    std::function<std::unique_ptr<device>(int)> open = open_device;
    std::function<std::string()> why_no_compiler = cuda::why_no_compiler;
    std::function<cuda::compiler&()> compiler = nvrtc_compiler;
    std::filesystem::path kernel_folder = default_cache_folder();
};

class backend {
  public:
    explicit backend(gpu_machine on = {})
        : machine_(std::move(on)),
          tuned_(machine_.kernel_folder.empty() ? machine_.kernel_folder : machine_.kernel_folder / "tuned") {
    }

    struct choice {
        std::vector<std::shared_ptr<loaded_device>> devices;  // empty: the CPU
        bool may_fall_back = false;                           // fall back to the CPU if a device fails
        std::string why_cpu;                                  // why no GPU was taken although one was welcome
        std::vector<std::string> lost;                        // GPUs that were welcome and failed to open
    };
    // `wanted` is run_settings::device. Throws tilewalk::error: usage for a meaningless name or index, device
    // for a GPU that was asked for and can't be used.
    choice choose(const std::string& wanted);
    // Starts opening the GPUs of a choice to come, in a thread. Leaves failures to that choice.
    void open_ahead(const std::string& wanted, timings* times = nullptr);

    // Throws tilewalk::error (device) if there is no run-time compiler.
    kernel_store& kernels();
    tuned_choices& tuned() { return tuned_; }
    // The GPU that `wanted` would take first, not opened; empty for the CPU.
    std::optional<device_properties> first_of(const std::string& wanted) const;

  private:
    std::shared_ptr<loaded_device> open(int index);

    gpu_machine machine_;
    tuned_choices tuned_;
    std::mutex lock_;
    std::map<int, std::shared_ptr<loaded_device>> open_;
    std::unique_ptr<kernel_store> kernels_;
    std::mutex lock_of_ahead_;
    std::jthread ahead_;  // ends before all else
};

}  // namespace tilewalk::cuda
