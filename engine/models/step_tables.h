// SPDX-License-Identifier: Apache-2.0
// Tables by spot, one for each step of a path, in which paths interpolate. Trades on an asset share them.
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

struct step_table {
    double low = 0, high = 0;
    std::vector<double> numbers;
};

// Makes and keeps tables. Thread-safe. Steps end at multiples of one length, so trades share most tables.
class step_tables {
  public:
    // Makes a table. Calls `poll`, which may throw, as often as program::recorder demands.
    using maker = std::function<step_table(double from, double to, const std::function<void()>& poll)>;

    explicit step_tables(maker make) : make_(std::move(make)) {}

    std::shared_ptr<const step_table> find_or_make(double from, double to, const std::function<void()>& poll);
    // Number of tables made; a table that two threads make at once counts twice.
    std::uint64_t made() const { return count_; }

  private:
    static constexpr std::size_t most_kept = 20'000;

    maker make_;
    std::atomic<std::uint64_t> count_{0};
    std::mutex lock_;
    std::map<std::pair<double, double>, std::shared_ptr<const step_table>> made_;
};

// Records the tables of all steps. The returned function interpolates linearly at x; flat outside.
std::function<program::value(program::value)> record_tables(step& of, step_tables& from,
                                                            const std::string& name);

}  // namespace tilewalk::models
