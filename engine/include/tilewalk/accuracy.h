// SPDX-License-Identifier: Apache-2.0
// The precision that prices are to reach.
#pragma once

namespace tilewalk {

// Half the width of a confidence interval: an amount in the trade's currency, basis points of its notional or
// first spot, or an amount for the total of each currency.
struct accuracy {
    double size = 0;
    bool is_in_basis_points = false, is_of_totals = false;

    static constexpr accuracy amount(double of_each) { return {of_each, false, false}; }
    static constexpr accuracy basis_points(double of_each) { return {of_each, true, false}; }
    static constexpr accuracy of_totals(double amount) { return {amount, false, true}; }

    constexpr double amount_for(double measure) const {
        return is_in_basis_points ? size * 1e-4 * measure : size;
    }
    friend bool operator==(const accuracy&, const accuracy&) = default;
};

}  // namespace tilewalk
