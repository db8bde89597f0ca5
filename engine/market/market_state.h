// SPDX-License-Identifier: Apache-2.0
// Everything the market file says, in the form the models ask for it. Immutable once read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/document.h"
#include "products/dates/date.h"

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

  private:
    std::vector<double> years_, log_factors_;
    double last_rate_ = 0;
};

// Total variance, linear between pillars; flat volatility before the first and after the last.
class volatility {
  public:
    static volatility flat(double level);
    static volatility by_term(std::vector<double> years, std::vector<double> levels);  // refuses falling variance
    double total_variance(double years) const;
    const std::vector<double>& pillars() const { return years_; }
    // Integral of sigma_a(t) sigma_b(t) dt from `from` to `to`: exact, both are piecewise constant.
    static double covariance(const volatility& a, const volatility& b, double from, double to);

  private:
    std::vector<double> years_, variances_;
    double first_level_ = 0, last_level_ = 0;
};

struct dividend {
    double years = 0;        // ex-date
    double amount = 0;
    bool proportional = false;
};

struct asset {
    std::string name, currency;
    double spot = 0;
    curve dividend_yield = curve::flat(0);
    std::vector<dividend> dividends;  // increasing, after as_of
    std::optional<volatility> vol;
    location where;
};

struct fx_rate {
    std::string base, quote;  // 1 base = rate quote, "EURUSD: 1.10"
    double rate = 0;
    std::optional<volatility> vol;
    location where;
};

struct market_state {
    std::string name;  // file, for errors and the manifest
    std::string hash;  // of the bytes read
    dates::date as_of;
    std::map<std::string, curve, std::less<>> currencies;
    std::map<std::string, asset, std::less<>> assets;
    std::vector<fx_rate> fx;
    // Factors are asset names and FX pairs as written ("EURUSD").
    std::map<std::pair<std::string, std::string>, double> correlations;
    std::map<std::string, std::map<dates::date, double>, std::less<>> fixings;

    // Each throws tilewalk::error (input) naming the nearest known name; `asked_at` is where the book asked for it.
    const curve& discount_curve(const std::string& currency) const;
    const asset& find_asset(const std::string& name) const;
    // Units of `to` for one unit of `from`, direct, inverted or through one third currency.
    double fx_spot(const std::string& from, const std::string& to) const;
    // The quoted pair for two currencies and whether it is inverted; null if not quoted directly.
    std::pair<const fx_rate*, bool> fx_pair(const std::string& from, const std::string& to) const;
    double correlation(const std::string& a, const std::string& b) const;  // 1 for equal, 0 if not given
};

market_state read_market(const config::node& root);

// Buehler's form of an asset with cash dividends: S(t) = scale(t) X(t) + shift(t), X a martingale with X(0) = 1.
// `before` is the left limit on an ex-date. forward = scale + shift.
struct affine {
    double scale = 0, shift = 0;
};
affine spot_map(const asset& a, const curve& discount, double years, bool before_dividend = false);
double forward(const asset& a, const curve& discount, double years);

}  // namespace tilewalk::markets
