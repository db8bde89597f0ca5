// SPDX-License-Identifier: Apache-2.0
// Threads that stay between pieces of work: starting sixteen takes longer than pricing a small book.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewalk::threads {

// Returns the cores that this process may use. A container or `taskset` can allow fewer than the machine has.
int usable_cores();

// Returns `asked`, or usable_cores() if `asked` is 0.
int asked_or_cores(int asked);

class crew {
  public:
    explicit crew(int threads);
    ~crew();
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    int threads() const { return threads_; }
    // While it lives, at most `most` of the crew's threads work; 0: all.
    class limit {
      public:
        limit(crew& of, int most) : of_(of) { of_.most_at_work_ = most; }
        ~limit() { of_.most_at_work_ = 0; }
        limit(const limit&) = delete;
        limit& operator=(const limit&) = delete;

      private:
        crew& of_;
    };
    std::size_t started() const { return members_.size(); }

    // Calls task(thread, i) for i in [0, count). Each thread has a number of its own below threads(). The
    // caller runs `watch` about ten times a second, or works as thread 0 if `watch` is empty. Rethrows the
    // first exception of a task; throws tilewalk::error (cancelled) if *cancel is set. One caller at a time.
    void for_each(std::uint64_t count, const std::atomic<bool>* cancel,
                  const std::function<void(int thread, std::uint64_t i)>& task,
                  const std::function<void()>& watch);

  private:
    void serve(int member);
    // Starts threads until the crew has `wanted` members, or the system gives no more.
    void enlist(int wanted);
    // Has at most `wanted` members run work(number), with numbers from 0. Returns how many do.
    int begin(int wanted, const std::function<void(int)>& work);
    void wait_for_all();

    const int threads_;
    int most_at_work_ = 0;
    std::mutex lock_;
    std::condition_variable begins_, ends_;
    std::uint64_t round_ = 0;
    int members_of_round_ = 0, running_ = 0;
    const std::function<void(int)>* work_ = nullptr;
    int most_members_ = std::numeric_limits<int>::max();  // members with higher numbers end
    std::vector<std::jthread> members_;
};

void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int thread, std::uint64_t i)>& task,
              const std::function<void()>& watch);
// Calls task(thread, i) as above, for tasks so short that threads take several at a time. If all tasks
// together are not worth a thread, the caller does them.
void for_each_short(std::uint64_t count, int threads,
                    const std::function<void(int thread, std::uint64_t i)>& task);

}  // namespace tilewalk::threads
