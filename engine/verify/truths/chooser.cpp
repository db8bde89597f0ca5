// SPDX-License-Identifier: Apache-2.0
// Products with a choice on a first date, which depends on the values that options have on that date.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

// An option as seen on a date before its maturity; worth() is its value by the price on that date.
struct later_option {
    truth::side option;
    double strike;
    truth::move rest;

    double worth(double spot) const {
        return truth::black(option, spot * std::exp(rest.growth), strike, rest.variance, rest.discount);
    }
};

constexpr double far_apart = 1e6;  // every choice changes within this factor of the spot

}  // namespace

known_trade draw_chooser(dice& d) {
    const random_market m(d, true);
    const double strike = m.strike(d), choice = m.years * d.between(0.1, 0.9);
    return known_in(
        m,
        one_trade(fmt::format("product: chooser, strike: {}, choice_date: {}, maturity: {}", strike, choice,
                              m.years)),
        [=](const random_market& now) {
            return truth::chooser(now.forward(m.years), strike, now.variance(choice), now.variance(m.years),
                                  now.discount(m.years));
        },
        m.spot);
}

known_trade draw_complex_chooser(dice& d) {
    const random_market m(d, true);
    const double choice = m.years * d.between(0.1, 0.6), sooner = m.years * d.between(0.7, 0.95);
    const double call_strike = m.strike(d), put_strike = m.strike(d);
    return known_in(
        m,
        one_trade(fmt::format("product: complex_chooser, choice_date: {}, call_strike: {}, call_maturity: "
                              "{}, put_strike: {}, put_maturity: {}",
                              choice, call_strike, sooner, put_strike, m.years)),
        [=](const random_market& now) {
            const later_option call{truth::side::call, call_strike, now.step(choice, sooner)};
            const later_option put{truth::side::put, put_strike, now.step(choice, m.years)};
            const double change = truth::crossing([&](double s) { return call.worth(s) - put.worth(s); },
                                                  m.spot / far_apart, m.spot * far_apart);
            return now.discount(choice) *
                   truth::price_mean(now.forward(choice), now.variance(choice),
                                     [&](double s) { return std::max(call.worth(s), put.worth(s)); },
                                     {change});
        },
        m.spot);
}

known_trade draw_compound(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const double first = m.years * d.between(0.2, 0.8);
    const later_option drawn{any_side(d), m.strike(d), m.step(first, m.years)};
    const double strike = drawn.worth(m.forward(first)) * d.between(0.5, 1.5);
    return known_in(
        m,
        one_trade(fmt::format("product: compound, option: {}, strike: {}, maturity: {}, underlying_option: "
                              "{}, underlying_strike: {}, underlying_maturity: {}",
                              name_of(option), strike, first, name_of(drawn.option), drawn.strike, m.years)),
        [=](const random_market& now) {
            const later_option other{drawn.option, drawn.strike, now.step(first, m.years)};
            const double sign = other.option == truth::side::call ? 1 : -1;
            const double change = truth::crossing([&](double s) { return sign * (other.worth(s) - strike); },
                                                  m.spot / far_apart, m.spot * far_apart);
            return now.discount(first) *
                   truth::price_mean(
                       now.forward(first), now.variance(first),
                       [&](double s) { return truth::intrinsic(option, other.worth(s), strike); }, {change});
        },
        m.spot);
}

known_trade draw_extensible_option(dice& d) {
    const random_market m(d, true);
    const truth::side option = any_side(d);
    const bool holder = d.coin();
    const double strike = m.strike(d), first = m.years * d.between(0.3, 0.8);
    const later_option drawn{option, strike * d.between(0.95, 1.05), m.step(first, m.years)};
    const double premium = holder ? drawn.worth(m.forward(first)) * d.between(0.2, 0.8) : 0;
    return known_in(
        m,
        one_trade(fmt::format("product: extensible_option, option: {}, strike: {}, maturity: {}, "
                              "extended_by: {}, extended_strike: {}, extended_maturity: {}, premium: {}",
                              name_of(option), strike, first, holder ? "holder" : "writer", drawn.strike,
                              m.years, premium)),
        [=](const random_market& now) {
            const later_option other{drawn.option, drawn.strike, now.step(first, m.years)};
            const auto paid = [&](double s) {
                const double at_once = truth::intrinsic(option, s, strike), later = other.worth(s);
                return holder ? std::max(at_once, later - premium) : at_once > 0 ? at_once : later;
            };
            const double sign = option == truth::side::call ? 1 : -1;
            const auto where = [&](const auto& f_of_price) {
                return truth::crossing([&](double s) { return sign * f_of_price(s); }, m.spot / far_apart,
                                       m.spot * far_apart);
            };
            // Prices at which extending is worth its premium, and at which it is worth the same as
            // exercising.
            const double extends = where([&](double s) { return other.worth(s) - premium; });
            const double exercises =
                where([&](double s) { return sign * (s - strike) - (other.worth(s) - premium); });
            return now.discount(first) * truth::price_mean(now.forward(first), now.variance(first), paid,
                                                           {strike, extends, exercises});
        },
        m.spot);
}

}  // namespace tilewalk::verify
