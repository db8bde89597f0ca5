// SPDX-License-Identifier: Apache-2.0
// Truths of products that a first date decides by the values of options on it.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

// An option seen on a date before its maturity, by the price of that date.
struct later_option {
    truth::side option;
    double strike;
    truth::move rest;

    double worth(double spot) const {
        return truth::black(option, spot * std::exp(rest.growth), strike, rest.variance, rest.discount);
    }
};

constexpr double far_apart = 1e6;  // times and parts of the spot between which any decision changes

}  // namespace

known_trade draw_chooser(dice& d) {
    const random_market m(d, true);
    const double strike = m.strike(d), choice = m.years * d.between(0.1, 0.9);
    return {m.text() + one_trade(fmt::format("product: chooser, strike: {}, choice_date: {}, maturity: {}",
                                             strike, choice, m.years)),
            [=](double f) {
                return truth::chooser(f * m.forward(m.years), strike, m.variance(choice), m.variance(m.years),
                                      m.discount(m.years));
            },
            m.spot};
}

known_trade draw_complex_chooser(dice& d) {
    const random_market m(d, true);
    const double choice = m.years * d.between(0.1, 0.6), sooner = m.years * d.between(0.7, 0.95);
    const later_option call{truth::side::call, m.strike(d), m.step(choice, sooner)};
    const later_option put{truth::side::put, m.strike(d), m.step(choice, m.years)};
    return {m.text() + one_trade(fmt::format(
                           "product: complex_chooser, choice_date: {}, call_strike: {}, call_maturity: "
                           "{}, put_strike: {}, put_maturity: {}",
                           choice, call.strike, sooner, put.strike, m.years)),
            [=](double f) {
                const double change = truth::crossing([&](double s) { return call.worth(s) - put.worth(s); },
                                                      m.spot / far_apart, m.spot * far_apart);
                return m.discount(choice) *
                       truth::price_mean(f * m.forward(choice), m.variance(choice),
                                         [&](double s) { return std::max(call.worth(s), put.worth(s)); },
                                         {change});
            },
            m.spot};
}

known_trade draw_compound(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double first = m.years * d.between(0.2, 0.8);
    const later_option other{any_side(d), m.strike(d), m.step(first, m.years)};
    const double strike = other.worth(m.forward(first)) * d.between(0.5, 1.5);
    return {
        m.text() + one_trade(fmt::format(
                       "product: compound, option: {}, strike: {}, maturity: {}, underlying_option: "
                       "{}, underlying_strike: {}, underlying_maturity: {}",
                       name_of(option), strike, first, name_of(other.option), other.strike, m.years)),
        [=](double f) {
            const double sign = other.option == truth::side::call ? 1 : -1;
            const double change = truth::crossing([&](double s) { return sign * (other.worth(s) - strike); },
                                                  m.spot / far_apart, m.spot * far_apart);
            return m.discount(first) *
                   truth::price_mean(
                       f * m.forward(first), m.variance(first),
                       [&](double s) { return truth::intrinsic(option, other.worth(s), strike); }, {change});
        },
        m.spot};
}

known_trade draw_extensible_option(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const bool holder = d.coin();
    const double strike = m.strike(d), first = m.years * d.between(0.3, 0.8);
    const later_option other{option, strike * d.between(0.95, 1.05), m.step(first, m.years)};
    const double premium = holder ? other.worth(m.forward(first)) * d.between(0.2, 0.8) : 0;
    return {m.text() + one_trade(fmt::format(
                           "product: extensible_option, option: {}, strike: {}, maturity: {}, "
                           "extended_by: {}, extended_strike: {}, extended_maturity: {}, premium: {}",
                           name_of(option), strike, first, holder ? "holder" : "writer", other.strike,
                           m.years, premium)),
            [=](double f) {
                const auto paid = [&](double s) {
                    const double now = truth::intrinsic(option, s, strike), later = other.worth(s);
                    return holder ? std::max(now, later - premium) : now > 0 ? now : later;
                };
                const double sign = option == truth::side::call ? 1 : -1;
                const auto where = [&](const auto& f_of_price) {
                    return truth::crossing([&](double s) { return sign * f_of_price(s); }, m.spot / far_apart,
                                           m.spot * far_apart);
                };
                // To extend or not; and whether the extension, or the exercise, is the better one.
                const double extends = where([&](double s) { return other.worth(s) - premium; });
                const double exercises =
                    where([&](double s) { return sign * (s - strike) - (other.worth(s) - premium); });
                return m.discount(first) * truth::price_mean(f * m.forward(first), m.variance(first), paid,
                                                             {strike, extends, exercises});
            },
            m.spot};
}

}  // namespace tilewalk::verify
