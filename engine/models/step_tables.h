// SPDX-License-Identifier: Apache-2.0
// Tables by spot, one for each step of a path: made once, shared by the trades of an asset, read by paths
// between two neighbours.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/models/model.h"

namespace tilewalk::models {

// The table of a step: numbers at evenly spaced x, both ends included.
struct step_table {
    double low = 0, high = 0;
    std::vector<double> numbers;
};

// Most trades on an asset share them: steps end at multiples of one length. Threads may ask at once.
class step_tables {
  public:
    // Calls `poll`, which may throw, as often as program::recorder asks for.
    using maker = std::function<step_table(double from, double to, const std::function<void()>& poll)>;

    explicit step_tables(maker make) : make_(std::move(make)) {}

    std::shared_ptr<const step_table> find_or_make(double from, double to, const std::function<void()>& poll);
    // The number of tables made so far; a table that two threads made at once counts twice.
    std::uint64_t made() const { return count_; }

  private:
    static constexpr std::size_t most_kept = 20'000;

    maker make_;
    std::atomic<std::uint64_t> count_{0};
    std::mutex lock_;
    std::map<std::pair<double, double>, std::shared_ptr<const step_table>> made_;
};

// Records the tables of the grid's steps into its step; what comes back reads at an x, with lines between the
// numbers, and flat outside.
std::function<program::value(program::value)> record_tables(step& of, step_tables& from,
                                                            const std::string& name);

}  // namespace tilewalk::models
