// SPDX-License-Identifier: Apache-2.0
// Rows of a suite that are held against the first of them.
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

    // Hands in the row of these axes, with what `measure` writes into it. A row that the memory is too small
    // for is skipped; one that does not compile, can't be launched or can't be timed is wrong. Throws what
    // ends a suite: a device that is lost, an order to stop.
    void add(json axes, const std::function<void(row&)>& measure);

  private:
    std::string suite_;
    const sink& to_;
    json first_ = nullptr;
    double first_milliseconds_ = 0;  // 0: not known
};

}  // namespace tilewalk::bench
