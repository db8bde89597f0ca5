// SPDX-License-Identifier: Apache-2.0
// Products on interest rates, under Gaussian short rates of one factor or two.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/models/rates/gaussian.h"
#include "engine/numerics/gauss_kronrod.h"
#include "engine/verify/random_rates.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

struct leg {
    double begin, length;
    int count;

    double from(int k) const { return begin + length * (k - 1); }  // begin of period k = 1, 2, ...
    double to(int k) const { return begin + length * k; }
    double end() const { return to(count); }
    std::string rule() const { return fmt::format("{{start: {}, end: {}, count: {}}}", begin, end(), count); }
    std::vector<rates::period> periods() const {
        std::vector<rates::period> all;
        for (int k = 1; k <= count; ++k) all.push_back({from(k), to(k), length});
        return all;
    }
    double annuity(const markets::curve& today) const {
        double sum = 0;
        for (int k = 1; k <= count; ++k) sum += length * today.discount(to(k));
        return sum;
    }
};

// A leg has at least two periods: the rate of a first period that begins today is already known.
leg any_leg(dice& d) {
    return {d.coin() ? 0 : d.between(0.1, 2), d.between(0.2, 1), 1 + d.up_to(8)};
}

double forward_rate(const leg& l, const markets::curve& today) {
    return (today.discount(l.begin) - today.discount(l.end())) / l.annuity(today);
}

// The difference between futures and forward of log(1 + years * rate). futures_convexity is for continuous
// settlement; here gains settle on given dates and between them are held in the bond that matures on the next
// date, so the covariance of that bond with the rate is taken off.
double settled_convexity(const rates::gaussian_rates& model, const std::vector<double>& settlements,
                         double end) {
    const double fixed = settlements.back();
    const auto duration = [&](std::size_t i, double years) {
        const double a = model.factors[i].mean_reversion;
        return a > 0 ? -std::expm1(-a * years) / a : years;
    };
    double lost = 0, from = 0;
    for (const double next : settlements) {
        std::vector<double> edges{next};
        for (const rates::factor& f : model.factors) f.volatility.add_breaks(next, edges);
        std::ranges::sort(edges);
        for (const double to : edges) {
            if (!(to > from)) continue;
            const double middle = 0.5 * (from + to);  // a volatility is constant between two edges
            const auto covariance = [&](double at) {
                double sum = 0;
                for (std::size_t i = 0; i < 2; ++i) {
                    for (std::size_t j = 0; j < 2; ++j) {
                        sum += (i == j ? 1 : model.correlation) * model.factors[i].volatility.from(middle) *
                               model.factors[j].volatility.from(middle) *
                               (duration(i, end - at) - duration(i, fixed - at)) * duration(j, next - at);
                    }
                }
                return sum;
            };
            lost += analytics::gauss_kronrod(covariance, from, to).value;
            from = to;
        }
    }
    return (end - fixed) * rates::futures_convexity(model, fixed, end) - lost;
}

}  // namespace

known_trade draw_zero_coupon_bond(dice& d) {
    const random_rates m(d);
    const double maturity = d.between(0.1, random_rates::last_years);
    return known_in(
        m, rates_trade(fmt::format("product: zero_coupon_bond, maturity: {}", maturity)),
        [=](const random_rates& now) { return 100 * now.curve().discount(maturity); }, 100);
}

known_trade draw_coupon_bond(dice& d) {
    const random_rates m(d);
    const leg l{0, d.between(0.2, 1), d.up_to(10)};
    const double coupon = d.between(0, 0.1), redemption = d.between(0.5, 1.1);
    return known_in(
        m,
        rates_trade(fmt::format("product: coupon_bond, coupon_dates: {}, coupon: {}, redemption: {}",
                                l.rule(), coupon, redemption)),
        [=](const random_rates& now) {
            const markets::curve today = now.curve();
            return 100 * (coupon * l.annuity(today) + redemption * today.discount(l.end()));
        },
        100);
}

