// SPDX-License-Identifier: Apache-2.0
// The clocks of a GPU while something is timed, from NVIDIA's management library where this machine has it.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tilewalk::tuning {

struct clock_state {
    int multiprocessor_mhz = 0, memory_mhz = 0;
    // Slower than the clock can be, by power, heat or a fault; not because there is nothing to do.
    bool throttled = false;
};

class clocks {
  public:
    virtual ~clocks() = default;
    // Nothing where they can't be read.
    virtual std::optional<clock_state> now() = 0;
    virtual std::string driver() const = 0;  // its version, or empty
};

// The clocks of the GPU with this UUID ("GPU-..."); one that knows nothing where there is no such library.
std::unique_ptr<clocks> open_clocks(const std::string& uuid);

}  // namespace tilewalk::tuning
