// SPDX-License-Identifier: Apache-2.0
// An earlier run whose decisions are followed, in the place of pilots'.
#pragma once

#include <string>

#include "engine/decide/decided.h"
#include "tilewalk/decisions.h"

namespace tilewalk::decide {

class followed_run {
  public:
    // `digest`: the same for decisions that are alike.
    followed_run(decisions what, std::string digest) : what_(std::move(what)), digest_(std::move(digest)) {}

    const decisions& all() const { return what_; }
    const std::string& digest() const { return digest_; }
    // Throws tilewalk::error (input) for a trade about which nothing was decided.
    const trade_decisions& row(const std::string& trade) const;

  private:
    decisions what_;
    std::string digest_;
};

// Names of decisions in a row's JSON, and in that of a file.
inline constexpr const char *of_control = "control", *of_shifts = "shifts", *of_dropping = "drops_control";

// Decisions as pilots would make them. Throws tilewalk::error (input) for what no run has written.
decided decided_in(const trade_decisions& of);
// The control and the shifts of a trade as JSON, which a row keeps; empty: it has none.
std::string written(const controls::control* control, const chosen_shifts* shifts);

}  // namespace tilewalk::decide
