// SPDX-License-Identifier: Apache-2.0
// Closed forms for Gaussian short rates, held against published prices, against quadratures of payoffs over
// the factors' law, against moments from a differential equation, and against each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/models/rates/gaussian.h"
#include "engine/numerics/gauss_kronrod.h"
#include "engine/verify/closed_forms.h"
#include "tests/draws.h"
#include "tilewalk/error.h"

namespace tilewalk::rates::rates_closed_forms_test {
namespace {

using analytics::right;
using markets::curve;
using models::by_term;
using nlohmann::json;

using draws = random_parameters;

curve draw_curve(draws& d) {
    std::vector<double> years, rates;
    for (double t = d.between(0.1, 2); t < 60; t *= d.between(1.2, 3)) {
        years.push_back(t);
        rates.push_back(d.between(-0.01, 0.08));
    }
    return curve::from_zero_rates(years, rates);
}

by_term draw_volatility(draws& d) {
    by_term drawn;
    for (double t = d.between(0.1, 2); t < 20; t *= d.between(1.5, 4)) {
        drawn.years.push_back(t);
        drawn.values.push_back(d.over_decades(1e-3, 0.05));
    }
    return drawn;
}

double draw_reversion(draws& d) {
    return d.below(5) == 0 ? 0 : d.over_decades(1e-6, 5);
}

gaussian_rates draw_model(draws& d, int factors) {
    gaussian_rates drawn = hull_white(draw_reversion(d), draw_volatility(d));
    if (factors == 1) return drawn;
    drawn.factors[1] = {draw_reversion(d), draw_volatility(d)};
    drawn.correlation =
        std::array{0.999, -0.999, d.between(-1, 1), d.between(-1, 1)}[std::size_t(d.below(4))];
    return drawn;
}

swap_terms draw_swap(draws& d, double expiry) {
    swap_terms drawn;
    drawn.start = expiry + (d.below(2) == 0 ? 0 : d.between(0, 1));
    const int payments = 1 + d.below(12);
    const double step = d.over_decades(0.25, 2);
    for (int i = 1; i <= payments; ++i) {
        drawn.payments.push_back(drawn.start + step * i);
        drawn.accruals.push_back(step * d.between(0.9, 1.1));
    }
    return drawn;
}

std::string say(const gaussian_rates& m) {
    std::string said = fmt::format("correlation {}", m.correlation);
    for (const factor& f : m.factors) {
        said += fmt::format("; reversion {}, volatility", f.mean_reversion);
        for (std::size_t i = 0; i < f.volatility.values.size(); ++i) {
            said += i < f.volatility.years.size()
                        ? fmt::format(" {} to {}", f.volatility.values[i], f.volatility.years[i])
                        : fmt::format(" {}", f.volatility.values[i]);
        }
    }
    return said;
}

TEST(rates_closed_forms, meet_every_published_price) {
    std::map<std::string, int> met;
    int noticed = 0, all = 0;
    const json read = json::parse(
        std::ifstream(std::filesystem::path(TILEWALK_SOURCE_DIR) / "tests/data/reference/rates.json"));
    for (const json& c : read.at("cases")) {
        const json &m = c.at("model"), &p = c.at("product");
        const std::string type = p.at("type");
        if (m.at("type") != "hull_white" || type == "bermudan_swaption") continue;
        by_term volatility = by_term::flat(0);
        if (m.at("volatility").is_object()) {
            volatility = {m.at("volatility").at("times"), m.at("volatility").at("values")};
        } else {
            volatility = by_term::flat(m.at("volatility"));
        }
        const double notional = p.value("notional", 1.0);
        const auto priced = [&](double reversion) {
            const gaussian_rates model = hull_white(reversion, volatility);
            if (type == "futures_convexity") {
                const double start = p.at("expiry"), end = p.at("end"), years = end - start,
                             rate = p.at("futures_rate"), excess = futures_convexity(model, start, end);
                return years > 0 ? ((1 + rate * years) * std::exp(-excess * years) - 1) / years
                                 : rate - excess;
            }
            const curve today = curve::flat(m.at("curve").at("rate"));
            if (type == "bond_option") {
                return bond_option(p.at("option") == "call" ? right::call : right::put, model, today,
                                   p.at("expiry"), p.at("bond_maturity"), p.at("strike"));
            }
            if (type == "cap") {
                std::vector<period> periods;
                for (std::size_t i = 0; i < p.at("periods").size(); ++i) {
                    const json& ends = p.at("periods").at(i);
                    periods.push_back({ends.at(0), ends.at(1), p.at("accruals").at(i)});
                }
                return notional * cap(right::call, model, today, periods, p.at("strike"));
            }
            EXPECT_EQ(type, "swaption");
            return notional * swaption(p.at("kind") == "payer" ? right::call : right::put, model, today,
                                       p.at("expiry"),
                                       {p.at("swap_start"), p.at("fixed_payments"), p.at("fixed_accruals")},
                                       p.at("strike"));
        };
        const double value = c.at("value"), reversion = m.at("mean_reversion"),
                     bound = c.at("error").get<double>() + 1e-11 * value;  // printed with 12 digits
        EXPECT_LE(std::abs(priced(reversion) - value), bound)
            << c.dump() << fmt::format("{:.15g}", priced(reversion));
        noticed += std::abs(priced(1.01 * reversion) - value) > bound;
        ++all;
        ++met[type];
    }
    EXPECT_EQ(noticed, all);
    EXPECT_EQ(met, (std::map<std::string, int>{
                       {"bond_option", 1}, {"cap", 3}, {"swaption", 2}, {"futures_convexity", 2}}));
}

// Second moments of the factors (x) and of their integrals (i) solve linear differential equations. The
// fourth-order Runge-Kutta method with short steps shares nothing with the closed forms. A bond's price
// follows from its definition as the mean of exp(-the integral of the rate).
struct moments {
    std::array<std::array<double, 2>, 2> xx{}, xi{}, ii{};
};

moments slope(const gaussian_rates& m, const std::array<double, 2>& volatility, const moments& at) {
    moments out;
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            const double a = m.factors[i].mean_reversion, b = m.factors[j].mean_reversion;
            out.xx[i][j] =
                volatility[i] * volatility[j] * (i == j ? 1 : m.correlation) - (a + b) * at.xx[i][j];
            out.xi[i][j] = at.xx[i][j] - a * at.xi[i][j];
            out.ii[i][j] = at.xi[i][j] + at.xi[j][i];
        }
    }
    return out;
}

