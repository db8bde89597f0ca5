// SPDX-License-Identifier: Apache-2.0
// How exact a run is to be, as people write it.
#pragma once

#include <optional>
#include <string_view>

namespace tilewalk::config {

// An amount in a trade's currency, or basis points of what the trade is measured by; or an amount for the
// total of each currency.
struct accuracy {
    double size = 0;
    bool is_in_basis_points = false, is_of_totals = false;

    double amount(double measure) const { return is_in_basis_points ? size * 1e-4 * measure : size; }
    friend bool operator==(const accuracy&, const accuracy&) = default;
};

// Nothing if it can't be read. "0.01", "1bp", "100 total"
std::optional<accuracy> accuracy_of(std::string_view text);
// "0.99": above a half, since an interval that holds the truth less often than not is none.
std::optional<double> share_of(std::string_view text);
// "30", "30s", "5m", "2h"
std::optional<double> seconds_of(std::string_view text);

}  // namespace tilewalk::config
