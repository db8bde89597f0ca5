// SPDX-License-Identifier: Apache-2.0
// A volatility by term: Black volatilities at pillars.
#pragma once

#include <cstddef>
#include <vector>

namespace tilewalk::markets {

class volatility {
  public:
    static volatility flat(double level);
    static volatility by_term(std::vector<double> years,
                              std::vector<double> levels);  // throws if total variance falls
    // Instantaneous levels: levels[i] up to years[i], the last level also after it. Without years, one level.
    static volatility piecewise(std::vector<double> years, const std::vector<double>& levels);
    // Index of the first pillar with less total variance than the pillar before it; years.size() if none.
    static std::size_t falls_at(const std::vector<double>& years, const std::vector<double>& levels);
    double total_variance(double years) const;
    const std::vector<double>& pillars() const { return years_; }
    // Integral of sigma_a(t) sigma_b(t) dt from `from` to `to`, exact as both are piecewise constant.
    static double covariance(const volatility& a, const volatility& b, double from, double to);
    double instantaneous(double years) const;  // at a pillar: the level after it
    friend bool operator==(const volatility&, const volatility&) = default;

  private:
    std::vector<double> years_, variances_;
    double first_level_ = 0, last_level_ = 0;
    double beyond_ = 0;  // after the last pillar: total variance minus last_level_^2 times years
};

}  // namespace tilewalk::markets
