// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/noise_rows.h"

#include <algorithm>
#include <numeric>

namespace tilewalk::cuda {

std::size_t noise_rows::add(std::span<const std::uint32_t> streams, int slots,
                            std::span<const program::stream_name> names, std::uint64_t steps) {
    share made{program::places_in_streams(streams, slots), {}, steps};
    alike what;
    for (const program::place_in_stream& p : made.slots) {
        what.first.push_back(p.stream);
        if (p.stream == made.keys.size()) made.keys.push_back(program::key_of(names, p.stream));
    }
    what.second = made.keys;
    const auto [at, is_new] = known_.emplace(std::move(what), shares_.size());
    if (is_new) shares_.push_back(std::move(made));
    share& s = shares_[at->second];
    s.steps = std::max(s.steps, steps);
    return at->second;
}

std::uint64_t noise_rows::rows() const {
    return first_row(shares_.size());
}

std::uint64_t noise_rows::first_row(std::size_t of) const {
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < of; ++i) rows += shares_[i].rows();
    return rows;
}

std::size_t noise_rows::bytes() const {
    std::size_t slots = 0;
    for (const share& s : shares_) slots += s.slots.size();
    return slots * sizeof(kernels::word32);
}

std::vector<random::keyed_rows> noise_rows::keyed(device& on, std::vector<device_memory>& memory,
                                                  stream s) const {
    std::vector<random::keyed_rows> out;
    std::vector<kernels::word32> slots;   // of the first stream, then of the second, ...
    std::vector<std::size_t> first_slot;  // place in `slots` of each entry of `out`
    std::uint64_t first_row = 0;
    for (const share& of : shares_) {
        for (std::size_t stream = 0; stream < of.keys.size(); ++stream) {
            first_slot.push_back(slots.size());
            for (std::size_t slot = 0; slot < of.slots.size(); ++slot) {
                if (of.slots[slot].stream == stream) slots.push_back(static_cast<kernels::word32>(slot));
            }
            const auto dimensions = static_cast<kernels::word32>(slots.size() - first_slot.back());
            out.push_back({kernels::stream_key_of(of.keys[stream]), dimensions,
                           static_cast<kernels::word32>(of.slots.size()), of.steps * dimensions, first_row,
                           nullptr});
        }
        first_row += of.rows();
    }
    if (slots.empty()) return out;
    memory.emplace_back(on, slots.size() * sizeof(kernels::word32));
    auto* const there = memory.back().as<kernels::word32>();
    const in_flight guard(on, {s});
    on.upload(there, slots.data(), slots.size() * sizeof(kernels::word32), s);
    on.wait(s);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].slots = there + first_slot[i];
    return out;
}

}  // namespace tilewalk::cuda
