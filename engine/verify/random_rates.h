// SPDX-License-Identifier: Apache-2.0
// A random market in dollars with a Gaussian short rate of one or two factors. Bonds, options and payments on
// a rate are known without simulation.
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
    // Trades in such a market end by then.
    static constexpr double last_years = 12;

    explicit random_rates(dice& d);

    markets::curve curve() const;
    const rates::gaussian_rates& model() const { return model_; }
    bool is_hull_white() const;  // one factor
    // Multiplies the yearly growth factor of money by the factor of the forwards.
    random_rates moved(const market_move& by) const;
    // Leaves out a reversion of 0, which lies at the end of its range.
    movable_numbers numbers() const;
    std::string text() const;

    // The value of a payment on `paid` that is fixed on `fixed` by the rate of a swap from that date over
    // `swap_years` with `a_year` payments a year. `turns` are the rates at which the payment has a kink or a
    // jump.
    double paid_on_swap_rate(const markets::curve& today, double fixed, double paid, double swap_years,
                             int a_year, const std::vector<double>& turns,
                             const std::function<double(double rate)>& payment) const;

  private:
    double change_, first_rate_, last_rate_;
    rates::gaussian_rates model_;
};

std::string rates_trade(const std::string& terms);

}  // namespace tilewalk::verify
