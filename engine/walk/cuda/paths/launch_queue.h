// SPDX-License-Identifier: Apache-2.0
// The launches of one chunk on a device: how many may be under way, how much work counts as done, and how
// long any of them ran.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/run_state.h"

namespace tilewalk::cuda {

// From and until when something ran, in milliseconds.
using span_of_time = std::pair<double, double>;
// Seconds during which at least one of them ran.
double seconds_of_any(std::vector<span_of_time> spans);

class launch_queue {
  public:
    // Path steps of launches that have ended are also added to `counted`.
    launch_queue(device& on, run_state& run, kernels::word64& counted)
        : on_(on), run_(run), counted_(counted) {}

    // Waits until so much more work may be under way (see most_work_under_way). Throws stopped_early when the
    // run is stopped.
    void make_room(double work);
    // A launch that began at `begin` ends with what `s` has been given so far.
    void add(owned_event begin, stream s, kernels::word64 path_steps, double work);
    // Waits for all launches; throws stopped_early when the run is stopped.
    void wait();
    // Waits for an event in the same way.
    void wait_until(const owned_event& e);

    // Seconds during which at least one launch was running. All have ended; `since` is an event before them.
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
