// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/launch_queue.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/walk/cuda/paths/launch_sizes.h"

namespace tilewalk::cuda {

namespace {

// Bounds the number of launches under way, for launches so short that their work does not bound it.
constexpr std::size_t most_in_flight = 64;

// A wait polls without sleeping for 200 us, since falling asleep and waking take as long as a small run.
constexpr std::chrono::microseconds waits_awake{200}, between_looks{50};

}  // namespace

void launch_queue::make_room(double work) {
    throw_if_stopped(run_);
    const auto has_room = [&] {
        return launches_.size() - ended_ < most_in_flight && work_under_way_ + work <= most_work_under_way;
    };
    while (!is_empty() && !has_room()) wait_for_oldest();
}

void launch_queue::add(owned_event begin, stream s, kernels::word64 path_steps, double work) {
    launches_.push_back({std::move(begin), new_event(on_, s), path_steps, work});
    work_under_way_ += work;
}

void launch_queue::wait() {
    while (!is_empty()) wait_for_oldest();
}

void launch_queue::wait_until(const owned_event& e) {
    while (!on_.has_happened(e.get())) {
        throw_if_stopped(run_);
        const auto now = std::chrono::steady_clock::now();
        if (!waits_since_) waits_since_ = now;
        if (now - *waits_since_ < waits_awake) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(between_looks);
        }
    }
}

void launch_queue::wait_for_oldest() {
    const timed_launch& oldest = launches_[ended_];
    wait_until(oldest.end);
    run_.path_steps_done += oldest.path_steps;
    counted_ += oldest.path_steps;
    work_under_way_ -= oldest.work;
    ++ended_;
    throw_if_stopped(run_);
}

double launch_queue::busy_seconds(const owned_event& since) const {
    std::vector<span_of_time> spans;
    for (const timed_launch& l : launches_) {
        spans.emplace_back(on_.milliseconds_between(since.get(), l.begin.get()),
                           on_.milliseconds_between(since.get(), l.end.get()));
    }
    return seconds_of_any(std::move(spans));
}

double seconds_of_any(std::vector<span_of_time> spans) {
    std::sort(spans.begin(), spans.end());
    double milliseconds = 0, until = 0;
    for (const auto& [begin, end] : spans) {
        milliseconds += std::max(0.0, end - std::max(begin, until));
        until = std::max(until, end);
    }
    return milliseconds / 1000;
}

}  // namespace tilewalk::cuda