known_trade draw_swap(dice& d) {
    const random_rates m(d);
    const leg fixed = any_leg(d), floating{fixed.begin, 0.5 * fixed.length, 2 * fixed.count};
    const bool pays = d.coin();
    const double rate = forward_rate(fixed, m.curve()) + d.between(-0.03, 0.03),
                 spread = d.between(-0.01, 0.01);
    return known_in(
        m,
        rates_trade(fmt::format("product: swap, side: {}, begin: {}, fixed_rate: {}, fixed_payments: "
                                "{}, floating_payments: {}, spread: {}",
                                pays ? "payer" : "receiver", fixed.begin, rate, fixed.rule(), floating.rule(),
                                spread)),
        [=](const random_rates& now) {
            const markets::curve today = now.curve();
            return (pays ? 100 : -100) * (today.discount(fixed.begin) - today.discount(fixed.end()) +
                                          spread * floating.annuity(today) - rate * fixed.annuity(today));
        },
        2);
}

known_trade draw_cap_floor(dice& d) {
    const random_rates m(d);
    const leg l = any_leg(d);
    const analytics::right option = d.coin() ? analytics::right::call : analytics::right::put;
    const double strike = forward_rate(l, m.curve()) + d.between(-0.01, 0.01);
    return known_in(
        m,
        rates_trade(fmt::format("product: cap_floor, option: {}, begin: {}, payments: {}, strike: {}",
                                option == analytics::right::call ? "caplets" : "floorlets", l.begin, l.rule(),
                                strike)),
        [=](const random_rates& now) {
            return 100 * rates::cap(option, now.model(), now.curve(), l.periods(), strike);
        },
        10);
}

known_trade draw_swaption(dice& d) {
    const random_rates m(d);
    const analytics::right option = d.coin() ? analytics::right::call : analytics::right::put;
    const double expiry = d.between(0.1, 4);
    const leg l{d.coin() ? expiry : expiry + d.between(0.01, 0.5), d.between(0.25, 1), d.up_to(10)};
    const double strike = forward_rate(l, m.curve()) + d.between(-0.01, 0.01);
    rates::swap_terms swap{l.begin, {}, {}};
    for (int k = 1; k <= l.count; ++k) {
        swap.payments.push_back(l.to(k));
        swap.accruals.push_back(l.length);
    }
    return known_in(
        m,
        rates_trade(fmt::format("product: swaption, option: {}, strike: {}, expiry: {}, begin: {}, "
                                "payments: {}",
                                option == analytics::right::call ? "payer" : "receiver", strike, expiry,
                                l.begin, l.rule())),
        [=](const random_rates& now) {
            return 100 * rates::swaption(option, now.model(), now.curve(), expiry, swap, strike);
        },
        10);
}

known_trade draw_floating_rate_note(dice& d) {
    const random_rates m(d);
    const leg l = any_leg(d);
    const double forward = forward_rate(l, m.curve()), spread = d.between(-0.01, 0.02);
    const bool has_floor = d.coin(), has_cap = d.coin();
    const double floor = forward + spread - d.between(0, 0.01), cap = forward + spread + d.between(0, 0.01);
    return known_in(
        m,
        rates_trade(fmt::format("product: floating_rate_note, begin: {}, payments: {}, {}{}spread: {}",
                                l.begin, l.rule(), has_floor ? fmt::format("floor_rate: {}, ", floor) : "",
                                has_cap ? fmt::format("cap_rate: {}, ", cap) : "", spread)),
        [=](const random_rates& now) {
            using analytics::right;
            const markets::curve today = now.curve();
            double worth = today.discount(l.begin) + spread * l.annuity(today);
            if (has_floor) worth += rates::cap(right::put, now.model(), today, l.periods(), floor - spread);
            if (has_cap) worth -= rates::cap(right::call, now.model(), today, l.periods(), cap - spread);
            return 100 * worth;
        },
        100);
}

