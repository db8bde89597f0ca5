// SPDX-License-Identifier: Apache-2.0
// Shares pieces of work among devices, with a thread for each.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace tilewalk::cuda {

// A device gives back a piece that it could not finish, so that another takes it.
class shared_pieces {
  public:
    shared_pieces(std::size_t count, std::function<bool()> is_stopped) : is_stopped_(std::move(is_stopped)) {
        for (std::size_t i = 0; i < count; ++i) open_.insert(i);
    }

    // Empty when all are done or the work is stopped. Waits while a held piece may still come back.
    std::optional<std::size_t> take() {
        std::unique_lock guard(lock_);
        // A stop needs no wake-up: the holder of a piece sees it, and gives the piece back.
        changed_.wait(guard, [this] { return !open_.empty() || held_ == 0; });
        if (open_.empty() || is_stopped_()) return std::nullopt;
        ++held_;
        return open_.extract(open_.begin()).value();
    }
    void finish() {
        const std::lock_guard guard(lock_);
        --held_;
        changed_.notify_all();
    }
    void give_back(std::size_t piece) {
        const std::lock_guard guard(lock_);
        --held_;
        open_.insert(piece);
        changed_.notify_all();
    }
    bool all_done() const {
        const std::lock_guard guard(lock_);
        return open_.empty() && held_ == 0;
    }
    std::vector<std::size_t> open() const {
        const std::lock_guard guard(lock_);
        return {open_.begin(), open_.end()};
    }

  private:
    const std::function<bool()> is_stopped_;
    mutable std::mutex lock_;
    std::condition_variable changed_;
    std::set<std::size_t> open_;
    std::size_t held_ = 0;
};

class at_work {
  public:
    at_work(std::size_t devices, std::function<void(std::size_t)> work)
        : work_(std::move(work)), working_(devices) {
        for (std::size_t d = 0; d < devices; ++d) {
            threads_.emplace_back([this, d] {
                work_(d);
                const std::lock_guard guard(lock_);
                --working_;
                ended_.notify_one();
            });
        }
    }
    bool end_within(std::chrono::milliseconds time) {
        std::unique_lock guard(lock_);
        return ended_.wait_for(guard, time, [this] { return working_ == 0; });
    }

  private:
    const std::function<void(std::size_t)> work_;
    std::mutex lock_;
    std::condition_variable ended_;
    std::size_t working_;
    std::vector<std::jthread> threads_;  // joined before the rest goes
};

}  // namespace tilewalk::cuda
