// SPDX-License-Identifier: Apache-2.0
// The market and the book a day later, with nothing else changed.
#pragma once

#include <optional>
#include <string>

#include "engine/plan/measures.h"
#include "tilewalk/engine.h"

namespace tilewalk::studies {

using greeks::key_of_day;

class next_day {
  public:
    explicit next_day(const market& today);

    // Returns the market a day later; empty if there is none, and why_not() says why.
    const std::optional<market>& in() const { return in_; }
    const std::string& why_not() const { return why_not_; }
    // Returns the same trades, whose times in years have come a day nearer.
    book aged(const book& trades) const;

  private:
    std::optional<market> in_;
    std::string why_not_;
};

}  // namespace tilewalk::studies
