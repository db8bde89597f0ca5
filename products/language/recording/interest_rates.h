// SPDX-License-Identifier: Apache-2.0
// Interest rates on the date at hand, all computed from bonds. The first argument of a call is the currency.
#pragma once

#include <cstddef>

#include "products/language/recording/block_dates.h"
#include "products/language/recording/market_at_hand.h"

namespace tilewalk::language::recording {

class interest_rates {
  public:
    interest_rates(const block_at_hand& at, values& made, block_dates& days, market_at_hand& market)
        : at_(at), made_(made), days_(days), market_(market) {}

    value bond(const expression& e) { return bond_until(e, e.operands[1]); }
    value forward_rate(const expression& e);
    value annuity(const expression& e);
    value swap_rate(const expression& e);
    // The par rate of a swap that starts on the date at hand with equidistant payments.
    value constant_maturity_rate(const expression& e);

  private:
    value bond_until(const expression& e, const expression& day);
    const dates::schedule& payments_of(const expression& e) const;
    struct payments {
        const std::vector<dates::time_point>& times;
        run_dates begin;
        std::vector<std::size_t> first;  // by run: index of the first payment after the swap begins
    };
    payments payments_of_swap(const expression& e) const;
    value bond_of_schedule(const expression& e, const payments& of, std::size_t number);

    const block_at_hand& at_;
    values& made_;
    block_dates& days_;
    market_at_hand& market_;
};

}  // namespace tilewalk::language::recording
