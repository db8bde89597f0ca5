// SPDX-License-Identifier: Apache-2.0
#include "engine/market/ranges.h"

#include <cmath>

#include "engine/market/wording.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {

namespace {

constexpr double least_quoted_volatility = 1e-4;

std::string found(std::string_view what, std::string_view written) {
    return "found the " + std::string(what) + " " + std::string(written);
}

std::string percent_hint(double value) {
    return rounded(value) + " means " + rounded(100 * value) + " %; " + rounded(value) + " % is written " +
           rounded(value / 100);
}

complaint check_volatility_from(double least, double level, std::string_view written) {
    if (level >= least && level <= bounds::volatility) return {};
    return found("volatility", written) + ", expected one between " + rounded(least) + " and " +
           rounded(bounds::volatility) + (level > bounds::volatility ? "; " + percent_hint(level) : "");
}

}  // namespace

complaint check_rate(double rate, std::string_view written) {
    if (std::abs(rate) <= bounds::market_rate) return {};
    return found("rate", written) + ", expected one between -1 and 1; " + percent_hint(rate);
}

complaint check_discount_factor(double factor, double years, std::string_view written) {
    if (!(factor > 0)) return found("discount factor", written) + ", expected more than 0";
    const double implied = -std::log(factor) / years;
    if (std::abs(implied) <= bounds::market_rate) return {};
    return found("discount factor", written) + ", which is a rate of " + rounded(100 * implied) +
           " %, expected one between -100 % and 100 %";
}

complaint check_volatility(double level, std::string_view written) {
    return check_volatility_from(0, level, written);
}

complaint check_quoted_volatility(double level, std::string_view written) {
    return check_volatility_from(least_quoted_volatility, level, written);
}

complaint check_correlation(double rho, std::string_view written) {
    if (std::abs(rho) <= 1) return {};
    return found("correlation", written) + ", expected one between -1 and 1";
}

complaint check_positive(double number, std::string_view what, std::string_view written) {
    if (number > 0 && number <= bounds::money) return {};
    return found(what, written) + ", expected more than 0 and at most 1e15";
}

complaint check_dividend(double amount, std::string_view written) {
    if (amount >= 0 && amount <= bounds::money) return {};
    return found("amount", written) + ", expected 0 or more and at most 1e15";
}

complaint check_dividend_proportion(double proportion, std::string_view written) {
    if (proportion >= 0 && proportion < 1) return {};
    return found("proportion", written) + ", expected one of at least 0 and less than 1" +
           (proportion >= 1 ? "; " + percent_hint(proportion) : "");
}

}  // namespace tilewalk::markets
