// SPDX-License-Identifier: Apache-2.0
// A GPU's clocks while something is timed, by NVIDIA's management library if there is one.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tilewalk::tuning {

struct clock_state {
    int multiprocessor_mhz = 0, memory_mhz = 0;
    // Slowed by power, heat or a fault, not by having nothing to do.
    bool throttled = false;
};

class clocks {
  public:
    virtual ~clocks() = default;
    // Empty if the clocks can't be read.
    virtual std::optional<clock_state> now() = 0;
    virtual std::string driver() const = 0;  // version, or empty
};

// `uuid` is "GPU-...". The result knows nothing if there is no such library.
std::unique_ptr<clocks> open_clocks(const std::string& uuid);

}  // namespace tilewalk::tuning