moments along(const moments& from, double h, const moments& slope) {
    moments out = from;
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            out.xx[i][j] += h * slope.xx[i][j];
            out.xi[i][j] += h * slope.xi[i][j];
            out.ii[i][j] += h * slope.ii[i][j];
        }
    }
    return out;
}

moments solved(const gaussian_rates& m, double from, double to) {
    std::vector<double> edges{from, to};
    for (const factor& f : m.factors) {
        for (const double t : f.volatility.years) {
            if (t > from && t < to) edges.push_back(t);
        }
    }
    std::ranges::sort(edges);
    moments now;
    for (std::size_t piece = 0; piece + 1 < edges.size(); ++piece) {
        const double length = edges[piece + 1] - edges[piece], middle = edges[piece] + 0.5 * length;
        const std::array volatility{m.factors[0].volatility.from(middle),
                                    m.factors[1].volatility.from(middle)};
        const double fastest = 2 * std::max(m.factors[0].mean_reversion, m.factors[1].mean_reversion);
        const int steps = 64 + int(length * fastest * 100);
        const double h = length / steps;
        for (int i = 0; i < steps; ++i) {
            const moments k1 = slope(m, volatility, now), k2 = slope(m, volatility, along(now, 0.5 * h, k1)),
                          k3 = slope(m, volatility, along(now, 0.5 * h, k2)),
                          k4 = slope(m, volatility, along(now, h, k3));
            now = along(along(along(along(now, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
        }
    }
    return now;
}

double sum(const std::array<std::array<double, 2>, 2>& m) {
    return m[0][0] + m[0][1] + m[1][0] + m[1][1];
}

TEST(rates_closed_forms, bonds_and_laws_are_those_of_the_differential_equations) {
    draws d(3);
    for (int i = 0; i < 60; ++i) {
        const gaussian_rates model = draw_model(d, 1 + i % 2);
        const double years = d.over_decades(1 / 365.0, 20), maturity = years + d.over_decades(1 / 365.0, 20);
        const moments to_years = solved(model, 0, years), to_maturity = solved(model, 0, maturity),
                      rest = solved(model, years, maturity);
        const factor_law law = law_at(model, years);
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_NEAR(law.deviation[k], std::sqrt(to_years.xx[k][k]), 1e-9 * law.deviation[k])
                << say(model);
            const double mean = -(to_years.xi[k][0] + to_years.xi[k][1]);
            EXPECT_NEAR(law.mean[k], mean, 1e-9 * (std::abs(to_years.xi[k][0]) + std::abs(to_years.xi[k][1])))
                << say(model);
        }
        EXPECT_NEAR(law.correlation * law.deviation[0] * law.deviation[1], to_years.xx[0][1],
                    1e-9 * law.deviation[0] * law.deviation[1])
            << say(model);

        // To fit the curve, half of the variance of the rate's integral is added to the integral's drift.
        const curve today = draw_curve(d);
        const std::array<double, 2> x{law.deviation[0] * d.between(-3, 3),
                                      law.deviation[1] * d.between(-3, 3)};
        double exponent = std::log(today.discount(maturity) / today.discount(years)) +
                          0.5 * (sum(rest.ii) - sum(to_maturity.ii) + sum(to_years.ii));
        for (std::size_t k = 0; k < 2; ++k) {
            exponent -= x[k] * analytics::gauss_kronrod(
                                   [&](double t) { return std::exp(-model.factors[k].mean_reversion * t); },
                                   0, maturity - years)
                                   .value;
        }
        EXPECT_NEAR(std::log(bond(model, today, years, maturity, x)), exponent,
                    1e-9 * (1 + sum(to_maturity.ii)))
            << say(model) << fmt::format("; {} to {}", years, maturity);
    }
}

// The value of a payment of max(paid, 0) at `years`, by Gauss-Legendre on panels between changes of sign of
// `paid` in the second normal variable, or in the first if it is the only one.
template <class F>
double claim(const gaussian_rates& m, const curve& today, double years, const F& paid) {
    const factor_law law = law_at(m, years);
    const double left = std::sqrt(1 - law.correlation * law.correlation);
    const auto mean_along = [](const auto& f, int panels) {
        std::vector<double> zeros;
        for (double low = -9; low < 9; low += 0.75) {
            double from = low, to = low + 0.75;
            const bool positive = f(to) > 0;
            if ((f(from) > 0) == positive) continue;
            for (int i = 0; i < 50; ++i) {
                const double middle = 0.5 * (from + to);
                ((f(middle) > 0) == positive ? to : from) = middle;
            }
            zeros.push_back(from);
        }
        return truth::normal_mean([&](double z) { return std::max(f(z), 0.0); }, zeros, panels, 9);
    };
    const auto at = [&](double z0, double z1) {
        return paid(std::array{law.mean[0] + law.deviation[0] * z0,
                               law.mean[1] + law.deviation[1] * (law.correlation * z0 + left * z1)});
    };
    if (!(law.deviation[1] > 0)) {
        return today.discount(years) * mean_along([&](double z) { return at(z, 0); }, 24);
    }
    double mean = 0;
    for (double low = -9; low < 9; low += 0.75) {
        long evaluations = 1000;
        mean +=
            analytics::integrate(
                [&](double z0) {
                    return truth::normal_density(z0) * mean_along([&](double z1) { return at(z0, z1); }, 2);
                },
                low, low + 0.75, 1e-10, evaluations)
                .value;
    }
    return today.discount(years) * mean;
}

double bound_of(int factors) {
    return factors == 1 ? 1e-11 : 1e-8;
}

TEST(rates_closed_forms, are_means_of_what_is_paid) {
    draws d(5);
    int noticed = 0, all = 0;
    for (int i = 0; i < 108; ++i) {
        const int factors = i < 100 ? 1 : 2;
        const gaussian_rates model = draw_model(d, factors);
        const curve today = draw_curve(d);
        const double expiry = d.over_decades(1 / 365.0, 15), bound = bound_of(factors);
        const right option = d.below(2) == 0 ? right::call : right::put;
        const double sign = option == right::call ? 1 : -1;
        std::map<double, std::array<double, 3>> lognormal;  // log of `bond`, linear in x, by maturity
        const auto bonds = [&](double maturity, const std::array<double, 2>& x) {
            const auto [at, is_new] = lognormal.try_emplace(maturity);
            if (is_new) {
                const auto log = [&](double x0, double x1) {
                    return std::log(bond(model, today, expiry, maturity, {x0, x1}));
                };
                at->second = {log(0, 0), log(1, 0) - log(0, 0), log(0, 1) - log(0, 0)};
            }
            const auto& [level, first, second] = at->second;
            return std::exp(level + first * x[0] + second * x[1]);
        };
        const std::string said = fmt::format("{}, expiry {}", say(model), expiry);

        const double maturity = expiry + d.over_decades(0.01, 20),
                     strike = today.discount(maturity) / today.discount(expiry) * d.between(0.9, 1.1);
        const double option_price = bond_option(option, model, today, expiry, maturity, strike);
        EXPECT_NEAR(
            claim(model, today, expiry, [&](const auto& x) { return sign * (bonds(maturity, x) - strike); }),
            option_price, bound)
            << said;

        const period fixed{expiry, maturity, (maturity - expiry) * d.between(0.9, 1.1)};
        const double level = d.between(-0.02, 0.08);
        EXPECT_NEAR(claim(model, today, expiry,
                          [&](const auto& x) {
                              const double p = bonds(maturity, x), rate = (1 / p - 1) / fixed.accrual;
                              return p * fixed.accrual * sign * (rate - level);
                          }),
                    caplet(option, model, today, fixed, level), bound * (1 + fixed.accrual))
            << said;

        const swap_terms swap = draw_swap(d, expiry);
        const double coupon =
            d.below(3) == 0 ? d.between(-0.02, 0.1) : swap_rate(today, swap) + d.between(-0.01, 0.01);
        const auto paid = [&](const auto& x) {
            double value = bonds(swap.start, x) - bonds(swap.payments.back(), x);
            for (std::size_t k = 0; k < swap.payments.size(); ++k) {
                value -= coupon * swap.accruals[k] * bonds(swap.payments[k], x);
            }
            return sign * value;
        };
        const double by_quadrature = claim(model, today, expiry, paid);
        EXPECT_NEAR(by_quadrature, swaption(option, model, today, expiry, swap, coupon), 4 * bound)
            << said
            << fmt::format(", swap from {} to {}, strike {}", swap.start, swap.payments.back(), coupon);
        noticed +=
            std::abs(by_quadrature - swaption(option, model, today, expiry, swap, coupon + 2e-5)) > 4 * bound;
        ++all;

        // A futures rate comes from the mean of 1 / bond under the risk-neutral measure, where x has mean 0.
        if (factors == 1) {
            const factor_law law = law_at(model, expiry);
            const double mean = truth::normal_mean([&](double z) {
                return 1 / bonds(maturity, {law.deviation[0] * z, 0});
            });
            EXPECT_NEAR(
                std::log(mean * today.discount(maturity) / today.discount(expiry)) / (maturity - expiry),
                futures_convexity(model, expiry, maturity), 1e-11 / (maturity - expiry))
                << said;
        }
    }
    EXPECT_GE(noticed, 0.7 * all);
}

TEST(rates_closed_forms, calls_less_puts_are_the_underlying) {
    draws d(7);
    for (int i = 0; i < 400; ++i) {
        const gaussian_rates model = draw_model(d, 1 + i % 2);
        const curve today = draw_curve(d);
        const double expiry = d.below(10) == 0 ? 0 : d.over_decades(1 / 365.0, 20),
                     strike = d.between(-0.05, 0.2);
        const swap_terms swap = draw_swap(d, expiry);
        EXPECT_NEAR(swaption(right::call, model, today, expiry, swap, strike) -
                        swaption(right::put, model, today, expiry, swap, strike),
                    annuity(today, swap) * (swap_rate(today, swap) - strike), 1e-12)
            << say(model);
        std::vector<period> periods;
        double before = swap.start, floating = 0;
        for (std::size_t k = 0; k < swap.payments.size(); ++k) {
            periods.push_back({before, swap.payments[k], swap.accruals[k]});
            floating += today.discount(before) - today.discount(swap.payments[k]);
            before = swap.payments[k];
        }
        EXPECT_NEAR(
            cap(right::call, model, today, periods, strike) - cap(right::put, model, today, periods, strike),
            floating - strike * annuity(today, swap), 1e-12)
            << say(model);
        swap_terms one = swap;
        one.start = expiry;
        one.payments = {swap.payments.front()};
        one.accruals = {swap.accruals.front()};
        EXPECT_NEAR(swaption(right::call, model, today, expiry, one, strike),
                    caplet(right::call, model, today, {expiry, one.payments[0], one.accruals[0]}, strike),
                    1e-13)
            << say(model);
    }
}

TEST(rates_closed_forms, two_factors_that_are_one_are_hull_white) {
    draws d(9);
    for (int i = 0; i < 300; ++i) {
        const gaussian_rates single = draw_model(d, 1);
        const curve today = draw_curve(d);
        const double expiry = d.over_decades(1 / 365.0, 20), strike = d.between(-0.02, 0.1);
        const swap_terms swap = draw_swap(d, expiry);
        const double truth = swaption(right::call, single, today, expiry, swap, strike);

        gaussian_rates without = single;  // one of two factors has no volatility
        without.factors[1].mean_reversion = draw_reversion(d);
        without.correlation = d.between(-1, 1);
        EXPECT_NEAR(swaption(right::call, without, today, expiry, swap, strike), truth, 1e-14)
            << say(without);
        std::swap(without.factors[0], without.factors[1]);
        EXPECT_NEAR(swaption(right::call, without, today, expiry, swap, strike), truth, 1e-14)
            << say(without);

        // One factor split into two equal ones of any correlation: volatilities over sqrt(2 + 2 correlation).
        for (const double correlation : {1.0, 0.999999, 0.0, -0.5}) {
            gaussian_rates halves = single;
            for (double& v : halves.factors[0].volatility.values) v /= std::sqrt(2 + 2 * correlation);
            halves.factors[1] = halves.factors[0];
            halves.correlation = correlation;
            EXPECT_NEAR(swaption(right::call, halves, today, expiry, swap, strike), truth, 2e-12)
                << say(halves);
            EXPECT_NEAR(futures_convexity(halves, expiry, expiry + 1),
                        futures_convexity(single, expiry, expiry + 1),
                        1e-12 * futures_convexity(single, expiry, expiry + 1))
                << say(halves);
        }
        gaussian_rates nothing = single;
        nothing.factors[1] = nothing.factors[0];
        nothing.correlation = -1;
        EXPECT_NEAR(swaption(right::call, nothing, today, expiry, swap, strike),
                    std::max(annuity(today, swap) * (swap_rate(today, swap) - strike), 0.0), 1e-12)
            << say(nothing);
    }
}

TEST(rates_closed_forms, extremes_are_finite) {
    draws d(13);
    for (int i = 0; i < 2000; ++i) {
        gaussian_rates model = draw_model(d, 1 + i % 2);
        for (factor& f : model.factors) {
            f.mean_reversion = std::array{0.0, 1e-300, 1e-9, 1.0, 100.0, 1e6}[std::size_t(d.below(6))];
            for (double& v : f.volatility.values)
                v *= std::array{0.0, 1e-9, 1.0, 20.0}[std::size_t(d.below(4))];
        }
        const curve today = curve::flat(std::array{-0.05, 0.0, 0.03, 1.0}[std::size_t(d.below(4))]);
        const double expiry = std::array{0.0, 1 / 365.0, 1.0, 50.0}[std::size_t(d.below(4))];
        const swap_terms swap = draw_swap(d, expiry);
        const double strike = std::array{-3.0, -0.05, 0.0, 0.03, 5.0}[std::size_t(d.below(5))];
        // A payer swaption is worth at least 0 and its intrinsic value, and at most the bond to the swap's
        // start plus, for a negative strike, the fixed payments received.
        const double payer = swaption(right::call, model, today, expiry, swap, strike),
                     fixed = annuity(today, swap), intrinsic = fixed * (swap_rate(today, swap) - strike);
        const double size =
            today.discount(swap.start) + fixed * std::abs(strike) + today.discount(swap.payments.back());
        EXPECT_GE(payer, std::max(intrinsic, 0.0) - 1e-9 * size) << say(model);
        EXPECT_LE(payer, today.discount(swap.start) + fixed * std::max(-strike, 0.0) + 1e-9 * size)
            << say(model);
        EXPECT_TRUE(std::isfinite(
            caplet(right::call, model, today, {expiry, swap.payments[0], swap.accruals[0]}, strike)));
    }
}

TEST(rates_closed_forms, what_makes_no_sense_is_refused) {
    const curve today = curve::flat(0.02);
    const auto refused = [&](const auto& f) { EXPECT_THROW(f(), error); };
    refused([&] { law_at(hull_white(-0.1, by_term::flat(0.01)), 1); });
    refused([&] { law_at(hull_white(0.1, by_term::flat(-0.01)), 1); });
    refused([&] { law_at(g2(0.1, 0.01, 0.2, 0.01, 1.5), 1); });
    refused([&] { law_at(hull_white(0.1, by_term::flat(0.01)), -1); });
    const gaussian_rates model = hull_white(0.1, by_term::flat(0.01));
    refused([&] { bond(hull_white(-0.1, by_term::flat(0.01)), today, 1, 2, {}); });
    refused([&] { bond(g2(0.1, 0.01, 0.2, 0.01, 1.5), today, 1, 2, {}); });
    refused([&] { bond_option(right::call, model, today, 2, 1, 0.9); });
    refused([&] { bond_option(right::call, model, today, 1, 2, -0.9); });
    refused([&] { swaption(right::call, model, today, 1, {0.5, {2}, {1}}, 0.02); });
    refused([&] { swaption(right::call, model, today, 1, {1, {}, {}}, 0.02); });
    refused([&] { swaption(right::call, model, today, 1, {1, {3, 2}, {1, 1}}, 0.02); });
    refused([&] { swaption(right::call, model, today, 1, {1, {2, 3}, {1}}, 0.02); });
    refused([&] { swaption(right::call, model, today, 1, {1, {2, 3}, {1, -1}}, 0.02); });
    refused([&] { futures_convexity(model, 2, 1); });
}

}  // namespace
}  // namespace tilewalk::rates::rates_closed_forms_test
