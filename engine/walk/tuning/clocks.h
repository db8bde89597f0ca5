// SPDX-License-Identifier: Apache-2.0
// Reads a GPU's clocks while work is timed, by NVIDIA's management library (NVML) if there is one.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tilewalk::tuning {

struct clock_state {
    int multiprocessor_mhz = 0, memory_mhz = 0;
    // Whether power, heat or a fault lowers the clock, not a lack of work.
    bool throttled = false;
};

class clocks {
  public:
    virtual ~clocks() = default;
    // Empty if the clocks can't be read.
    virtual std::optional<clock_state> now() = 0;
    virtual std::string driver() const = 0;  // version of the driver; empty if unknown
};

// Clocks of the GPU with this `uuid` ("GPU-..."). Without NVML, now() is always empty.
std::unique_ptr<clocks> open_clocks(const std::string& uuid);

}  // namespace tilewalk::tuning
