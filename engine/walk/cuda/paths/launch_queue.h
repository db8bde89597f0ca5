// SPDX-License-Identifier: Apache-2.0
// The launches of one chunk: bounds the work under way, counts path steps done, measures busy time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

using span_of_time = std::pair<double, double>;
// Length of the union of time spans, in seconds.
double seconds_of_any(std::vector<span_of_time> spans);

class launch_queue {
  public:
    // Path steps of finished launches are added to `counted` and to the run's path_steps_done.
    launch_queue(device& on, run_state& run, kernels::word64& counted)
        : on_(on), run_(run), counted_(counted) {}

    // Waits until `work` more may be under way (see most_work_under_way). Throws stopped_early.
    void make_room(double work);
    // Adds a launch, given an event before it and the stream `s` in which it was just queued.
    void add(owned_event begin, stream s, kernels::word64 path_steps, double work);
    void wait();
    void wait_until(const owned_event& e);

    // Seconds with at least one launch running, once all have ended; `since` is an event before the first.
    double busy_seconds(const owned_event& since) const;

  private:
    struct timed_launch {
        owned_event begin, end;
        kernels::word64 path_steps;
        double work;
    };
    bool is_empty() const { return ended_ == launches_.size(); }
    void wait_for_oldest();

    device& on_;
    run_state& run_;
    kernels::word64& counted_;
    std::vector<timed_launch> launches_;
    std::size_t ended_ = 0;
    std::optional<std::chrono::steady_clock::time_point> waits_since_;
    double work_under_way_ = 0;
};

}  // namespace tilewalk::cuda
