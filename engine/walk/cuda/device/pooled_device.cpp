// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/pooled_device.h"

#include <algorithm>
#include <bit>

namespace tilewalk::cuda {

namespace {

// Sizes of page-locked blocks are powers of two, so that the next run finds one. Larger ones are not kept.
constexpr std::size_t least_pinned = std::size_t{4} << 10, largest_pinned = std::size_t{8} << 20;

template <class handle>
bool took_one(std::vector<handle>& idle, handle& into) {
    if (idle.empty()) return false;
    into = idle.back();
    idle.pop_back();
    return true;
}

}  // namespace

// Reserves memory now, since release functions are noexcept and must not allocate.
pooled_device::pooled_device(std::unique_ptr<device> of, const idle_limits& most)
    : device_(std::move(of)), most_(most) {
    streams_.reserve(most_.streams);
    events_.reserve(most_.events);
    pinned_.reserve(most_.pinned_blocks);
}

pooled_device::~pooled_device() {
    for (const event e : events_) device_->close_event(e);
    for (const stream s : streams_) device_->close_stream(s);
    for (const pinned_block& b : pinned_) device_->release_pinned(b.first);
}

void* pooled_device::allocate_pinned(std::size_t bytes) {
    if (bytes == 0 || bytes > std::min(largest_pinned, most_.pinned_bytes))
        return device_->allocate_pinned(bytes);
    const std::size_t size = std::bit_ceil(std::max(bytes, least_pinned));
    const std::lock_guard guard(lock_);
    const auto found = std::ranges::find(pinned_, size, &pinned_block::bytes);
    if (found == pinned_.end()) {
        void* made = device_->allocate_pinned(size);
        pinned_out_.emplace(made, size);
        return made;
    }
    void* first = found->first;
    pinned_out_.emplace(first, size);
    pinned_.erase(found);
    pinned_bytes_ -= size;
    return first;
}

void pooled_device::release_pinned(void* memory) noexcept {
    {
        const std::lock_guard guard(lock_);
        const auto known = pinned_out_.find(memory);
        if (known != pinned_out_.end()) {
            const pinned_block b{memory, known->second};
            pinned_out_.erase(known);
            if (pinned_.size() < most_.pinned_blocks && pinned_bytes_ + b.bytes <= most_.pinned_bytes) {
                pinned_.push_back(b);
                pinned_bytes_ += b.bytes;
                return;
            }
        }
    }
    device_->release_pinned(memory);
}

stream pooled_device::open_stream() {
    stream s{};
    {
        const std::lock_guard guard(lock_);
        if (took_one(streams_, s)) return s;
    }
    return device_->open_stream();
}

void pooled_device::close_stream(stream s) noexcept {
    {
        const std::lock_guard guard(lock_);
        if (doubtful_.erase(s) == 0 && s != stream::standard && streams_.size() < most_.streams)
            return streams_.push_back(s);
    }
    device_->close_stream(s);
}

event pooled_device::open_event() {
    event e{};
    {
        const std::lock_guard guard(lock_);
        if (took_one(events_, e)) return e;
    }
    return device_->open_event();
}

void pooled_device::close_event(event e) noexcept {
    {
        const std::lock_guard guard(lock_);
        if (events_.size() < most_.events) return events_.push_back(e);
    }
    device_->close_event(e);
}

// A stream whose wait failed may still have work in it, so no later run gets it.
void pooled_device::wait(stream s) {
    try {
        device_->wait(s);
    } catch (const device_error&) {
        const std::lock_guard guard(lock_);
        doubtful_.insert(s);
        throw;
    }
}

}  // namespace tilewalk::cuda
