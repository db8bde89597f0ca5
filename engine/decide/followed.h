// SPDX-License-Identifier: Apache-2.0
// Decisions of an earlier run, and policies of a file, which replace a run's pilots and training.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/decide/decided.h"
#include "tilewalk/decisions.h"

namespace tilewalk::decide {

class followed_run {
  public:
    // `policies` must contain those of `what`. Equal decisions have equal digests.
    followed_run(std::optional<decisions> what, const exercise::saved_policies& policies, std::string digest);

    const decisions* all() const { return what_ ? &*what_ : nullptr; }  // null if there are policies alone
    const std::string& digest() const { return digest_; }
    bool has_policies() const { return has_policies_; }
    // Returns a trade's decisions. Throws tilewalk::error (input) if there are none, or for malformed text.
    const trade_decisions& row(const std::string& trade) const;
    const decided& about(const std::string& trade) const;

  private:
    struct read_once {
        std::once_flag once;
        decided what;
    };
    std::optional<decisions> what_;
    std::string digest_;
    bool has_policies_;
    mutable std::map<std::string, read_once> read_;  // by trade id
};

// Keys of decisions, the same in a row of results and in a file of decisions.
inline constexpr const char *of_control = "control", *of_shifts = "shifts", *of_dropping = "drops_control",
                            *of_jumps = "jumps", *of_control_of_derivatives = "control_of_derivatives",
                            *of_policy = "policy", *of_integrating = "integrates_jumps";

// Returns decisions as JSON; empty if a trade has no control, no shifts and no integrated jumps.
std::string written(const controls::control* control, const chosen_shifts* shifts, bool integrates);
std::string with_derivatives(const std::string& written, const decided& of);
std::string without_derivatives(const std::string& written);

}  // namespace tilewalk::decide
