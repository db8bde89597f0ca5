// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tilewalk::markets {

// Discount factors, log-linear between pillars; the last forward rate continues beyond the last pillar.
class curve {
  public:
    static curve flat(double rate);
    // Requires increasing times > 0 and factors > 0.
    static curve from_discount_factors(std::vector<double> years, std::vector<double> factors);
    static curve from_zero_rates(std::vector<double> years, std::vector<double> rates);
    double discount(double years) const;  // 1 at time 0
    double log_discount(double years) const;
    const std::vector<double>& pillars() const { return years_; }
    friend bool operator==(const curve&, const curve&) = default;

  private:
    std::vector<double> years_, log_factors_;
    double last_rate_ = 0;
};

}  // namespace tilewalk::markets
