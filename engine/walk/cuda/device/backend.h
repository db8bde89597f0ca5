// SPDX-License-Identifier: Apache-2.0
// The GPUs of this process. A GPU is opened on first use and stays open, with its loaded kernels.
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

// The machine's GPUs and compiler, which tests replace.
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
        std::vector<std::shared_ptr<loaded_device>> devices;  // empty: run on the CPU
        bool may_fall_back = false;     // whether the CPU may take over if a device fails
        std::string why_cpu;            // for setting `auto`: why no GPU is used
        std::vector<std::string> lost;  // for setting `auto`: GPUs that failed to open, and why
    };
    // Chooses devices for run_settings::device. Throws tilewalk::error: usage for an unknown name or index,
    // device if a GPU that the setting names can't be used.
    choice choose(const std::string& wanted);
    // Starts opening the GPUs that choose(wanted) will return, in a thread. Errors are left to choose().
    void open_ahead(const std::string& wanted, timings* times = nullptr);

    // The cache of compiled kernels. Throws tilewalk::error (device) if there is no run-time compiler.
    kernel_store& kernels();
    tuned_choices& tuned() { return tuned_; }
    // The first GPU that choose(wanted) would return, without opening it; empty for the CPU.
    std::optional<device_properties> first_of(const std::string& wanted) const;

  private:
    std::shared_ptr<loaded_device> open(int index);

    gpu_machine machine_;
    tuned_choices tuned_;
    std::mutex lock_;
    std::map<int, std::shared_ptr<loaded_device>> open_;
    std::unique_ptr<kernel_store> kernels_;
    std::mutex lock_of_ahead_;
    std::jthread ahead_;  // last, so that the thread ends before other members are destroyed
};

}  // namespace tilewalk::cuda
