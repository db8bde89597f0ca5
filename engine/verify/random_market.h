// SPDX-License-Identifier: Apache-2.0
// Random markets whose forwards and variances are known in closed form.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/verify/closed_forms.h"
#include "engine/verify/dice.h"
#include "engine/verify/market_move.h"

namespace tilewalk::verify {

// A market in dollars with one asset A. Curves and volatility are flat, or one volatility and one rate change
// once. text() can add further assets.
struct random_market {
    double spot, yield, years, change, first_rate, last_rate, first_volatility, last_volatility;
    bool flat;
    double raised = 1;  // factor on all forwards, by a market_move

    random_market(dice& d, bool may_bend);

    double discount(double t) const;
    double variance(double t) const;
    double forward(double t) const;
    truth::move step(double from, double to) const;
    // Moves from each date to the next, or `count` moves of equal length from today to `years`.
    std::vector<truth::move> steps(const std::vector<double>& dates) const;
    std::vector<truth::move> steps(std::size_t count) const;
    random_market moved(const market_move& by) const;
    movable_numbers numbers() const;
    // A random strike within one standard deviation of the forward.
    double strike(dice& d) const;
    std::string text(const std::string& more_assets = "", const std::string& rest = "") const;

  private:
    // The fraction of the time from the change to the end that has passed at t. No pillar lies after the end.
    double part(double t) const { return t < change ? 0 : (t - change) / (years - change); }
    double log_discount(double t) const;
};

std::string one_trade(const std::string& terms);

// `count` + 1 equally spaced dates, from the first to the last.
std::vector<double> dates_between(double first, double last, int count);

const char* name_of(truth::side option);
truth::side any_side(dice& d);

}  // namespace tilewalk::verify
