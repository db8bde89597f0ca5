// SPDX-License-Identifier: Apache-2.0
// Word of levels that the fixings of the past have reached.
#pragma once

#include <string>

namespace tilewalk::language {

// A past world that is one, too, is told of each level that a script watches and finds touched.
class touch_listener {
  public:
    virtual ~touch_listener() = default;
    virtual void saw_touch(const std::string& asset, double level) = 0;
};

}  // namespace tilewalk::language
