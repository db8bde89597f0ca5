// SPDX-License-Identifier: Apache-2.0
// A group of rows, compared with its first row.
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

    // Passes on the row with these axes, filled by `measure`. A row that does not fit into memory is skipped;
    // one that fails is wrong. Throws errors that end a suite: a lost device, a cancelled run.
    void add(json axes, const std::function<void(row&)>& measure);

  private:
    std::string suite_;
    const sink& to_;
    json first_ = nullptr;
    double first_milliseconds_ = 0;  // 0: unknown
};

}  // namespace tilewalk::bench
