// SPDX-License-Identifier: Apache-2.0
// An implied-volatility surface: a smile for each expiry, with total variance linear in time between them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/smile.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

struct quote {
    double log_moneyness = 0, volatility = 0;
    std::string written;  // strike or moneyness as spelt in the file
    location where;
    std::string key_path;
};

struct expiry {
    double years = 0;
    smile variance;             // total variance, volatility^2 times years
    std::vector<quote> quotes;  // quotes that the smile goes through; empty for SVI
    double forward = 1;         // left at 1 unless quoted by strike
    std::string written;
    location where;
    std::string key_path;

    static expiry from_quotes(double years, std::vector<quote> quotes);
    static expiry from_svi(double years, const svi_parameters& parameters);
};

// Total variance as a function of x = log(strike / forward of the expiry) and years. It is linear in time at
// constant x, from 0 at time 0; the slope before the last expiry continues after it.
class implied_surface {
  public:
    enum class written_by { strike, moneyness, svi };
    // Requires at least one expiry, and increasing years above 0. Use arbitrage.h to check for arbitrage.
    implied_surface(written_by form, std::vector<expiry> expiries);

    struct value {
        smile_point at;
        double by_time = 0;  // derivative by time, from the right
    };
    value total_variance(double years, double x) const;
    double implied_volatility(double years, double x) const;  // at years 0: the limit

    // Returns the x below and above the forward at which an option is `deviations` of its own standard
    // deviations out of the money, both under the risk-neutral measure and with the asset as numeraire. At
    // most most_reach away from 0.
    std::pair<double, double> reach(double years, double deviations) const;
    static constexpr double most_reach = 25;

    written_by form() const { return form_; }
    const std::vector<expiry>& expiries() const { return expiries_; }

  private:
    std::vector<expiry> expiries_;
    std::vector<double> years_;
    written_by form_;
};

}  // namespace tilewalk::markets
