// SPDX-License-Identifier: Apache-2.0
// Forwards with cash and proportional dividends, and Buehler's affine form (Buehler 2010, "Volatility and
// dividends").
//
// The asset grows at the carry (its currency's rate minus its dividend yield) and on an ex-date T_j falls as
//     S(T_j) = (1 - b_j) S(T_j-) - c_j,
// with a dividend either proportional (c_j = 0) or cash (b_j = 0). Let
//     R(t) = Q(t) / D(t) * product of (1 - b_j) over T_j <= t,
// the growth of one unit of the asset without cash dividends (D: discount factor, Q: that of the yield). A
// cash dividend c_j is worth c_j R(t) / R(T_j) at t < T_j: that much of the asset grows to c_j, including
// later proportional dividends. With
//     shift(t) = sum of c_j R(t) / R(T_j) over T_j > t,
//     scale(t) = R(t) (S(0) - shift(0)),
// S = scale X + shift meets both conditions for any martingale X with X(0) = 1: between ex-dates both terms
// grow at the carry; on a proportional ex-date both fall by the factor 1 - b_j; on a cash ex-date shift alone
// falls by c_j. So the forward is E[S(t)] = scale(t) + shift(t) = S(0) R(t) - sum of c_j R(t) / R(T_j) over
// T_j <= t, and S never falls below the value of the remaining dividends.
//
// An asset that falls by its dividends has S = scale X with scale(t) = R(t) S(0), and X a martingale that
// falls by c_j / (R(T_j) S(0)) on a cash ex-date, but not below 0: the holder receives what is left. The
// forward is the same unless a path reaches 0; each such path adds to it.
#include "engine/market/asset.h"

#include "engine/market/wording.h"
#include "kernels/exponential.h"
#include "products/dates/date.h"

namespace tilewalk::markets {
namespace {

double log_growth(const asset& a, const curve& discount, double years) {
    return a.dividend_yield.log_discount(years) - discount.log_discount(years);
}

}  // namespace

affine spot_map(const asset& a, const curve& discount, double years, bool before_dividend) {
    double kept = 1;                       // product of (1 - b_j) so far
    double kept_at_time = 1;               // the same product over the dividends up to `years`
    double all_cash = 0, future_cash = 0;  // sums of c_j / R(T_j) over all, over those after `years`
    for (const dividend& d : a.dividends) {
        const bool gone = before_dividend ? d.years < years : d.years <= years;
        if (d.proportional) {
            kept *= 1 - d.amount;
            if (gone) kept_at_time = kept;
        } else {
            const double worth = d.amount / (kept * kernels::exp(log_growth(a, discount, d.years)));
            all_cash += worth;
            if (!gone) future_cash += worth;
        }
    }
    if (!(all_cash < a.spot)) {
        throw error(error_kind::input,
                    "the cash dividends of '" + a.name + "' are worth " + rounded(all_cash) +
                        " today, expected less than the spot " + rounded(a.spot),
                    a.where, "assets." + a.name);
    }
    const double growth = kept_at_time * kernels::exp(log_growth(a, discount, years));
    if (a.falls_by_dividends) return {growth * a.spot, 0};
    return {growth * (a.spot - all_cash), growth * future_cash};
}

double forward(const asset& a, const curve& discount, double years) {
    const affine map = spot_map(a, discount, years);
    if (a.falls_by_dividends) return map.scale * (1 - cash_fall(a, discount, 0, years));
    return map.scale + map.shift;
}

double cash_fall(const asset& a, const curve& discount, double from, double to) {
    using dates::same_time_years;
    double kept = 1, fall = 0;
    for (const dividend& d : a.dividends) {
        if (d.years > to + same_time_years) break;
        if (d.proportional) {
            kept *= 1 - d.amount;
        } else if (d.years > from + same_time_years) {
            fall += d.amount / (kept * kernels::exp(log_growth(a, discount, d.years)));
        }
    }
    return fall / a.spot;
}

}  // namespace tilewalk::markets
