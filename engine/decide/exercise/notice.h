// SPDX-License-Identifier: Apache-2.0
// Rights with notice. The decision is made on the notice date by what is known then; the amount is known on
// the payment date alone. Once notice is given, no other right is used.
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

// Training data of a right's payment date. By path: what the right gives there, whether it is offered (0 if
// not), and the payments before it. `since_notice`: the interval from the notice to the payment.
struct payment_left {
    const double *gives = nullptr, *offered = nullptr, *value = nullptr;
    interval_left since_notice;
};

// Backward induction with notices. At each notice it fits two values: the payment, and the continuation.
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
    // True if no notice was given so far.
    program::value are_none(program::recorder& into);
    program::value is_of(const language::right_at_hand& right, program::recorder& into);

  private:
    program::value given(program::recorder& into);

    const policy& by_;
    std::optional<std::uint32_t> state_;  // number from 1 of the date whose notice was given; 0: none
};

// Carries a bound's martingale from each notice to its payment, as if notice were given there. Notices that
// overlap take different slots; a slot serves again after its payment.
class bounded_notices {
  public:
    explicit bounded_notices(const policy& by) : by_(by), moves_(by.moves()) {}
    void open(program::recorder& into);
    // Takes the martingale at a notice into the notice's slot.
    void keep(const language::right_at_hand& right, const rows_of_policy& rows, const basis_at_hand& at,
              program::value martingale, program::recorder& into);
    // On a payment date: the payment less the martingale, and whether its notice date was met alive.
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
