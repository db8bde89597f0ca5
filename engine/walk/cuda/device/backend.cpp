// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/backend.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <set>
#include <system_error>

namespace tilewalk::cuda {

namespace {

constexpr const char* why_not_forked =
    "this process was forked from one that had begun to use GPUs, which a driver does not allow; make a new "
    "process in its place, such as Python's start method 'spawn'";

// Back ends whose threads have to end before the process does: drivers and compilers must not run while the
// process takes their libraries down. Never destroyed.
struct living {
    std::mutex lock;
    std::set<backend*> all;
};
living& the_living() {
    static living* const one = new living;
    return *one;
}

[[noreturn]] void refuse_device(const std::string& wanted) {
    throw error(
        error_kind::usage,
        "device is '" + wanted + "'; it must be auto, cpu, cuda, or the numbers of GPUs such as 0 or 0,1");
}

std::vector<int> indices_in(const std::string& wanted) {
    std::vector<int> out;
    const char* at = wanted.data();
    const char* const end = at + wanted.size();
    for (;;) {
        int index = 0;
        const auto read = std::from_chars(at, end, index);
        if (read.ec != std::errc() || index < 0) refuse_device(wanted);
        if (std::find(out.begin(), out.end(), index) != out.end()) {
            throw error(error_kind::usage, "device is '" + wanted + "', which names a GPU twice");
        }
        out.push_back(index);
        if (read.ptr == end) return out;
        if (*read.ptr != ',') refuse_device(wanted);
        at = read.ptr + 1;
    }
}

std::string words_of(const device_survey& s) {
    if (!s.why_none.empty()) return s.why_none;
    std::string out;
    for (const device_finding& d : s.devices) {
        out += (out.empty() ? "" : "; ") + std::to_string(d.properties.index) + " (" + d.properties.name +
               ")" + (d.why_not.empty() ? "" : ": " + d.why_not);
    }
    return out.empty() ? "there is no GPU" : "there is " + out;
}

}  // namespace

backend::backend(gpu_machine on)
    : machine_(std::move(on)),
      tuned_(machine_.kernel_folder.empty() ? machine_.kernel_folder : machine_.kernel_folder / "tuned") {
    living& of = the_living();
    const std::lock_guard guard(of.lock);
    of.all.insert(this);
}

backend::~backend() {
    {
        living& of = the_living();
        const std::lock_guard guard(of.lock);
        of.all.erase(this);
    }
    if (is_forked()) {
        // Threads of the other process are not here: nobody can wait for them, nor for what they hold.
        new std::vector<task>(std::move(tasks_));
        ahead_.release();
        return;
    }
    end_tasks();
}

void backend::end_tasks() {
    is_closing_ = true;
    std::vector<task> tasks;
    {
        const std::lock_guard guard(lock_of_tasks_);
        tasks.swap(tasks_);
    }
    tasks.clear();  // joins
    ahead_.reset();
}

bool backend::is_forked() const {
    return has_begun_ && ::getpid() != process_;
}

std::optional<backend::choice> backend::chosen(const std::string& wanted) const {
    if (is_forked()) {
        if (wanted != "auto") return std::nullopt;
        choice none;
        none.why_cpu = why_not_forked;
        return none;
    }
    const std::lock_guard guard(lock_of_chosen_);
    const auto known = chosen_.find(wanted);
    if (known == chosen_.end()) return std::nullopt;
    return known->second;
}

backend::choice backend::choose(const std::string& wanted) {
    if (std::optional<choice> known = chosen(wanted)) return *std::move(known);
    if (is_forked() && wanted != "cpu") throw error(error_kind::device, why_not_forked);
    choice made = newly_chosen(wanted);
    if (made.lost.empty()) {
        const std::lock_guard guard(lock_of_chosen_);
        chosen_.emplace(wanted, made);
    }
    return made;
}

backend::choice backend::newly_chosen(const std::string& wanted) {
    choice out;
    if (wanted == "cpu") return out;
    has_begun_ = true;
    const bool is_auto = wanted == "auto", is_all = wanted == "cuda";
    const std::vector<int> listed = is_auto || is_all ? std::vector<int>{} : indices_in(wanted);

    const std::lock_guard guard(lock_);
    const device_survey survey = machine_.survey();
    out.may_fall_back = is_auto;
    std::vector<int> usable;
    for (const device_finding& d : survey.devices) {
        if (d.why_not.empty()) usable.push_back(d.properties.index);
    }
    const auto missing = [&](const std::string& why) {
        if (!is_auto) throw error(error_kind::device, why);
        out.why_cpu = why;
    };
    for (const int index : listed) {
        if (std::find(usable.begin(), usable.end(), index) == usable.end()) {
            throw error(error_kind::device, "GPU " + std::to_string(index) + " can't be used: " +
                                                words_of(survey) + "; see tilewalk devices");
        }
    }
    if (usable.empty()) {
        missing(words_of(survey));
        return out;
    }
    // Asked last, since loading the compiler takes longer than finding out that there is no GPU.
    if (const std::string no_compiler = machine_.why_no_compiler(); !no_compiler.empty()) {
        missing(no_compiler);
        return out;
    }
    for (const int index : listed.empty() ? usable : listed) {
        try {
            out.devices.push_back(open(index));
        } catch (const error& e) {
            if (!is_auto) throw;
            out.why_cpu = e.message();
            out.lost.push_back(survey.devices[static_cast<std::size_t>(index)].properties.name + ": " +
                               e.message());
        }
    }
    return out;
}

void backend::open_ahead(const std::string& wanted, timings* times) {
    beside([this, wanted, times] {
        const timings::beside opening(times, stage::opening_gpus);
        try {
            choose(wanted);
        } catch (const std::exception&) {
            // choose() will meet the same error when it is called for the run.
        }
    });
}

void backend::beside(std::function<void()> task) {
    if (is_forked()) return task();  // threads of tasks before are not in this process
    static const int at_exit = std::atexit([] {
        living& of = the_living();
        const std::lock_guard guard(of.lock);
        for (backend* const one : of.all)
            if (!one->is_forked()) one->end_tasks();
    });
    static_cast<void>(at_exit);
    const std::lock_guard guard(lock_of_tasks_);
    std::erase_if(tasks_, [](const auto& one) { return one.has_ended->load(); });
    const auto has_ended = std::make_shared<std::atomic<bool>>(false);
    try {
        tasks_.push_back({has_ended, std::jthread([has_ended, task] {
                              task();
                              *has_ended = true;
                          })});
    } catch (const std::system_error&) {
        task();
    }
}

std::optional<device_properties> backend::first_of(const std::string& wanted) const {
    if (wanted == "cpu") return std::nullopt;
    const bool any = wanted == "auto" || wanted == "cuda";
    const int index = any ? 0 : indices_in(wanted).front();
    for (const device_finding& d : machine_.survey().devices) {
        if (d.why_not.empty() && (any || d.properties.index == index)) return d.properties;
    }
    return std::nullopt;
}

std::shared_ptr<loaded_device> backend::open(int index) {
    auto& known = open_[index];
    if (!known) known = std::make_shared<loaded_device>(machine_.open(index));
    return known;
}

kernel_store& backend::kernels() {
    const std::lock_guard guard(lock_);
    if (!kernels_) kernels_ = std::make_unique<kernel_store>(machine_.compiler(), machine_.kernel_folder);
    return *kernels_;
}

kernels_ahead& backend::ahead() {
    kernel_store& store = kernels();
    const std::lock_guard guard(lock_);
    if (!ahead_) ahead_ = std::make_unique<kernels_ahead>(store);
    return *ahead_;
}

}  // namespace tilewalk::cuda
