// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/kernels_ahead.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

namespace tilewalk::cuda {

namespace {

constexpr double typical_seconds = 0.5;
constexpr double weight_of_typical = 2;  // in kernels

double seconds_of_this_thread() {
    timespec taken{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
    return static_cast<double>(taken.tv_sec) + 1e-9 * static_cast<double>(taken.tv_nsec);
}

}  // namespace

kernels_ahead::~kernels_ahead() {
    std::vector<std::jthread> all;  // joined without the lock, which they take
    {
        const std::lock_guard guard(lock_);
        is_closing_ = true;
        for (lane* const of : {&urgent_, &later_}) {
            of->waiting.clear();
            std::ranges::move(of->threads, std::back_inserter(all));
        }
    }
}

bool kernels_ahead::want(const compile_request& what, int threads, when_done done) {
    return add(urgent_, {what, std::move(done)}, threads);
}

void kernels_ahead::want_later(const compile_request& what) {
    {
        const std::lock_guard guard(lock_);
        if (!asked_later_.insert(what.architecture + '\n' + what.text).second) return;
    }
    add(later_, {what, {}}, 1);
}

int kernels_ahead::at_work() const {
    const std::lock_guard guard(lock_);
    return urgent_.running;
}

double kernels_ahead::seconds_of_kernel() const {
    const std::lock_guard guard(lock_);
    return (typical_seconds * weight_of_typical + seconds_) /
           (weight_of_typical + static_cast<double>(compiled_));
}

double kernels_ahead::missed(const std::string& text) const {
    const std::lock_guard guard(lock_);
    const auto known = missed_.find(text);
    return known == missed_.end() ? 0 : known->second;
}

void kernels_ahead::add_missed(const std::string& text, double core_seconds) {
    const std::lock_guard guard(lock_);
    missed_[text] += core_seconds;
}

bool kernels_ahead::add(lane& to, wish one, int threads) {
    const std::lock_guard guard(lock_);
    if (is_closing_) return false;
    to.waiting.push_back(std::move(one));
    if (to.running >= std::max(threads, 1)) return true;
    if (to.running == 0) to.threads.clear();  // they have ended
    try {
        to.threads.emplace_back([this, &to] { serve(to); });
        ++to.running;
    } catch (const std::system_error&) {
        if (to.running > 0) return true;
        to.waiting.pop_back();
        return false;
    }
    return true;
}

void kernels_ahead::serve(lane& of) {
    // On Linux each thread has a priority of its own. Where it can't be lowered, the thread runs as it is.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), of.nice);
    std::unique_lock guard(lock_);
    while (!of.waiting.empty()) {
        const wish one = std::move(of.waiting.front());
        of.waiting.pop_front();
        guard.unlock();
        std::optional<error> failure;
        bool compiled_here = false;
        const double before = seconds_of_this_thread();
        try {
            store_.cubin(one.what, &compiled_here);
        } catch (const error& e) {
            failure = e;
        } catch (const std::exception& e) {
            failure = error(error_kind::internal, e.what());
        }
        const double taken = seconds_of_this_thread() - before;
        if (one.done) one.done(failure);
        guard.lock();
        if (!compiled_here) continue;
        ++compiled_;
        seconds_ += taken;
    }
    --of.running;
}

}  // namespace tilewalk::cuda
