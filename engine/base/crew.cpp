// SPDX-License-Identifier: Apache-2.0
#include "engine/base/crew.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <system_error>

#include "tilewalk/error.h"

namespace tilewalk::threads {

int usable_cores() {
    cpu_set_t allowed;
    // On a machine of more than 1024 cores sched_getaffinity fails: cpu_set_t has no room.
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

int asked_or_cores(int asked) {
    return asked > 0 ? asked : usable_cores();
}

crew::crew(int threads) : threads_(std::max(threads, 1)) {}

crew::~crew() {
    {
        const std::lock_guard guard(lock_);
        most_members_ = 0;
    }
    begins_.notify_all();
}

void crew::serve(int member) {
    std::uint64_t seen = 0;
    std::unique_lock guard(lock_);
    for (;;) {
        begins_.wait(
            guard, [&] { return member >= most_members_ || (round_ != seen && member < members_of_round_); });
        if (member >= most_members_) return;
        seen = round_;
        const std::function<void(int)>& work = *work_;
        guard.unlock();
        work(member);
        guard.lock();
        if (--running_ == 0) ends_.notify_one();
    }
}

void crew::enlist(int wanted) {
    const auto there = [&] { return static_cast<int>(members_.size()); };
    bool are_too_many = false;
    try {
        for (int m = there(); m < std::min(wanted, most_members_); ++m)
            members_.emplace_back([this, m] { serve(m); });
    } catch (const std::system_error&) {
        are_too_many = true;
    } catch (const std::bad_alloc&) {
        are_too_many = true;
    }
    if (!are_too_many) return;
    // The system gives no more threads. The existing ones will do all the work, with the same bits. A quarter
    // of them leave, in case memory is short: the others need it for their work.
    {
        const std::lock_guard guard(lock_);
        most_members_ = there() - there() / 4;
    }
    begins_.notify_all();
    members_.resize(static_cast<std::size_t>(most_members_));
}

int crew::begin(int wanted, const std::function<void(int)>& work) {
    enlist(wanted);
    const int count = std::min(wanted, static_cast<int>(members_.size()));
    if (count <= 0) return 0;
    {
        const std::lock_guard guard(lock_);
        work_ = &work;
        members_of_round_ = running_ = count;
        ++round_;
    }
    begins_.notify_all();
    return count;
}

void crew::wait_for_all() {
    std::unique_lock guard(lock_);
    ends_.wait(guard, [&] { return running_ == 0; });
}

void crew::for_each(std::uint64_t count, const std::atomic<bool>* cancel,
                    const std::function<void(int, std::uint64_t)>& task, const std::function<void()>& watch) {
    const auto is_cancelled = [&] { return cancel != nullptr && cancel->load(std::memory_order_relaxed); };
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex lock_of_failure;
    std::exception_ptr failure;
    const int first = watch ? 0 : 1;  // first member's number; a caller that need not watch is 0
    const auto work = [&](int thread) {
        try {
            while (!stop.load(std::memory_order_relaxed) && !is_cancelled()) {
                const std::uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
                if (i >= count) break;
                task(thread, i);
            }
        } catch (...) {
            const std::lock_guard guard(lock_of_failure);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
    };
    const std::function<void(int)> by_member = [&](int member) { work(member + first); };
    const int allowed = most_at_work_ > 0 ? std::min(most_at_work_, threads_) : threads_;
    const int wanted = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(allowed), count));
    const int begun = begin(wanted - first, by_member);
    if (!watch) {
        work(0);
        wait_for_all();
    } else if (begun == 0 && wanted > 0) {
        throw error(error_kind::internal, "the system can't start a thread");
    } else {
        std::unique_lock guard(lock_);
        while (!ends_.wait_for(guard, std::chrono::milliseconds(100), [&] { return running_ == 0; })) {
            guard.unlock();
            try {
                watch();
            } catch (...) {
                stop = true;
                wait_for_all();
                throw;
            }
            guard.lock();
        }
    }
    if (failure) std::rethrow_exception(failure);
    if (is_cancelled()) throw error(error_kind::cancelled, "the run was stopped");
}

void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int, std::uint64_t)>& task, const std::function<void()>& watch) {
    crew(threads).for_each(count, cancel, task, watch);
}

void for_each_short(std::uint64_t count, int threads, const std::function<void(int, std::uint64_t)>& task) {
    constexpr std::uint64_t at_once = 32, worth_threads = 512;
    const auto some = [&](int thread, std::uint64_t piece) {
        const std::uint64_t end = std::min(count, (piece + 1) * at_once);
        for (std::uint64_t i = piece * at_once; i < end; ++i) task(thread, i);
    };
    for_each((count + at_once - 1) / at_once, count < worth_threads ? 1 : threads, nullptr, some, {});
}

}  // namespace tilewalk::threads
