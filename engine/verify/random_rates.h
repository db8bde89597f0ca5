// SPDX-License-Identifier: Apache-2.0
// Dollars whose short rate is Gaussian, of one factor or two, made up at random: bonds, options and whatever
// is paid on a rate are known without a path.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/market/curve.h"
#include "engine/models/rates/gaussian.h"
#include "engine/verify/dice.h"
#include "engine/verify/market_move.h"

namespace tilewalk::verify {

struct random_rates {
    // Trades of such a market end by then.
    static constexpr double last_years = 12;

    explicit random_rates(dice& d);

    markets::curve curve() const;
    const rates::gaussian_rates& model() const { return model_; }
    bool is_hull_white() const;  // of one factor
    // Money grows so many times as fast a year where forwards are so many times what they were.
    random_rates moved(const market_move& by) const;
    // A reversion of 0 is not among them: it stands at the end of its range.
    movable_numbers numbers() const;
    // The market as the head of a book.
    std::string text() const;

    // The value of a payment on `paid` that is fixed on `fixed` by the rate of a swap that begins there and
    // lasts `swap_years` with `a_year` payments; `turns` are the rates where the payment has a kink or jumps.
    double paid_on_swap_rate(const markets::curve& today, double fixed, double paid, double swap_years,
                             int a_year, const std::vector<double>& turns,
                             const std::function<double(double rate)>& payment) const;

  private:
    double change_, first_rate_, last_rate_;
    rates::gaussian_rates model_;
};

// The trades of a book: one in dollars, with these terms.
std::string rates_trade(const std::string& terms);

}  // namespace tilewalk::verify
