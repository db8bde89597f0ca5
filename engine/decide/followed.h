// SPDX-License-Identifier: Apache-2.0
// Decisions of an earlier run and policies of a file, which a run follows in the place of what pilots and
// trainings would find.
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
    // `policies` count where `what` has none for a trade. `digest`: the same for decisions that are alike.
    followed_run(std::optional<decisions> what, const exercise::saved_policies& policies, std::string digest);

    const decisions* all() const { return what_ ? &*what_ : nullptr; }  // null: there are policies alone
    const std::string& digest() const { return digest_; }
    bool has_policies() const { return has_policies_; }
    // Decisions on a trade. Throws tilewalk::error (input) for one about which nothing was decided, and for
    // what no run has written.
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
    mutable std::map<std::string, read_once> read_;  // by trade
};

// Names of decisions in a row's JSON, and in that of a file.
inline constexpr const char *of_control = "control", *of_shifts = "shifts", *of_dropping = "drops_control",
                            *of_jumps = "jumps", *of_control_of_derivatives = "control_of_derivatives",
                            *of_policy = "policy", *of_integrating = "integrates_jumps";

// The control and the shifts of a trade, and whether its jumps are integrated, as JSON, which a row keeps;
// empty: it has none.
std::string written(const controls::control* control, const chosen_shifts* shifts, bool integrates);
// The same with what is of sensitivities alone, and without that.
std::string with_derivatives(const std::string& written, const decided& of);
std::string without_derivatives(const std::string& written);

}  // namespace tilewalk::decide
