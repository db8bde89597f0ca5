// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/random_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "engine/verify/closed_forms.h"

namespace tilewalk::verify {

namespace {

constexpr double last_pillar = 40;

}  // namespace

random_rates::random_rates(dice& d) {
    change_ = d.between(0.2, 4);
    first_rate_ = d.between(-0.01, 0.07);
    last_rate_ = first_rate_ + d.between(-0.02, 0.02);
    const double reversion = d.coin() ? d.between(0.01, 0.5) : 0, volatility = d.between(0.004, 0.015);
    if (d.coin()) {
        model_ =
            rates::hull_white(reversion, {{d.between(0.3, 3), 50}, {volatility, d.between(0.004, 0.015)}});
    } else {
        model_ = rates::g2(reversion, volatility, d.between(0.01, 1), d.between(0.004, 0.015),
                           d.between(-0.95, 0.95));
    }
}

bool random_rates::is_hull_white() const {
    return !model_.factors[0].volatility.is_constant();
}

markets::curve random_rates::curve() const {
    return markets::curve::from_zero_rates({change_, last_pillar}, {first_rate_, last_rate_});
}

random_rates random_rates::moved(const market_move& by) const {
    random_rates out = *this;
    const double more = std::log(by.forwards);
    out.first_rate_ += more + by.shift_of(pillar("USD.rate", change_));
    out.last_rate_ += more + by.shift_of(pillar("USD.rate", last_pillar));
    auto& [first, second] = out.model_.factors;
    if (is_hull_white()) {
        first.mean_reversion += by.shift_of("USD.hull_white.mean_reversion");
        for (std::size_t i = 0; i < 2; ++i)
            first.volatility.values[i] +=
                by.shift_of(pillar("USD.hull_white.volatility", first.volatility.years[i]));
        return out;
    }
    first.mean_reversion += by.shift_of("USD.g2.a");
    first.volatility.values[0] += by.shift_of("USD.g2.sigma");
    second.mean_reversion += by.shift_of("USD.g2.b");
    second.volatility.values[0] += by.shift_of("USD.g2.eta");
    out.model_.correlation += by.shift_of("USD.g2.rho");
    return out;
}

movable_numbers random_rates::numbers() const {
    movable_numbers out{{pillar("USD.rate", change_), step_of_rate},
                        {pillar("USD.rate", last_pillar), step_of_rate}};
    const auto add = [&](const std::string& name, double size) {
        if (size > 0) out.push_back({name, step_of_size * size});
    };
    const auto& [first, second] = model_.factors;
    if (is_hull_white()) {
        add("USD.hull_white.mean_reversion", first.mean_reversion);
        for (std::size_t i = 0; i < 2; ++i)
            add(pillar("USD.hull_white.volatility", first.volatility.years[i]), first.volatility.values[i]);
        return out;
    }
    add("USD.g2.a", first.mean_reversion);
    add("USD.g2.sigma", first.volatility.values[0]);
    add("USD.g2.b", second.mean_reversion);
    add("USD.g2.eta", second.volatility.values[0]);
    out.push_back({"USD.g2.rho", step_of_correlation});
    return out;
}

std::string random_rates::text() const {
    const auto& [first, second] = model_.factors;
    const std::string moves =
        is_hull_white()
            ? fmt::format("hull_white: {{mean_reversion: {}, volatility: {{{}: {}, {}: {}}}}}",
                          first.mean_reversion, first.volatility.years[0], first.volatility.values[0],
                          first.volatility.years[1], first.volatility.values[1])
            : fmt::format("g2: {{a: {}, sigma: {}, b: {}, eta: {}, rho: {}}}", first.mean_reversion,
                          first.volatility.values[0], second.mean_reversion, second.volatility.values[0],
                          model_.correlation);
    return fmt::format(
        "market:\n  as_of: 2026-01-15\n  currencies:\n    EUR: {{rate: 0.01}}\n    USD: {{zero_rates: {{{}: "
        "{}, {}: {}}}, model: "
        "{{{}}}}}\n",
        change_, first_rate_, last_pillar, last_rate_, moves);
}

double random_rates::paid_on_swap_rate(const markets::curve& today, double fixed, double paid,
                                       double swap_years, int a_year, const std::vector<double>& turns,
                                       const std::function<double(double rate)>& payment) const {
    // The log of a bond's price is linear in the model's two factors.
    struct line {
        double level, first, second;
        double at(double x0, double x1) const { return std::exp(level + first * x0 + second * x1); }
    };
    const auto line_to = [&](double maturity) {
        const auto log = [&](double x0, double x1) {
            return std::log(rates::bond(model_, today, fixed, maturity, {x0, x1}));
        };
        return line{log(0, 0), log(1, 0) - log(0, 0), log(0, 1) - log(0, 0)};
    };
    std::vector<line> ends;
    for (int k = 1; k <= std::lround(swap_years * a_year); ++k)
        ends.push_back(line_to(fixed + double(k) / a_year));
    const line to_payment = line_to(std::max(paid, fixed));  // never earlier than `fixed` by rounding
    const auto rate = [&](double x0, double x1) {
        double annuity = 0;
        for (const line& l : ends) annuity += l.at(x0, x1) / a_year;
        return (1 - ends.back().at(x0, x1)) / annuity;
    };

    const rates::factor_law law = rates::law_at(model_, fixed);
    constexpr double far = 9;
    const auto mean_along = [&](const auto& rate_at, const auto& bond_at, int panels) {
        std::vector<double> breaks;
        for (const double turn : turns) {
            double low = -far, high = far;
            if (!(rate_at(low) < turn && turn < rate_at(high))) continue;
            for (int i = 0; i < 50; ++i) {
                const double middle = 0.5 * (low + high);
                (rate_at(middle) < turn ? low : high) = middle;
            }
            breaks.push_back(low);
        }
        return truth::normal_mean([&](double z) { return bond_at(z) * payment(rate_at(z)); }, breaks, panels,
                                  far);
    };
    const double left = std::sqrt(1 - law.correlation * law.correlation);
    if (!(law.deviation[1] > 0)) {
        const auto x = [&](double z) { return law.mean[0] + law.deviation[0] * z; };
        return today.discount(fixed) * mean_along([&](double z) { return rate(x(z), 0); },
                                                  [&](double z) { return to_payment.at(x(z), 0); }, 6);
    }
    return today.discount(fixed) *
           truth::normal_mean(
               [&](double z0) {
                   const double x0 = law.mean[0] + law.deviation[0] * z0;
                   const auto x1 = [&](double z) {
                       return law.mean[1] + law.deviation[1] * (law.correlation * z0 + left * z);
                   };
                   return mean_along([&](double z) { return rate(x0, x1(z)); },
                                     [&](double z) { return to_payment.at(x0, x1(z)); }, 3);
               },
               {}, 8, far);
}

std::string rates_trade(const std::string& terms) {
    return "trades:\n  - {id: t, currency: USD, " + terms + "}\n";
}

}  // namespace tilewalk::verify
