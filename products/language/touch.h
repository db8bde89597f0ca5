// SPDX-License-Identifier: Apache-2.0
// Reports of levels that the fixings of the past have reached.
#pragma once

#include <string>

namespace tilewalk::language {

// A past world that also is a touch_listener hears of each watched level that a fixing has reached.
class touch_listener {
  public:
    virtual ~touch_listener() = default;
    virtual void saw_touch(const std::string& asset, double level) = 0;
};

}  // namespace tilewalk::language
