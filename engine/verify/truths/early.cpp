// SPDX-License-Identifier: Apache-2.0
// Trades that can be ended early. The engine gives a lower and an upper bound of their price, not the price.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/random_rates.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

// An American option with `dates` equally spaced days of exercise, the last one at maturity.
std::string american_trade(const random_market& m, truth::side option, double strike, int dates) {
    const double step = m.years / dates;
    return one_trade(
        fmt::format("product: american, option: {}, strike: {}, maturity: {}, exercise_start: "
                    "{}, exercise_step: {}",
                    name_of(option), strike, m.years, step, 1.001 * step));
}

// A Bermudan swaption under a one-factor short rate, priced in units of the bond that matures with the last
// payment. In these units, the log of a bond is linear in one Gaussian number without drift.
class swaption_by_factor {
    static constexpr double far = 1e12;

  public:
    swaption_by_factor(const random_rates& m, bool is_payer, double strike, double length,
                       std::size_t periods)
        : today_(m.curve()), of_(m.model().factors[0]), sign_(is_payer ? 1 : -1), strike_(strike) {
        for (std::size_t k = 0; k <= periods; ++k) ends_.push_back(length * static_cast<double>(k + 1));
    }

    // The holder may exercise at the beginning of any period.
    double price() const {
        double before = 0;
        std::vector<truth::move> moves;
        std::vector<double> variances, breaks;
        for (std::size_t k = 0; k + 1 < ends_.size(); ++k) {
            const double until = variance(ends_[k]);
            // backward() expects a price: it gets the exponential of the Gaussian number.
            moves.push_back({0.5 * (until - before), until - before, 1});
            variances.push_back(until);
            before = until;
            breaks.push_back(
                truth::crossing([&](double e) { return sign_ * swap(k, std::log(e), until); }, 1 / far, far));
        }
        const double scaled = truth::backward(1, moves, breaks, [&](std::size_t k, double e, double goes_on) {
            return std::max(swap(k, std::log(e), variances[k]), goes_on);
        });
        return today_.discount(ends_.back()) * scaled;
    }

  private:
    // The derivative of log(bond to `maturity` / bond to the last payment) with respect to the Gaussian
    // number.
    double slope(double maturity) const {
        const double a = of_.mean_reversion, rest = ends_.back() - maturity;
        return a > 0 ? std::exp(-a * maturity) * -std::expm1(-a * rest) / a : rest;
    }
    double bond(double maturity, double y, double variance) const {
        const double by = slope(maturity);
        return today_.discount(maturity) / today_.discount(ends_.back()) *
               std::exp(by * y - 0.5 * by * by * variance);
    }
    double swap(std::size_t k, double y, double variance) const {
        double worth = bond(ends_[k], y, variance) - bond(ends_.back(), y, variance);
        for (std::size_t i = k + 1; i < ends_.size(); ++i)
            worth -= strike_ * (ends_[i] - ends_[i - 1]) * bond(ends_[i], y, variance);
        return sign_ * worth;
    }
    // The variance of the Gaussian number at a time: the integral of (volatility(t) exp(a t))^2 until then.
    double variance(double until) const {
        std::vector<double> edges{0, until};
        of_.volatility.add_breaks(until, edges);
        std::ranges::sort(edges);
        const double a = of_.mean_reversion;
        double out = 0;
        for (std::size_t i = 1; i < edges.size(); ++i) {
            const double from = edges[i - 1], to = edges[i], v = of_.volatility.from(0.5 * (from + to));
            out += v * v *
                   (a > 0 ? std::exp(2 * a * from) * std::expm1(2 * a * (to - from)) / (2 * a) : to - from);
        }
        return out;
    }

    markets::curve today_;
    rates::factor of_;
    double sign_, strike_;
    std::vector<double> ends_;  // the beginning of the first period, and the end of each
};

}  // namespace

known_trade draw_bermudan_put(dice& d) {
    const random_market m(d, true);
    const double strike = m.strike(d);
    const int dates = 4 + d.up_to(5);
    return known_in(
        m, american_trade(m, truth::side::put, strike, dates),
        [=](const random_market& now) {
            return truth::backward(
                now.spot, now.steps(static_cast<std::size_t>(dates)), {strike},
                [&](std::size_t, double price, double goes_on) { return std::max(strike - price, goes_on); });
        },
        m.spot);
}

// A call never exercised early, as there are no dividends and rates are not below 0: a European call.
known_trade draw_american_call(dice& d) {
    random_market m(d, true);
    m.yield = 0;
    m.first_rate = std::abs(m.first_rate);
    m.last_rate = m.flat ? m.first_rate : std::max(m.last_rate, m.first_rate * m.change / m.years);
    const double strike = m.strike(d);
    return known_in(
        m, american_trade(m, truth::side::call, strike, 1 + d.up_to(5)),
        [=](const random_market& now) {
            return truth::black(truth::side::call, now.forward(m.years), strike, now.variance(m.years),
                                now.discount(m.years));
        },
        m.spot);
}

known_trade draw_bermudan_swaption(dice& d) {
    random_rates m(d);
    while (!m.is_hull_white()) m = random_rates(d);
    const bool is_payer = d.coin();
    const double length = d.between(0.5, 1.5);
    const std::size_t periods = static_cast<std::size_t>(3 + d.up_to(4));
    const double begin = length, end = length * static_cast<double>(periods + 1);
    const markets::curve today = m.curve();
    double annuity = 0;
    for (std::size_t k = 2; k <= periods + 1; ++k)
        annuity += length * today.discount(length * static_cast<double>(k));
    const double strike = (today.discount(begin) - today.discount(end)) / annuity + d.between(-0.01, 0.01);
    return known_in(
        m,
        rates_trade(
            fmt::format("product: bermudan_swaption, option: {}, strike: {}, exercise_dates: {{start: "
                        "0, end: {}, count: {}}}, payments: {{start: {}, end: {}, count: {}}}",
                        is_payer ? "payer" : "receiver", strike, length * static_cast<double>(periods),
                        periods, begin, end, periods)),
        [=](const random_rates& now) {
            return 100 * swaption_by_factor(now, is_payer, strike, length, periods).price();
        },
        10);
}

}  // namespace tilewalk::verify
