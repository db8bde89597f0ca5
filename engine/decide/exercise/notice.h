// SPDX-License-Identifier: Apache-2.0
// Rights with notice: the decision is made before the date, by what is known then; the payment is known on
// the date alone. Once notice is given, no other right is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/exercise/backward.h"
#include "engine/decide/exercise/policy.h"
#include "engine/decide/exercise/policy_at_hand.h"
#include "products/language/payoff.h"

namespace tilewalk::exercise {

// The payment of a right with notice, a number a path each, and the interval since the notice.
struct payment_left {
    const double *gives = nullptr, *offered = nullptr, *value = nullptr;
    interval_left since_notice;
};

// Backward induction with notices: fits the payment, and what is to come without it, at the notice.
class notice_backward : public backward {
  public:
    using backward::backward;
    void decide_notice(decision_date& d, date_left left, const payment_left& payment);

  private:
    std::vector<double> of_payment(const payment_left& payment) const;
};

class given_notices {
  public:
    explicit given_notices(const policy& by) : by_(by) {}
    void begins() { state_.reset(); }
    void decide(const language::right_at_hand& right, program::recorder& into);
    // True if no notice was given so far; true if that of the right at hand was.
    program::value are_none(program::recorder& into);
    program::value is_of(const language::right_at_hand& right, program::recorder& into);

  private:
    program::value given(program::recorder& into);

    const policy& by_;
    std::optional<std::uint32_t> state_;  // the policy's date of the notice, from 1; 0: none
};

// Keeps a bound's martingale from notice to payment, as if notice is given. Slots take turns.
class bounded_notices {
  public:
    explicit bounded_notices(const policy& by) : by_(by), moves_(by.moves()) {}
    void open(program::recorder& into);
    // Called at a notice, with the martingale there.
    void keep(const language::right_at_hand& right, const rows_of_policy& rows, const basis_at_hand& at,
              program::value martingale, program::recorder& into);
    // On the date of the payment: the worth of the use less its martingale, and whether there was a notice.
    struct use {
        program::value worth, was_there;
    };
    use used(const language::right_at_hand& right, program::recorder& into) const;
    void ends_step(std::span<const double> stops, program::recorder& into);

  private:
    struct slot {
        std::uint32_t alive, martingale;
        std::vector<std::uint32_t> sums, slopes;
    };

    const policy& by_;
    interval_moves moves_;
    std::vector<slot> slots_;
};

}  // namespace tilewalk::exercise
