// SPDX-License-Identifier: Apache-2.0
// A discount curve: pillars of discount factors, log-linear between them.
#pragma once

#include <vector>

namespace tilewalk::markets {

// Discount factors, log-linear between pillars; beyond the last the last forward rate goes on.
class curve {
  public:
    static curve flat(double rate);
    // Pillars strictly increasing, times > 0, factors > 0.
    static curve from_discount_factors(std::vector<double> years, std::vector<double> factors);
    static curve from_zero_rates(std::vector<double> years, std::vector<double> rates);
    double discount(double years) const;  // 1 at 0
    double log_discount(double years) const;
    const std::vector<double>& pillars() const { return years_; }
    friend bool operator==(const curve&, const curve&) = default;

  private:
    std::vector<double> years_, log_factors_;
    double last_rate_ = 0;
};

}  // namespace tilewalk::markets
