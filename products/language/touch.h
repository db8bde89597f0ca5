// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tilewalk::language {

// A past world that is also a touch_listener is notified of each monitored level that a fixing has reached.
class touch_listener {
  public:
    virtual ~touch_listener() = default;
    virtual void saw_touch(const std::string& asset, double level) = 0;
};

}  // namespace tilewalk::language
