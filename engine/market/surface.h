// SPDX-License-Identifier: Apache-2.0
// An implied-volatility surface: a smile for each expiry, total variance linear in time between them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/smile.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {

// A Black volatility as the market writes it.
struct quote {
    double log_moneyness = 0, volatility = 0;
    std::string written;  // its strike or moneyness
    location where;
    std::string key_path;
};

struct expiry {
    double years = 0;
    smile variance;             // total: the square of the volatility times the years
    std::vector<quote> quotes;  // that it goes through; none for SVI
    double forward = 1;         // 1 where strikes are written as moneyness
    std::string written;
    location where;
    std::string key_path;

    static expiry from_quotes(double years, std::vector<quote> quotes);
    static expiry from_svi(double years, const svi_parameters& parameters);
};

// Everything is said in x = log(strike / forward of the expiry) and in years. Total variance is linear in
// time at constant x: from 0 at time 0 to the first expiry, between expiries, and after the last as it was
// before it.
class implied_surface {
  public:
    enum class written_by { strike, moneyness, svi };
    // At least one expiry, years strictly increasing and above 0. Says nothing of arbitrage; see arbitrage.h.
    implied_surface(written_by form, std::vector<expiry> expiries);

    struct value {
        smile_point at;
        double by_time = 0;  // just after the time
    };
    value total_variance(double years, double x) const;
    double implied_volatility(double years, double x) const;  // its limit at 0

    // The x at which an option is `deviations` standard deviations out of the money by its own volatility and
    // by either measure (that of the money and that of the asset), below and above the forward; at most
    // most_reach away.
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
