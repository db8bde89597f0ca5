// SPDX-License-Identifier: Apache-2.0
// A random market in dollars with a Gaussian short rate of one or two factors, in which bonds, options on
// bonds, and payments on a rate have known values.
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
    // Trades in such a market end within this time.
    static constexpr double last_years = 12;

    explicit random_rates(dice& d);

    markets::curve curve() const;
    const rates::gaussian_rates& model() const { return model_; }
    bool is_hull_white() const;  // true if it has one factor
    // A move of forwards by a factor multiplies the yearly growth of money by that factor.
    random_rates moved(const market_move& by) const;
    // Leaves out a mean reversion of 0: at the end of its range it can't move both ways.
    movable_numbers numbers() const;
    std::string text() const;

    // The value of payment(swap rate), which is paid at time `paid` and known at time `fixed`. The swap
    // begins at `fixed` and lasts `swap_years`, with `a_year` payments a year. `turns`: rates at which
    // `payment` has a kink or a jump.
    double paid_on_swap_rate(const markets::curve& today, double fixed, double paid, double swap_years,
                             int a_year, const std::vector<double>& turns,
                             const std::function<double(double rate)>& payment) const;

  private:
    double change_, first_rate_, last_rate_;
    rates::gaussian_rates model_;
};

std::string rates_trade(const std::string& terms);

}  // namespace tilewalk::verify
