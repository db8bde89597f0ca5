// SPDX-License-Identifier: Apache-2.0
// Markets made up at random, whose forwards and variances are known in closed form.
#pragma once

#include <string>

#include "engine/verify/closed_forms.h"
#include "engine/verify/dice.h"

namespace tilewalk::verify {

// One asset, A, with flat curves, or with a volatility and a rate that change once; forwards and variances
// either way. Paid in dollars, the only asset of its market unless `more_assets` names others.
struct random_market {
    double spot, yield, years, change, first_rate, last_rate, first_volatility, last_volatility;
    bool flat;

    random_market(dice& d, bool may_bend);

    double discount(double t) const;
    double variance(double t) const;
    double forward(double t) const;
    truth::move step(double from, double to) const;
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

const char* name_of(truth::side option);
truth::side any_side(dice& d);

}  // namespace tilewalk::verify
