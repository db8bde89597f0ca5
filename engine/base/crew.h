// SPDX-License-Identifier: Apache-2.0
// A crew of threads, started when there is work for them and kept from one piece of work to the next: to
// start sixteen takes longer than a small book.
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

// Cores on which this process may run, which a container or `taskset` can make fewer than the machine has.
int usable_cores();

// The threads that were asked for; 0: one for each usable core.
int asked_or_cores(int asked);

class crew {
  public:
    explicit crew(int threads);
    ~crew();
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    int threads() const { return threads_; }
    // Threads that were started so far.
    std::size_t started() const { return members_.size(); }

    // Calls task(thread, i) for i in [0, count), each thread with its own number below threads(), until done
    // or cancelled. The first exception of a task is thrown again here; then tilewalk::error (cancelled), if
    // so. The calling thread runs `watch` about ten times a second; without one it works along as thread 0.
    // One caller at a time.
    void for_each(std::uint64_t count, const std::atomic<bool>* cancel,
                  const std::function<void(int thread, std::uint64_t i)>& task,
                  const std::function<void()>& watch);

  private:
    void serve(int member);
    // Starts members until there are `wanted`, or as many as the system gives.
    void enlist(int wanted);
    // As many as there are, up to `wanted`, run `work` with their numbers from 0 on.
    int begin(int wanted, const std::function<void(int)>& work);
    void wait_for_all();

    const int threads_;
    std::mutex lock_;
    std::condition_variable begins_, ends_;
    std::uint64_t round_ = 0;
    int members_of_round_ = 0, running_ = 0;
    const std::function<void(int)>* work_ = nullptr;
    int most_members_ = std::numeric_limits<int>::max();  // all others leave
    std::vector<std::jthread> members_;
};

// Uses a crew of this call alone.
void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int thread, std::uint64_t i)>& task,
              const std::function<void()>& watch);
// The same for short tasks, which are handed out some at a time. Too few of them to be worth the start of a
// thread are done by the calling one.
void for_each_short(std::uint64_t count, int threads,
                    const std::function<void(int thread, std::uint64_t i)>& task);

}  // namespace tilewalk::threads
