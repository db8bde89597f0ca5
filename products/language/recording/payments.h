// SPDX-License-Identifier: Apache-2.0
// Payments of a script, discounted to today in the trade's currency.
#pragma once

#include <string>
#include <vector>

#include "products/language/recording/expressions.h"

namespace tilewalk::language::recording {

class payments {
  public:
    payments(const block_at_hand& at, values& made, block_dates& days, market_at_hand& market,
             expressions& amounts)
        : at_(at), made_(made), days_(days), market_(market), amounts_(amounts) {}

    void pay(place where, const payment& p, frame& f);

  private:
    std::vector<double> payment_years(const payment& p, place where) const;
    bool is_random(const std::string& currency) const;
    double discount(const std::string& currency, double years) const;
    value discount_of(const payment& p, const std::vector<double>& when, const std::string& currency,
                      const std::string& in);
    value discount_inside(const expression& at, const std::string& currency, const std::string& in, frame& f);

    const block_at_hand& at_;
    values& made_;
    block_dates& days_;
    market_at_hand& market_;
    expressions& amounts_;
};

}  // namespace tilewalk::language::recording
