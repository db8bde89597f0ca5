// SPDX-License-Identifier: Apache-2.0
// One chunk's launches on a device: how many may be under way, what counts as done, how long any of them ran.
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
// Seconds covered by at least one of the spans.
double seconds_of_any(std::vector<span_of_time> spans);

class launch_queue {
  public:
    // Adds the path steps of ended launches to `counted`, too.
    launch_queue(device& on, run_state& run, kernels::word64& counted)
        : on_(on), run_(run), counted_(counted) {}

    // Waits until this much more work may be under way (see most_work_under_way). Throws stopped_early.
    void make_room(double work);
    // Adds a launch that begins at `begin` and ends with the work that `s` has so far.
    void add(owned_event begin, stream s, kernels::word64 path_steps, double work);
    void wait();
    void wait_until(const owned_event& e);

    // Seconds with at least one launch running, after all have ended; `since` is an event before them.
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
