// SPDX-License-Identifier: Apache-2.0
// Markets made up at random, whose forwards and variances are known in closed form.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/verify/closed_forms.h"
#include "engine/verify/dice.h"
#include "engine/verify/market_move.h"

namespace tilewalk::verify {

// One asset, A, with flat curves, or with a volatility and a rate that change once; forwards and variances
// either way. Paid in dollars, the only asset of its market unless `more_assets` names others.
struct random_market {
    double spot, yield, years, change, first_rate, last_rate, first_volatility, last_volatility;
    bool flat;
    double raised = 1;  // all its forwards, by a move

    random_market(dice& d, bool may_bend);

    double discount(double t) const;
    double variance(double t) const;
    double forward(double t) const;
    truth::move step(double from, double to) const;
    // From each date to the next; and from today on, that many of one length until the end.
    std::vector<truth::move> steps(const std::vector<double>& dates) const;
    std::vector<truth::move> steps(std::size_t count) const;
    random_market moved(const market_move& by) const;
    movable_numbers numbers() const;
    // A strike within one deviation of the forward.
    double strike(dice& d) const;
    // The market as the head of a book.
    std::string text(const std::string& more_assets = "", const std::string& rest = "") const;

  private:
    // The part of the way from the change to the end. The last pillar stands on the end: nothing goes on
    // beyond it.
    double part(double t) const { return t < change ? 0 : (t - change) / (years - change); }
    double log_discount(double t) const;
};

// The trades of a book: one on the asset A, with these terms.
std::string one_trade(const std::string& terms);

// `count` steps of one length from the first date to the last, both among them.
std::vector<double> dates_between(double first, double last, int count);

const char* name_of(truth::side option);
truth::side any_side(dice& d);

}  // namespace tilewalk::verify