known_trade draw_cms_leg(dice& d) {
    const random_rates m(d);
    leg l = any_leg(d);
    l.count = std::min(l.count, 4);
    const int a_year = d.up_to(2), years = d.up_to(10);
    const bool has_floor = d.coin(), has_cap = d.coin();
    const double spread = d.between(-0.01, 0.01), floor = d.between(-0.01, 0.03),
                 cap = floor + d.between(0.005, 0.04);
    return known_in(
        m,
        rates_trade(fmt::format("product: cms_leg, begin: {}, payments: {}, swap_years: {}, payments_a_year: "
                                "{}, {}{}spread: {}",
                                l.begin, l.rule(), years, a_year,
                                has_floor ? fmt::format("floor_rate: {}, ", floor) : "",
                                has_cap ? fmt::format("cap_rate: {}, ", cap) : "", spread)),
        [=](const random_rates& now) {
            const markets::curve today = now.curve();
            const auto paid = [=](double rate) {
                const double least = has_floor ? std::max(rate + spread, floor) : rate + spread;
                return has_cap ? std::min(least, cap) : least;
            };
            double sum = 0;
            for (int k = 1; k <= l.count; ++k) {
                sum += l.length * now.paid_on_swap_rate(today, l.from(k), l.to(k), years, a_year,
                                                        {floor - spread, cap - spread}, paid);
            }
            return 100 * sum;
        },
        5);
}

known_trade draw_rate_range_accrual(dice& d) {
    for (;;) {
        const random_rates m(d);
        const leg l{0, d.between(0.2, 1), d.up_to(3)};
        const int looks = d.up_to(4);  // observations in a period
        const bool is_swap = d.coin();
        const int years = d.up_to(5);
        const double lower = d.between(-0.01, 0.03), upper = lower + d.between(0.01, 0.04),
                     coupon = d.between(0.02, 0.1);
        const known_trade made = known_in(
            m,
            rates_trade(fmt::format(
                "product: rate_range_accrual, observations: {{start: 0, end: {}, count: {}}}, payments: "
                "{}, lower: {}, upper: {}, coupon: {}{}",
                l.end(), l.count * looks, l.rule(), lower, upper, coupon,
                is_swap ? fmt::format(", rate_years: {}, payments_a_year: 1", years) : "")),
            [=](const random_rates& now) {
                const markets::curve today = now.curve();
                double sum = 0;
                for (int k = 1; k <= l.count; ++k) {
                    for (int i = 1; i <= looks; ++i) {
                        sum += now.paid_on_swap_rate(
                            today, l.from(k) + l.length * i / looks, l.to(k), is_swap ? years : 0.25,
                            is_swap ? 1 : 4, {lower, upper},
                            [=](double rate) { return rate >= lower && rate <= upper ? 1.0 : 0.0; });
                    }
                }
                return 100 * coupon * l.length * sum / looks;
            },
            10);
        // If the coupon is almost certain, a few paths rarely show a loss, and the error has no useful z.
        if (made.price({}) < 0.995 * 100 * coupon * l.annuity(m.curve())) return made;
    }
}

known_trade draw_rate_future(dice& d) {
    const random_rates m(d);
    const int count = 1 + d.up_to(12);
    const double first = d.coin() ? 0 : d.between(0.05, 0.5), each = d.between(0.02, 0.5),
                 fixed = first + each * (count - 1), years = d.between(0.1, 1), end = fixed + years;
    std::vector<double> settlements;
    for (int k = 0; k < count; ++k) settlements.push_back(first + each * k);
    const auto rate = [=](const random_rates& in) {
        const markets::curve today = in.curve();
        const double convexity = settled_convexity(in.model(), settlements, end);
        return (today.discount(fixed) / today.discount(end) * std::exp(convexity) - 1) / years;
    };
    const double traded = rate(m) + d.between(-0.03, 0.03);
    return known_in(
        m,
        rates_trade(fmt::format("product: rate_future, settlements: {{start: {}, end: {}, "
                                "count: {}, include_start: true}}, end: {}, traded_rate: {}",
                                first, fixed, count - 1, end, traded)),
        [=](const random_rates& now) { return 100 * now.curve().discount(first) * (traded - rate(now)); }, 2);
}

}  // namespace tilewalk::verify
