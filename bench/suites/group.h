// SPDX-License-Identifier: Apache-2.0
// A group of benchmark rows; each states its speed as a ratio to the first row of the group.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "bench/measure/row.h"
#include "bench/measure/suites.h"

namespace tilewalk::bench {

class group {
  public:
    group(std::string suite, const sink& to) : suite_(std::move(suite)), to_(to) {}

    // Passes on a row with these axes, filled by `measure`. If it does not fit into memory it is skipped; if
    // it fails it is wrong. Only a lost device or a cancelled run is thrown, and ends the suite.
    void add(json axes, const std::function<void(row&)>& measure);

  private:
    std::string suite_;
    const sink& to_;
    json first_ = nullptr;
    double first_milliseconds_ = 0;  // 0: not measured
};

}  // namespace tilewalk::bench
