// SPDX-License-Identifier: Apache-2.0
// A volatility by term: Black volatilities at pillars, total variance linear between them.
#pragma once

#include <cstddef>
#include <vector>

namespace tilewalk::markets {

// Total variance, linear between pillars; flat volatility before the first and after the last.
class volatility {
  public:
    static volatility flat(double level);
    static volatility by_term(std::vector<double> years,
                              std::vector<double> levels);  // refuses falling variance
    // Instantaneous levels: levels[i] from the pillar before to years[i], the last one also after it. Without
    // pillars it has one level.
    static volatility piecewise(std::vector<double> years, const std::vector<double>& levels);
    // The first pillar whose total variance is below that of the one before it; the number of pillars if none
    // is.
    static std::size_t falls_at(const std::vector<double>& years, const std::vector<double>& levels);
    double total_variance(double years) const;
    const std::vector<double>& pillars() const { return years_; }
    // Integral of sigma_a(t) sigma_b(t) dt from `from` to `to`: exact, both are piecewise constant.
    static double covariance(const volatility& a, const volatility& b, double from, double to);
    double instantaneous(double years) const;  // just after `years`
    friend bool operator==(const volatility&, const volatility&) = default;

  private:
    std::vector<double> years_, variances_;
    double first_level_ = 0, last_level_ = 0;
    double beyond_ = 0;  // total variance after the last pillar less that of the last level from 0 on
};

}  // namespace tilewalk::markets
