// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/launch_queue.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace tilewalk::cuda {

namespace {

constexpr std::size_t most_in_flight = 64;

}  // namespace

void launch_queue::add(owned_event begin, stream s, kernels::word64 path_steps) {
    launches_.push_back({std::move(begin), new_event(on_, s), path_steps});
    drain(most_in_flight);
}

void launch_queue::wait() {
    drain(0);
}

// Waits until at most `most` launches are in flight.
void launch_queue::drain(std::size_t most) {
    while (launches_.size() - ended_ > most) {
        const timed_launch& oldest = launches_[ended_];
        while (!on_.has_happened(oldest.end.get())) {
            throw_if_stopped(run_);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        run_.path_steps_done += oldest.path_steps;
        counted_ += oldest.path_steps;
        ++ended_;
    }
    throw_if_stopped(run_);
}

double launch_queue::busy_seconds(const owned_event& since) const {
    std::vector<std::pair<double, double>> spans;
    for (const timed_launch& l : launches_) {
        spans.emplace_back(on_.milliseconds_between(since.get(), l.begin.get()),
                           on_.milliseconds_between(since.get(), l.end.get()));
    }
    std::sort(spans.begin(), spans.end());
    double milliseconds = 0, until = 0;
    for (const auto& [begin, end] : spans) {
        milliseconds += std::max(0.0, end - std::max(begin, until));
        until = std::max(until, end);
    }
    return milliseconds / 1000;
}

}  // namespace tilewalk::cuda
