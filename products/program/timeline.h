// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tilewalk::program {

struct event {
    std::uint32_t section = 0;
    std::uint32_t row = 0;
};

class timeline {
  public:
    // Step i goes from times[i] to times[i + 1]; times[0] is 0 (as_of).
    std::vector<double> times{0.0};
    std::size_t steps() const { return times.size() - 1; }

    std::span<const event> events_after(std::size_t step) const {
        return {events_.data() + begin_[step], begin_[step + 1] - begin_[step]};
    }
    void close_step() { begin_.push_back(static_cast<std::uint32_t>(events_.size())); }
    void add(event e) { events_.push_back(e); }
    std::size_t bytes() const {
        return times.size() * sizeof(double) + events_.size() * sizeof(event) +
               begin_.size() * sizeof(std::uint32_t);
    }

  private:
    std::vector<event> events_;
    std::vector<std::uint32_t> begin_{0};
};

}  // namespace tilewalk::program
