// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/prices_ahead.h"

#include <algorithm>

#include "kernels/math.h"
#include "products/program/row_names.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

using language::interval_end;
using language::occurrence;
using program::value;

namespace {

// Throws for cash dividends in between: paths with too little left pay less, so the mean is unknown.
void expect_no_fall(const factor& f, double from, double to) {
    if (!f.falls || markets::cash_fall(*f.asset, *f.carry, from, to) == 0) return;
    throw language::not_known_ahead("the value ahead of '" + f.name +
                                        "' is not known if a cash dividend falls in between; expected "
                                        "dividend_model: escrowed, or no cash dividend between the two dates",
                                    f.asset->where);
}

}  // namespace

value prices_ahead::forward(const factor& f, std::span<const double> years, const std::string& named) const {
    if (!f.quanto.empty()) {
        expect_lognormal(f, "the forward price");
        expect_still_rates(f, "the forward price");
    }
    if (f.rates) return forward_under_moving_rates(f, years, named);
    const affine_values ahead = ahead_of(f, years, named);
    return f.has_cash_dividends ? ahead.grown + ahead.shift : ahead.grown;
}

// Black's formula for the random part of the asset. A call with a strike below the future dividends is always
// exercised, and `level - over_shift` adds what least_strike leaves out.
value prices_ahead::option_value(bool call, const factor& f, value strike, std::span<const double> years,
                                 const std::string& named) const {
    constexpr double least_strike = 1e-30, least_deviation = 1e-12;
    expect_lognormal(f, "the value of an option");
    expect_still_rates(f, "the value of an option");
    const affine_values ahead = ahead_of(f, years, named);
    const value over_shift = strike - ahead.shift, level = max(over_shift, least_strike);
    const value deviation =
        in_.row_until("deviation " + named, f.number, years, [&](const occurrence& o, double until) {
            const double variance = of_.variance(f, o.years, until);
            return std::max(kernels::sqrt(std::max(variance, 0.0)), least_deviation);
        });
    const value discounted =
        in_.row_until("discount_ahead " + named, f.number, years, [&](const occurrence& o, double until) {
            return of_.domestic().discount(until) / of_.domestic().discount(o.years);
        });
    const value d1 = log(ahead.grown / level) / deviation + 0.5 * deviation, d2 = d1 - deviation;
    if (!call) return discounted * (level * norm_cdf(-d2) - ahead.grown * norm_cdf(-d1));
    return discounted * (ahead.grown * norm_cdf(d1) - level * norm_cdf(d2) + (level - over_shift));
}

value prices_ahead::bond(const std::string& currency, std::span<const double> years,
                         const std::string& named) const {
    if (const moving_rates* const r = of_.find_rates(currency)) {
        own_section<section_at_hand> seen(in_, *r);
        return r->walk->bond(seen, years, named);
    }
    const markets::curve& today = of_.market().discount_curve(currency);
    return in_.row_until("bond " + currency + " " + named, 0, years, [&](const occurrence& o, double until) {
        return today.discount(until) / today.discount(o.years);
    });
}

value prices_ahead::discount_on_path(const std::string& currency, interval_end end) const {
    const bool at_start = end == interval_end::start;
    const markets::curve& today = of_.market().discount_curve(currency);
    const value expected =
        in_.row((at_start ? "discount_start " : "discount_end ") + currency, 0,
                [&](const occurrence& o) { return today.discount(at_start ? o.start_years : o.years); });
    const moving_rates* const r = of_.find_rates(currency);
    if (!r) return expected;
    return expected * exp(-(at_start ? states_.growth_before(*r) : states_.growth(*r)));
}

// The mean at a later time: the current martingale times the quanto drift until then, scaled and shifted.
prices_ahead::affine_values prices_ahead::ahead_of(const factor& f, std::span<const double> years,
                                                   const std::string& named) const {
    const value grown = scaled_ahead(f, states_.martingale(f), years, named, [&](double from, double until) {
        expect_no_fall(f, from, until);
        return of_.map_of(f, until).scale *
               kernels::exp(-of_.covariance(f.moves_with, f.quanto, from, until));
    });
    if (!f.has_cash_dividends) return {grown, in_.into().constant(0.0)};
    return {grown,
            in_.row_until("shift_ahead " + named, f.number, years,
                          [&](const occurrence&, double until) { return of_.map_of(f, until).shift; })};
}

value prices_ahead::scaled_ahead(const factor& f, value now, std::span<const double> years,
                                 const std::string& named,
                                 const std::function<double(double, double)>& scale) const {
    if (!in_.is_looking_ahead()) {
        return in_.row_until("scale_ahead " + named, f.number, years, [&](const occurrence& o, double until) {
            return scale(o.years, until);
        }) * now;
    }
    const auto scale_now = [&](const occurrence& o) { return of_.map_of(f, o.years).scale; };
    const value quoted = in_.row(program::row_names::scale, f.number, scale_now) * now;
    return in_.row_until("growth " + named, f.number, years, [&](const occurrence& o, double until) {
        return scale(o.years, until) / scale_now(o);
    }) * quoted;
}

// Forward = spot / bond price, for any model, if the asset is in its own currency.
value prices_ahead::forward_under_moving_rates(const factor& f, std::span<const double> years,
                                               const std::string& named) const {
    const value now = scaled_ahead(f, states_.risen(f), years, named,
                                   [&](double, double paid) { return of_.map_of(f, paid).scale; });
    const value as_expected =
        in_.row_until("bond_expected " + named, f.number, years, [&](const occurrence& o, double paid) {
            return f.carry->discount(paid) / f.carry->discount(o.years);
        });
    return now * (as_expected / bond(f.asset->currency, years, named));
}

void prices_ahead::expect_still_rates(const factor& f, const std::string& what) const {
    for (const moving_rates* const moving : {of_.domestic_rates(), f.rates}) {
        if (!moving) continue;
        throw language::not_known_ahead(what + " on '" + f.name + "' in " + of_.trade_currency() +
                                            " is not known ahead while the rates of " + moving->currency +
                                            " move by a model; expected a market without one for them",
                                        moving->model->where());
    }
}

void prices_ahead::expect_lognormal(const factor& f, const std::string& what) const {
    if (!f.walk) return;
    const std::string why = f.walk->why_not_lognormal();
    if (why.empty()) return;
    throw language::not_known_ahead(what + " on '" + f.name + "' in " + of_.trade_currency() + " " + why,
                                    f.walk->where());
}

}  // namespace tilewalk::models
