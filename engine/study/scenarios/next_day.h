// SPDX-License-Identifier: Apache-2.0
// The next day: what a book is worth when a day has passed and nothing else has changed.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/measures.h"
#include "tilewalk/engine.h"

namespace tilewalk::verbs {

using greeks::key_of_day;

class next_day {
  public:
    explicit next_day(const market& today);

    // None where the market can't be a day older; then `why_not` says why.
    const std::optional<market>& in() const { return in_; }
    const std::string& why_not() const { return why_not_; }
    // The same trades, whose times in years have come a day nearer.
    book of(const book& trades) const;

  private:
    std::optional<market> in_;
    std::string why_not_;
};

}  // namespace tilewalk::verbs
