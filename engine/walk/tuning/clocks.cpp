// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/tuning/clocks.h"

#include <dlfcn.h>

#include <array>

namespace tilewalk::tuning {

namespace {

// The part of NVIDIA's management library (NVML) that is used here. Its functions return 0 for success.
struct nvml_device;
constexpr unsigned clock_of_multiprocessors = 1, clock_of_memory = 2;
// Reasons for a low clock that do no harm: the GPU is idle, or an application has set its clocks.
constexpr unsigned long long harmless_reasons = 0x1 | 0x2;
// The fraction of the highest clock above which times are comparable.
constexpr double least_share = 0.97;

class unknown_clocks final : public clocks {
  public:
    std::optional<clock_state> now() override { return std::nullopt; }
    std::string driver() const override { return {}; }
};

class nvml_clocks final : public clocks {
  public:
    static std::unique_ptr<clocks> open(const std::string& uuid) {
        void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return nullptr;
        auto out = std::unique_ptr<nvml_clocks>(new nvml_clocks(library));
        int (*start)() = nullptr;
        int (*by_uuid)(const char*, nvml_device**) = nullptr;
        out->find(start, "nvmlInit_v2");
        out->find(by_uuid, "nvmlDeviceGetHandleByUUID");
        out->find(out->stop_, "nvmlShutdown");
        out->find(out->clock_, "nvmlDeviceGetClockInfo");
        out->find(out->highest_, "nvmlDeviceGetMaxClockInfo");
        out->find(out->reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
        out->find(out->version_, "nvmlSystemGetDriverVersion");
        if (start == nullptr || by_uuid == nullptr || out->stop_ == nullptr || out->clock_ == nullptr ||
            out->highest_ == nullptr || out->reasons_ == nullptr || start() != 0) {
            return nullptr;
        }
        out->started_ = true;
        if (by_uuid(uuid.c_str(), &out->device_) != 0) return nullptr;
        return out;
    }
    ~nvml_clocks() override {
        if (started_) stop_();
        dlclose(library_);
    }
    nvml_clocks(const nvml_clocks&) = delete;
    nvml_clocks& operator=(const nvml_clocks&) = delete;

    std::optional<clock_state> now() override {
        unsigned multiprocessors = 0, memory = 0, highest = 0;
        unsigned long long reasons = 0;
        if (clock_(device_, clock_of_multiprocessors, &multiprocessors) != 0 ||
            clock_(device_, clock_of_memory, &memory) != 0 ||
            highest_(device_, clock_of_multiprocessors, &highest) != 0 || reasons_(device_, &reasons) != 0) {
            return std::nullopt;
        }
        // Some reasons that NVML names cost one step of the clock or nothing, so the clock must be low as
        // well.
        const bool is_slow =
            static_cast<double>(multiprocessors) < least_share * static_cast<double>(highest);
        return clock_state{static_cast<int>(multiprocessors), static_cast<int>(memory),
                           is_slow && (reasons & ~harmless_reasons) != 0};
    }
    std::string driver() const override {
        std::array<char, 96> text{};
        if (version_ == nullptr || version_(text.data(), static_cast<unsigned>(text.size())) != 0) return {};
        return text.data();
    }

  private:
    explicit nvml_clocks(void* library) : library_(library) {}
    template <class function>
    void find(function& to, const char* name) {
        to = reinterpret_cast<function>(dlsym(library_, name));
    }

    void* library_;
    bool started_ = false;
    nvml_device* device_ = nullptr;
    int (*stop_)() = nullptr;
    int (*clock_)(nvml_device*, unsigned, unsigned*) = nullptr;
    int (*highest_)(nvml_device*, unsigned, unsigned*) = nullptr;
    int (*reasons_)(nvml_device*, unsigned long long*) = nullptr;
    int (*version_)(char*, unsigned) = nullptr;
};

}  // namespace

std::unique_ptr<clocks> open_clocks(const std::string& uuid) {
    if (auto known = nvml_clocks::open(uuid)) return known;
    return std::make_unique<unknown_clocks>();
}

}  // namespace tilewalk::tuning
