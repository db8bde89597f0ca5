// SPDX-License-Identifier: Apache-2.0
// label: sampled (truths)
// label: no_sanitizer (arithmetic over millions of points)
// European prices from transforms: against published prices, on two contours against each other, against
// mixtures of Black's formula and independent differential equations, and at the edges of every parameter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/numerics/black.h"
#include "engine/numerics/characteristic.h"
#include "engine/numerics/gauss_kronrod.h"
#include "engine/numerics/price.h"
#include "engine/verify/closed_forms.h"
#include "tests/draws.h"
#include "tilewalk/error.h"

namespace tilewalk::fourier::fourier_test {
namespace {

using nlohmann::json;

class draws : public random_parameters {
  public:
    using random_parameters::random_parameters;
    double correlation() {
        return std::array{0.999, -0.999, between(-1, 1), between(-1, 1)}[std::size_t(below(4))];
    }
    double sometimes_zero(double x) { return below(5) == 0 ? 0 : x; }
};

struct drawn_law {
    std::string said;
    double years = 0;
    std::function<characteristic(double years)> at;
};

template <class model>
drawn_law made(const std::string& said, double years, const model& m) {
    return {fmt::format("{}, {} years", said, years), years,
            [m](double t) { return characteristic_of(m, t); }};
}

heston draw_heston(draws& d) {
    const double sigma = d.below(5) == 0 ? (d.below(2) == 0 ? 0 : 3) : d.over_decades(1e-3, 3);
    return {d.sometimes_zero(d.over_decades(1e-4, 4)), d.sometimes_zero(d.over_decades(1e-3, 20)),
            d.sometimes_zero(d.over_decades(1e-4, 4)), sigma, d.correlation()};
}

std::string say(const heston& h) {
    return fmt::format("v0 {}, kappa {}, theta {}, sigma {}, rho {}", h.v0, h.kappa, h.theta, h.sigma, h.rho);
}

lognormal_jumps draw_jumps(draws& d) {
    return {d.over_decades(0.01, 50), d.between(-1, 1), d.between(0, 1)};
}

std::string say(const lognormal_jumps& j) {
    return fmt::format("jumps {}, mean {}, sd {}", j.jump_intensity, j.jump_mean, j.jump_sd);
}

using draw_law = drawn_law (*)(draws&, double years);
const std::map<std::string, draw_law>& models() {
    static const std::map<std::string, draw_law> all{
        {"black_scholes",
         [](draws& d, double t) {
             const black_scholes m{d.over_decades(1e-3, 3)};
             return made(fmt::format("volatility {}", m.volatility), t, m);
         }},
        {"heston",
         [](draws& d, double t) {
             const heston m = draw_heston(d);
             return made(say(m), t, m);
         }},
        {"heston_by_term",
         [](draws& d, double t) {
             heston_by_term m{d.over_decades(1e-4, 4), {}};
             std::string said = fmt::format("v0 {}", m.v0);
             for (int i = 1; i <= 3; ++i) {
                 const heston h = draw_heston(d);
                 m.pieces.push_back({t * i / 3, h.kappa, h.theta, h.sigma, h.rho});
                 said += "; " + say(h);
             }
             return made(said, t, m);
         }},
        {"bates",
         [](draws& d, double t) {
             const bates m{draw_heston(d), draw_jumps(d)};
             return made(say(m.variance) + ", " + say(m.jumps), t, m);
         }},
        {"merton",
         [](draws& d, double t) {
             const merton m{d.over_decades(0.01, 2), draw_jumps(d)};
             return made(fmt::format("volatility {}, {}", m.volatility, say(m.jumps)), t, m);
         }},
        {"kou",
         [](draws& d, double t) {
             const kou m{d.over_decades(0.01, 2), d.over_decades(0.01, 50), d.between(0, 1),
                         d.over_decades(1.1, 100), d.over_decades(0.2, 100)};
             return made(fmt::format("volatility {}, intensity {}, p_up {}, eta_up {}, eta_down {}",
                                     m.volatility, m.jump_intensity, m.p_up, m.eta_up, m.eta_down),
                         t, m);
         }},
        {"variance_gamma",
         [](draws& d, double t) {
             const variance_gamma m{d.over_decades(0.01, 1), d.over_decades(1e-3, 1), d.between(-0.5, 0.3)};
             return made(fmt::format("sigma {}, nu {}, theta {}", m.sigma, m.nu, m.theta), t, m);
         }},
        {"nig",
         [](draws& d, double t) {
             nig m{d.over_decades(1, 100), 0, d.over_decades(0.01, 5)};
             m.beta = d.between(-m.alpha, m.alpha - 1);
             return made(fmt::format("alpha {}, beta {}, delta {}", m.alpha, m.beta, m.delta), t, m);
         }},
        {"cgmy",
         [](draws& d, double t) {
             const double volatility = d.over_decades(0.05, 1),
                          y = std::array{0.0, 1.0, d.between(-1, 1.95),
                                         d.between(-1, 1.95)}[std::size_t(d.below(4))];
             cgmy m{1, d.over_decades(1, 100), d.over_decades(1.5, 100), y};
             m.c = volatility * volatility /
                   (std::tgamma(2 - y) * (std::pow(m.g, y - 2) + std::pow(m.m, y - 2)));
             return made(fmt::format("C {}, G {}, M {}, Y {}", m.c, m.g, m.m, m.y), t, m);
         }},
        {"schobel_zhu",
         [](draws& d, double t) {
             const heston h = draw_heston(d);
             const schobel_zhu m{d.between(-1, 1), h.kappa, d.between(-1, 1), h.sigma, h.rho};
             return made(fmt::format("vol0 {}, kappa {}, theta {}, sigma {}, rho {}", m.vol0, m.kappa,
                                     m.theta, m.sigma, m.rho),
                         t, m);
         }},
    };
    return all;
}

// Maturities from a day to fifty years; strikes from 2e-5 to 2e4 forwards.
double draw_years(draws& d) {
    return d.over_decades(1 / 365.0, 50);
}
double draw_strike(draws& d) {
    return d.below(10) == 0 ? 1 : std::exp(d.between(-1, 1) * d.over_decades(0.001, 10));
}

characteristic law_of(const json& m, double years) {
    const std::string type = m.at("type");
    const auto at = [&m](const char* name) { return m.at(name).get<double>(); };
    if (type == "heston") {
        return characteristic_of(heston{at("v0"), at("kappa"), at("theta"), at("sigma"), at("rho")}, years);
    }
    if (type == "schobel_zhu") {
        return characteristic_of(schobel_zhu{at("vol0"), at("kappa"), at("theta"), at("sigma"), at("rho")},
                                 years);
    }
    if (type == "merton") {
        return characteristic_of(
            merton{at("volatility"), {at("jump_intensity"), at("jump_mean"), at("jump_sd")}}, years);
    }
    if (type == "kou") {
        return characteristic_of(
            kou{at("volatility"), at("jump_intensity"), at("p_up"), at("eta_up"), at("eta_down")}, years);
    }
    if (type == "variance_gamma") {
        return characteristic_of(variance_gamma{at("sigma"), at("nu"), at("theta")}, years);
    }
    if (type == "nig") return characteristic_of(nig{at("alpha"), at("beta"), at("delta")}, years);
    if (type == "cgmy") return characteristic_of(cgmy{at("C"), at("G"), at("M"), at("Y")}, years);
    throw std::invalid_argument("no transform of " + type);
}

TEST(fourier, meets_every_published_european_price) {
    struct met {
        int cases = 0, noticed = 0;
        double worst = -1;
        std::string id;
    };
    std::map<std::string, met> all;
    for (const char* file : {"heston.json", "jump_levy.json"}) {
        const json read = json::parse(
            std::ifstream(std::filesystem::path(TILEWALK_SOURCE_DIR) / "tests/data/reference" / file));
        for (const json& c : read.at("cases")) {
            const json &m = c.at("model"), &p = c.at("product");
            // Skips dividends, and published sensitivities, which stand in the same files as prices.
            if (p.at("type") != "european" || p.contains("dividends") ||
                c.value("quantity", "price") != "price")
                continue;
            const double years = p.at("maturity"), rate = m.at("rate"), yield = m.at("dividend_yield"),
                         forward = m.at("spot").get<double>() * std::exp((rate - yield) * years),
                         strike = p.at("strike").get<double>() / forward,
                         unit = forward * std::exp(-rate * years), value = c.at("value");
            const bool call = p.at("option") == "call";
            const option_prices made = vanilla(law_of(m, years), strike);
            const double bound = c.at("error").get<double>() + 1e-12 * value + unit * made.error;
            const double miss = unit * (call ? made.call : made.put) - value;
            EXPECT_LE(std::abs(miss), bound) << c.dump() << "\nmade " << fmt::format("{:.15g}", value + miss);
            EXPECT_LE(made.error, 1e-12) << c.dump();
            met& family = all[m.at("type")];
            ++family.cases;
            if (std::abs(miss) > family.worst) family.worst = std::abs(miss), family.id = c.at("id");
            // Shows that the test can fail: a maturity longer by a hundredth has another price.
            const option_prices other = vanilla(law_of(m, 1.01 * years), strike);
            family.noticed += std::abs(unit * (call ? other.call : other.put) - value) > bound;
        }
    }
    for (const auto& [name, family] : all) {
        fmt::print("{:15}{:4} cases, off by {:.1e} at most ({})\n", name, family.cases, family.worst,
                   family.id);
        EXPECT_GE(family.noticed, 0.9 * family.cases) << name;
    }
    std::map<std::string, int> counts;
    for (const auto& [name, family] : all) counts[name] = family.cases;
    EXPECT_EQ(counts, (std::map<std::string, int>{{"heston", 57},
                                                  {"schobel_zhu", 135},
                                                  {"merton", 86},
                                                  {"kou", 1},
                                                  {"variance_gamma", 27},
                                                  {"nig", 1},
                                                  {"cgmy", 4}}));
}

TEST(fourier, every_law_has_mass_and_mean_one) {
    draws d(11);
    for (const auto& [name, draw] : models()) {
        for (int i = 0; i < 300; ++i) {
            const drawn_law drawn = draw(d, draw_years(d));
            const characteristic law = drawn.at(drawn.years);
            EXPECT_LE(std::abs(law.log_moment(0)), 1e-13) << name << ": " << drawn.said;
            EXPECT_LE(std::abs(law.log_moment(1)), 1e-13) << name << ": " << drawn.said;
            // Between 0 and 1 the log moment is below zero (by convexity), off the axis no larger than on it.
            const double inside = d.between(0.05, 0.95), level = law.log_moment(inside).real();
            EXPECT_LE(level, 1e-13) << name << ": " << drawn.said;
            EXPECT_LE(law.log_moment({inside, d.over_decades(1e-3, 1e6)}).real(), level + 1e-12)
                << name << ": " << drawn.said;
        }
    }
}

// A complex logarithm that changes its branch moves the log moment by 2 pi times the logarithm's factor: 4 pi
// kappa theta / sigma^2 for Heston, pi for Schobel-Zhu. Slopes along a line predict the next value.
TEST(fourier, no_logarithm_leaves_its_branch) {
    draws d(22);
    int could_be_seen = 0;
    for (int i = 0; i < 60; ++i) {
        const double years = d.over_decades(0.02, 20);
        const bool volatility_reverts = i % 3 == 0;
        double step = std::numbers::pi;
        characteristic law;
        if (volatility_reverts) {
            law = characteristic_of(schobel_zhu{d.between(-1, 1), d.between(0, 4), d.between(-1, 1),
                                                d.over_decades(0.05, 3), d.correlation()},
                                    years);
        } else {
            heston_by_term m{d.over_decades(1e-3, 1), {}};
            for (int j = 1; j <= 3; ++j) {
                const heston_piece p{years * j / 3, d.over_decades(0.01, 8), d.over_decades(0.01, 1),
                                     d.over_decades(0.05, 3), d.correlation()};
                step = std::min(step, 4 * std::numbers::pi * p.kappa * p.theta / (p.sigma * p.sigma));
                m.pieces.push_back(p);
            }
            law = characteristic_of(m, years);
        }
        const double real_part = d.between(0.05, 0.95);
        const auto at = [&](double v) { return law.log_moment({real_part, v}); };
        const auto slope = [&](double v) { return (at(v * (1 + 1e-5)) - at(v * (1 - 1e-5))) / (2e-5 * v); };
        double v = 1e-2;
        complex value = at(v), rise = slope(v);
        while (v < 1e4 && value.real() > -700) {
            const double next = v * 1.004;
            const complex next_value = at(next), next_rise = slope(next);
            const double bound = 1e-6 * (1 + std::abs(value));
            ASSERT_LE(std::abs(next_value - value - 0.5 * (next - v) * (rise + next_rise)), bound)
                << "law " << i << ", at " << v;
            could_be_seen += bound < step;
            v = next, value = next_value, rise = next_rise;
        }
    }
    EXPECT_GT(could_be_seen, 50000);
}

// Integrals on a contour that turns off into a horizontal line, against the contour that goes straight on.
TEST(fourier, a_line_that_is_left_meets_the_one_that_goes_on) {
    draws d(23);
    double worst = 0;
    for (int i = 0; i < 30; ++i) {
        const double years = d.over_decades(0.02, 1), rho = i % 2 == 0 ? 0.995 : -0.995,
                     v = d.over_decades(1e-3, 0.02), kappa = d.between(0.1, 3),
                     k = std::exp(d.between(-0.5, 0.5));
        const heston h{v, kappa, v, d.between(1, 3), rho};
        const std::array laws{
            characteristic_of(h, years),
            characteristic_of(heston_by_term{v, {{years / 3, kappa, v, 1, -rho}, {1, 1, v, 2, rho}}}, years),
            characteristic_of(bates{h, {0.5, -0.2, 0.3}}, years),
            characteristic_of(schobel_zhu{std::sqrt(v), kappa, 0.1, 1, rho}, years),
            characteristic_of(variance_gamma{0.3, years / 1.5, -0.1}, years),
            characteristic_of(nig{d.between(2, 30), -0.7, 0.02 / years}, years),
            characteristic_of(cgmy{0.75 / years, 5, d.between(2, 30), d.between(0, 0.5)}, years)};
        for (std::size_t j = 0; j < laws.size(); ++j) {
            characteristic straight = laws[j];
            straight.far.reset();
            const option_prices a = vanilla(laws[j], k), b = vanilla(straight, k);
            EXPECT_TRUE(laws[j].far) << j;
            EXPECT_LE(std::abs(a.call - b.call), a.error + b.error) << j << ": " << say(h) << ", " << years;
            EXPECT_LE(b.error, 1e-9) << j << ": " << say(h) << ", " << years;
            const digital_prices c = digital(laws[j], k), e = digital(straight, k);
            EXPECT_LE(std::abs(c.above - e.above), c.error + e.error) << j << ": " << say(h) << ", " << years;
            worst = std::max(worst, std::abs(a.call - b.call));
        }
    }
    fmt::print("a line that is left: off by {:.1e} at most\n", worst);
}

// With so small a variance, the part subtracted before integration equals the law's transform to fourteen
// digits at small arguments.
TEST(fourier, what_is_alike_low_on_the_line_is_followed_up) {
    const characteristic law =
        characteristic_of(heston{0, 0.0219808, 0.00051811, 0.600677, -0.999}, 0.00363668);
    const option_prices a = vanilla(law, 1), b = vanilla(law, 1, {0.4, false});
    EXPECT_NEAR(a.call, 7.32052e-8, 1e-12);
    EXPECT_LE(std::abs(a.call - b.call), a.error + b.error);
    EXPECT_LE(a.error, 1e-12);
}

// Integrals on two contours agree, which share no point and subtract different parts.
TEST(fourier, two_contours_agree_within_their_errors) {
    draws d(12);
    for (const auto& [name, draw] : models()) {
        double worst = 0, worst_error = 0;
        int coarse = 0;
        constexpr int cases = 80;
        for (int i = 0; i < cases; ++i) {
            const drawn_law drawn = draw(d, draw_years(d));
            const characteristic law = drawn.at(drawn.years);
            const double k = draw_strike(d);
            const contour other{d.between(0.25, 0.75), false, 200000};
            characteristic straight = law;
            straight.far.reset();
            const option_prices a = vanilla(law, k), b = vanilla(straight, k, other);
            const std::string said = fmt::format("{}: {}, strike {}", name, drawn.said, k);
            EXPECT_LE(std::abs(a.call - b.call), a.error + b.error + 3e-16)
                << said;  // calls are rounded relative to 1
            worst = std::max(worst, std::abs(a.call - b.call));
            worst_error = std::max(worst_error, a.error);
            coarse += a.error > 1e-10;
            EXPECT_GE(a.call, std::max(0.0, 1 - k)) << said;
            EXPECT_LE(a.call, 1) << said;
            EXPECT_GE(a.put, std::max(0.0, k - 1)) << said;
            EXPECT_LE(a.put, k * (1 + 1e-15)) << said;
            EXPECT_NEAR(a.call - a.put, 1 - k, 4e-16 * std::max(1.0, k)) << said;
            const digital_prices c = digital(law, k), e = digital(straight, k, other);
            // A law with an atom at the strike has no single digital price there.
            if (k != 1) {
                EXPECT_LE(std::abs(c.above - e.above), c.error + e.error) << said;
            }
            EXPECT_GE(c.above, 0) << said;
            EXPECT_LE(c.above, 1) << said;
            EXPECT_EQ(c.below, 1 - c.above) << said;
            // P(S > k) k <= E min(S, k) = 1 - call.
            EXPECT_LE(c.above * k, 1 - a.call + a.error + c.error * k + 1e-15) << said;
        }
        fmt::print(
            "{:15} contours differ by {:.1e} at most; largest error {:.1e}, above 1e-10 {} of {} times\n",
            name, worst, worst_error, coarse, cases);
        EXPECT_LE(coarse, cases / 50) << name;
    }
}

TEST(fourier, a_digital_is_the_slope_of_the_call) {
    draws d(13);
    for (const auto& [name, draw] : models()) {
        for (int i = 0; i < 40; ++i) {
            const drawn_law drawn = draw(d, d.over_decades(0.5, 20));
            const characteristic law = drawn.at(drawn.years);
            // A six-point difference quotient. As the law may be narrow, half the step is tried as well.
            const double k = std::exp(d.between(-0.3, 0.3));
            const auto slope = [&](double h) {
                const auto call = [&](double n) { return vanilla(law, k * (1 + n * h)).call; };
                return (45 * (call(-1) - call(1)) - 9 * (call(-2) - call(2)) + (call(-3) - call(3))) /
                       (60 * h * k);
            };
            const double coarse = slope(2e-3), fine = slope(1e-3);
            if (std::abs(coarse - fine) > 1e-8) continue;  // too narrow, or clipped by no-arbitrage
            const digital_prices made = digital(law, k);
            EXPECT_NEAR(made.above, fine, 2 * std::abs(coarse - fine) + made.error + 3e-9)
                << name << ": " << drawn.said << ", strike " << k;
        }
    }
}

option_prices merton_by_number(const merton& m, double years, double strike) {
    const double rate = m.jumps.jump_intensity * years, square = m.jumps.jump_sd * m.jumps.jump_sd,
                 one = m.jumps.jump_mean + 0.5 * square;
    option_prices sum;
    for (int n = 0; n < 2000; ++n) {
        const double weight = std::exp(n * std::log(rate) - rate - std::lgamma(n + 1.0));
        if (weight * std::max(1.0, std::exp(n * one - rate * std::expm1(one))) < 1e-25 && n > rate) break;
        const double forward = std::exp(n * one - rate * std::expm1(one)),
                     variance = m.volatility * m.volatility * years + n * square;
        sum.call += weight * truth::black(truth::side::call, forward, strike, variance, 1);
        sum.put += weight * truth::black(truth::side::put, forward, strike, variance, 1);
    }
    return sum;
}

TEST(fourier, merton_is_a_mixture_over_the_number_of_jumps) {
    draws d(14);
    double worst = 0;
    for (int i = 0; i < 300; ++i) {
        const double years = draw_years(d), k = std::exp(d.between(-2, 2));
        const merton m{d.over_decades(0.01, 1),
                       {d.over_decades(0.01, 20), d.between(-0.6, 0.3), d.between(0, 0.5)}};
        const option_prices made = vanilla(characteristic_of(m, years), k),
                            truth = merton_by_number(m, years, k);
        const double miss = k >= 1 ? made.call - truth.call : made.put - truth.put;
        worst = std::max(worst, std::abs(miss));
        EXPECT_LE(std::abs(miss), made.error + 1e-13)  // the truth's weights are exp of logarithms
            << fmt::format("volatility {}, {}, {} years, strike {}", m.volatility, say(m.jumps), years, k);
    }
    fmt::print("merton by the number of jumps: off by {:.1e} at most\n", worst);
}

// Without a diffusion, all paths without jumps end at one price, an atom of the law. Options and digitals are
// accurate only if that atom is subtracted, and far off if another one is.
TEST(fourier, merton_without_a_diffusion_has_an_atom) {
    for (const auto& [jumps, years] : {std::pair{lognormal_jumps{0.5, -0.1, 0.2}, 1.0},
                                       {lognormal_jumps{2, 0.05, 0.3}, 0.5},
                                       {lognormal_jumps{1, -0.2, 0.15}, 2.0}}) {
        const merton m{0, jumps};
        const characteristic law = characteristic_of(m, years);
        for (const double k : {0.7, 0.95, 1.0, 1.02, 1.4}) {
            const std::string what = fmt::format("{}, {} years, strike {}", say(jumps), years, k);
            const option_prices made = vanilla(law, k), truth = merton_by_number(m, years, k);
            EXPECT_NEAR(made.call, truth.call, 1e-12) << what;
            EXPECT_NEAR(made.put, truth.put, 1e-12) << what;
            EXPECT_LE(made.error, 1e-12) << what;
            // The truth: the probability that n jumps end above the strike, by the normal law of their sum.
            const double rate = jumps.jump_intensity * years,
                         drift = -rate * std::expm1(jumps.jump_mean + 0.5 * jumps.jump_sd * jumps.jump_sd);
            double above = drift > std::log(k) ? std::exp(-rate) : 0, weight = std::exp(-rate);
            for (int n = 1; n < 60; ++n) {
                weight *= rate / n;
                const double away = drift + n * jumps.jump_mean - std::log(k);
                above += weight * 0.5 * std::erfc(-away / (jumps.jump_sd * std::sqrt(2.0 * n)));
            }
            EXPECT_NEAR(digital(law, k).above, above, 1e-12) << what;
        }
    }
}

// Integrates over the random time of a clock, by the density of the log of the time; given the time, the log
// price is normal. Panels start with `width` at the upper end, where the density may be narrow, and widen
// downwards.
template <class density>
option_prices by_clock(const density& log_density, double rate, double drift, double volatility,
                       double strike, double low, double high, double width) {
    option_prices sum;
    for (double to = high; to > low; to -= width, width *= 1.02) {
        const auto add = [&](analytics::right option, double& price) {
            const auto value = [&](double u) {
                const double g = std::exp(u), forward = std::exp(std::clamp(drift + rate * g, -600.0, 600.0));
                return std::exp(log_density(u)) *
                       analytics::black_price(option, forward, strike, volatility * std::sqrt(g));
            };
            price += analytics::gauss_kronrod(value, to - width, to).value;
        };
        add(analytics::right::call, sum.call);
        add(analytics::right::put, sum.put);
    }
    return sum;
}

TEST(fourier, variance_gamma_is_a_mixture_over_its_clock) {
    draws d(15);
    double worst = 0;
    for (int i = 0; i < 100; ++i) {
        const double years = draw_years(d), k = std::exp(d.between(-1, 1));
        const variance_gamma m{d.over_decades(0.05, 0.6), d.over_decades(0.02, 0.9), d.between(-0.5, 0.3)};
        const double shape = years / m.nu, rate = m.theta + 0.5 * m.sigma * m.sigma,
                     drift = shape * std::log(1 - m.nu * rate), middle = std::log(years),
                     reach = 10 / std::sqrt(shape) + std::abs(std::log(1 - m.nu * rate));
        const option_prices made = vanilla(characteristic_of(m, years), k),
                            truth = by_clock(
                                [&](double u) {
                                    return shape * (u - std::log(m.nu)) - std::exp(u) / m.nu -
                                           std::lgamma(shape);
                                },
                                rate, drift, m.sigma, k, middle - reach - 45 / shape,
                                middle + reach + std::log1p(45 / shape), 0.3 / std::sqrt(1 + shape));
        const double miss = k >= 1 ? made.call - truth.call : made.put - truth.put;
        worst = std::max(worst, std::abs(miss));
        EXPECT_LE(std::abs(miss), made.error + 2e-13 * (1 + shape)) << fmt::format(
            "sigma {}, nu {}, theta {}, {} years, strike {}", m.sigma, m.nu, m.theta, years, k);
    }
    fmt::print("variance gamma by its clock: off by {:.1e} at most\n", worst);
}

TEST(fourier, nig_is_a_mixture_over_its_clock) {
    draws d(16);
    double worst = 0;
    for (int i = 0; i < 100; ++i) {
        const double years = d.over_decades(0.02, 20), k = std::exp(d.between(-1, 1));
        nig m{d.over_decades(2, 40), 0, d.over_decades(0.05, 2)};
        m.beta = d.between(-0.9 * m.alpha, 0.9 * (m.alpha - 1));
        const double scale = m.delta * years, level = std::sqrt(m.alpha * m.alpha - m.beta * m.beta),
                     drift = scale * (std::sqrt(m.alpha * m.alpha - (m.beta + 1) * (m.beta + 1)) - level),
                     middle = std::log(scale / level), reach = 1 + 2 * std::acosh(1 + 60 / (scale * level));
        const option_prices made = vanilla(characteristic_of(m, years), k),
                            truth = by_clock(
                                [&](double u) {
                                    const double g = std::exp(u), gap = scale / g - level;
                                    return std::log(scale / std::sqrt(2 * std::numbers::pi)) - 0.5 * u -
                                           0.5 * g * gap * gap;
                                },
                                m.beta + 0.5, drift, 1, k, middle - reach, middle + reach,
                                0.3 / std::sqrt(1 + scale * level));
        const double miss = k >= 1 ? made.call - truth.call : made.put - truth.put;
        worst = std::max(worst, std::abs(miss));
        EXPECT_LE(std::abs(miss), made.error + 5e-13) << fmt::format(
            "alpha {}, beta {}, delta {}, {} years, strike {}", m.alpha, m.beta, m.delta, years, k);
    }
    fmt::print("nig by its clock: off by {:.1e} at most\n", worst);
}

// CGMY's log moment is the sum of the contributions of all jumps: log E exp(z X), jump size by jump size.
TEST(fourier, cgmy_is_the_sum_of_its_jumps) {
    draws d(24);
    double worst = 0;
    for (int i = 0; i < 300; ++i) {
        const cgmy m{
            d.over_decades(0.01, 10), d.over_decades(1, 100), d.over_decades(1.1, 100),
            i % 5 == 0 ? std::array{-1.0, 0.0, 0.5, 1.0, 1.5}[std::size_t(i / 5 % 5)] : d.between(-1, 1.9)};
        const double years = draw_years(d);
        const complex z(d.between(0, 1), d.over_decades(1e-3, 10));
        // exp(a) - 1 - a, accurate for small a. A jump of size x contributes rest(z x) - z rest(x); the
        // integral over log x goes from negligible jumps to impossible ones.
        const auto rest = [](complex a) {
            if (std::abs(a) > 0.5) return std::exp(a) - 1.0 - a;
            complex sum = 0;
            for (int k = 20; k >= 2; --k) sum = a / double(k) * (1.0 + sum);
            return a * sum;
        };
        complex truth = 0;
        for (const double side : {1.0, -1.0}) {
            const double damping = side > 0 ? m.m : m.g;
            const auto by_log = [&](double u) {
                const double x = std::exp(u);
                return (rest(side * x * z) - z * rest(side * x)) * std::exp(-damping * x - m.y * u);
            };
            const double last = std::log(60 / (side > 0 ? m.m - 1 : m.g)),
                         first = std::max(-40 / (2 - m.y) - 3, -300.0);
            constexpr int panels = 1000;
            for (int k = 0; k < panels; ++k) {
                truth += m.c * years *
                         analytics::gauss_kronrod(by_log, first + (last - first) * k / panels,
                                                  first + (last - first) * (k + 1) / panels)
                             .value;
            }
        }
        const complex made = characteristic_of(m, years).log_moment(z);
        const double miss = std::abs(made - truth) / (1 + std::abs(truth));
        worst = std::max(worst, miss);
        EXPECT_LE(miss, 1e-10) << fmt::format("C {}, G {}, M {}, Y {}, {} years, z {} {}i", m.c, m.g, m.m,
                                              m.y, years, z.real(), z.imag());
    }
    fmt::print("cgmy by its jumps: off by {:.1e} at most\n", worst);
}

// Solves y' = f(y) over `years` by `steps` steps of Runge-Kutta.
template <class state, class F>
state runge_kutta(state y, const F& f, double years, int steps) {
    const double h = years / steps;
    const auto plus = [](state a, const state& b, double times) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += times * b[i];
        return a;
    };
    for (int i = 0; i < steps; ++i) {
        const state a = f(y), b = f(plus(y, a, h / 2)), c = f(plus(y, b, h / 2)), e = f(plus(y, c, h));
        for (std::size_t j = 0; j < y.size(); ++j) y[j] += h / 6 * (a[j] + 2.0 * b[j] + 2.0 * c[j] + e[j]);
    }
    return y;
}

void expect_near(complex made, complex truth, double bound, const std::string& said) {
    EXPECT_LE(std::abs(made - truth), bound * (1 + std::abs(truth)))
        << said
        << fmt::format(": {} {}i, expected {} {}i", made.real(), made.imag(), truth.real(), truth.imag());
}

TEST(fourier, heston_by_term_solves_its_differential_equations) {
    draws d(17);
    for (int i = 0; i < 60; ++i) {
        const double years = d.between(0.1, 4), v0 = d.between(0.01, 1);
        heston_by_term m{v0, {}};
        const int pieces = 1 + d.below(3);
        std::string said = fmt::format("v0 {}, {} years", v0, years);
        for (int j = 1; j <= pieces; ++j) {
            m.pieces.push_back({years * j / pieces, d.sometimes_zero(d.between(0.1, 4)), d.between(0.01, 1),
                                d.sometimes_zero(d.over_decades(0.01, 3)), d.correlation()});
        }
        const complex z(d.between(0.05, 0.95), d.over_decades(0.01, 10));
        using state = std::array<complex, 2>;  // coefficient of v, constant
        state y{};
        for (int j = pieces; j-- > 0;) {
            const heston_piece& p = m.pieces[std::size_t(j)];
            said += fmt::format("; kappa {}, theta {}, sigma {}, rho {}", p.kappa, p.theta, p.sigma, p.rho);
            y = runge_kutta(
                y,
                [&](const state& s) {
                    return state{0.5 * (z * z - z) - (p.kappa - p.rho * p.sigma * z) * s[0] +
                                     0.5 * p.sigma * p.sigma * s[0] * s[0],
                                 p.kappa * p.theta * s[0]};
                },
                years / pieces, 20000);
        }
        expect_near(characteristic_of(m, years).log_moment(z), y[1] + y[0] * v0, 1e-11, said);
    }
}

TEST(fourier, schobel_zhu_solves_its_differential_equations) {
    draws d(18);
    for (int i = 0; i < 60; ++i) {
        const double years = d.over_decades(0.01, 4);
        const schobel_zhu m{d.between(-1, 1), d.sometimes_zero(d.between(0.1, 4)), d.between(-1, 1),
                            d.sometimes_zero(d.over_decades(0.01, 2)), d.correlation()};
        const complex z(d.between(0.05, 0.95), d.over_decades(0.01, 8));
        using state = std::array<complex, 3>;  // coefficients of the square and of the volatility, constant
        const state y = runge_kutta(
            state{},
            [&](const state& s) {
                const complex xi = m.kappa - m.rho * m.sigma * z;
                const double square = m.sigma * m.sigma, pull = m.kappa * m.theta;
                return state{z * z - z - 2.0 * xi * s[0] + square * s[0] * s[0],
                             pull * s[0] - (xi - square * s[0]) * s[1],
                             pull * s[1] + 0.5 * square * (s[1] * s[1] + s[0])};
            },
            years, 20000);
        expect_near(characteristic_of(m, years).log_moment(z), y[2] + m.vol0 * (y[1] + 0.5 * m.vol0 * y[0]),
                    1e-10,
                    fmt::format("vol0 {}, kappa {}, theta {}, sigma {}, rho {}, {} years, z {} {}i", m.vol0,
                                m.kappa, m.theta, m.sigma, m.rho, years, z.real(), z.imag()));
    }
}

void expect_same(const characteristic& a, const characteristic& b, double bound, const std::string& said) {
    for (const double k : {0.3, 0.8, 0.98, 1.0, 1.1, 2.0, 5.0}) {
        const contour plain{{}, false};
        const option_prices of_a = vanilla(a, k, plain), of_b = vanilla(b, k, plain);
        EXPECT_LE(std::abs(of_a.call - of_b.call), of_a.error + of_b.error + bound)
            << said << ", strike " << k;
    }
}

TEST(fourier, a_limit_of_one_model_is_another) {
    draws d(19);
    for (int i = 0; i < 20; ++i) {
        const double years = d.over_decades(0.02, 30), volatility = d.between(0.05, 0.6),
                     v = volatility * volatility, kappa = d.between(0.2, 4), theta = d.between(0.01, 0.3),
                     sigma = d.between(0.1, 1.5), rho = d.correlation();
        const std::string said = fmt::format("volatility {}, kappa {}, theta {}, sigma {}, rho {}, {} years",
                                             volatility, kappa, theta, sigma, rho, years);
        const characteristic flat = characteristic_of(black_scholes{volatility}, years);
        const heston h{v, kappa, theta, sigma, rho};
        const double mean = theta * years + (v - theta) * -std::expm1(-kappa * years) / kappa;
        // Without sigma the variance is deterministic and Black's formula is exact. A small sigma makes an
        // error of its own order.
        expect_same(characteristic_of(heston{v, kappa, theta, 0, rho}, years),
                    characteristic_of(black_scholes{std::sqrt(mean / years)}, years), 1e-14, said);
        expect_same(characteristic_of(heston{v, kappa, theta, 1e-9, rho}, years),
                    characteristic_of(black_scholes{std::sqrt(mean / years)}, years), 1e-8, said);
        expect_same(characteristic_of(heston{v, 0, theta, 0, rho}, years), flat, 1e-14, said);
        expect_same(characteristic_of(heston{v, 1e-13, theta, sigma, rho}, years),
                    characteristic_of(heston{v, 0, theta, sigma, rho}, years), 1e-11, said);
        expect_same(characteristic_of(heston{v, kappa, theta, sigma, 1}, years),
                    characteristic_of(heston{v, kappa, theta, sigma, 1 - 1e-12}, years), 1e-10, said);
        expect_same(characteristic_of(heston_by_term{v,
                                                     {{0.1 * years, kappa, theta, sigma, rho},
                                                      {0.11 * years, kappa, theta, sigma, rho},
                                                      {2 * years, kappa, theta, sigma, rho},
                                                      {3 * years, 9, 9, 9, 0}}},
                                      years),
                    characteristic_of(h, years), 1e-14, said);
        expect_same(characteristic_of(heston_by_term{v, {{0.1 * years, kappa, theta, sigma, rho}}}, years),
                    characteristic_of(h, years), 1e-14, said);
        expect_same(characteristic_of(bates{h, {0, -0.1, 0.2}}, years), characteristic_of(h, years), 1e-14,
                    said);
        expect_same(characteristic_of(bates{h, {3, 0, 0}}, years), characteristic_of(h, years), 1e-14, said);
        expect_same(characteristic_of(merton{volatility, {0, -0.1, 0.2}}, years), flat, 1e-14, said);
        expect_same(characteristic_of(kou{volatility, 0, 0.4, 10, 5}, years), flat, 1e-14, said);
        expect_same(characteristic_of(bates{{v, kappa, v, 0, 0}, {1.5, -0.1, 0.2}}, years),
                    characteristic_of(merton{volatility, {1.5, -0.1, 0.2}}, years), 1e-14, said);
        // Clocks that hardly vary: the error is the variance of the clock.
        expect_same(characteristic_of(variance_gamma{volatility, 1e-9, 0}, years), flat, 1e-8, said);
        expect_same(characteristic_of(nig{1e6, -0.5, v * 1e6}, years), flat, 1e-8, said);
        // With Y = 0 jumps come at a rate of exp(-M x) / x, as under variance gamma. Y near 0, 1/2 and 1
        // gives nearly the same.
        const double up = d.between(5, 30), down = d.between(2, 30), c = d.between(0.5, 5);
        expect_same(characteristic_of(cgmy{c, down, up, 0}, years),
                    characteristic_of(
                        variance_gamma{std::sqrt(2 * c / (up * down)), 1 / c, c / up - c / down}, years),
                    1e-13, said);
        for (const double y : {0.0, 0.5, 1.0}) {
            expect_same(characteristic_of(cgmy{c, down, up, y - 1e-10}, years),
                        characteristic_of(cgmy{c, down, up, y + 1e-10}, years), 1e-8, said);
        }
        expect_same(characteristic_of(cgmy{0.5 * v * 1e10, 1e5, 1e5, 0}, years), flat, 1e-8, said);
        expect_same(characteristic_of(cgmy{0.5 * v * 1e-8, 3, 3, 2 - 1e-8}, years), flat, 1e-7, said);
        // The square of a volatility that reverts to zero is a Heston variance.
        expect_same(characteristic_of(schobel_zhu{volatility, kappa, 0, sigma / 2, rho}, years),
                    characteristic_of(heston{v, 2 * kappa, sigma * sigma / (8 * kappa), sigma, rho}, years),
                    1e-12, said);
        expect_same(characteristic_of(schobel_zhu{volatility, kappa, volatility, 0, rho}, years), flat, 1e-14,
                    said);
    }
}

TEST(fourier, black_scholes_comes_out_of_the_integral) {
    draws d(20);
    for (int i = 0; i < 200; ++i) {
        const double years = draw_years(d), k = draw_strike(d), volatility = d.over_decades(0.01, 3);
        const characteristic law = characteristic_of(black_scholes{volatility}, years);
        const double variance = volatility * volatility * years;
        for (const bool take_off : {false, true}) {
            const option_prices made = vanilla(law, k, {{}, take_off});
            EXPECT_NEAR(made.call, truth::black(truth::side::call, 1, k, variance, 1), made.error + 1e-14)
                << volatility << ", " << years << " years, strike " << k;
            const digital_prices bet = digital(law, k, {{}, take_off});
            EXPECT_NEAR(bet.above, truth::cash_digital(truth::side::call, 1, k, variance, 1),
                        bet.error + 1e-14)
                << volatility << ", " << years << " years, strike " << k;
        }
    }
}

TEST(fourier, a_budget_that_is_too_small_shows_in_the_error) {
    const characteristic law = characteristic_of(heston{1e-4, 0.1, 1e-4, 3, 0.999}, 1 / 365.0);
    const option_prices good = vanilla(law, 0.9), poor = vanilla(law, 0.9, {{}, true, 500});
    EXPECT_LE(good.error, 1e-10);
    EXPECT_GT(poor.error, 1e-10);
    EXPECT_LE(std::abs(good.call - poor.call), good.error + poor.error);
}

// Variance gamma's transform falls slowly at short maturities: the integral's line would extend to 1e18.
// Panels that are open when the budget of evaluations is spent are still evaluated.
TEST(fourier, a_line_ends_where_its_budget_is_spent) {
    const characteristic law = characteristic_of(variance_gamma{0.2, 1, 0}, 0.01);
    long evaluations = 0;
    characteristic counted = law;
    counted.far.reset();
    counted.log_moment = [&](complex z) {
        ++evaluations;
        return law.log_moment(z);
    };
    const option_prices poor = vanilla(counted, 0.9, {{}, true, 100});
    EXPECT_LE(evaluations, 200);
    EXPECT_LE(std::abs(poor.call - vanilla(law, 0.9).call), poor.error + 1e-12);
    evaluations = 0;
    digital(counted, 0.9, {{}, true, 100});
    EXPECT_LE(evaluations, 200);
}

template <class F>
std::string refusal(const F& f) {
    try {
        f();
    } catch (const error& e) {
        return e.message();
    }
    return "nothing was refused";
}

TEST(fourier, a_parameter_out_of_range_is_named) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(refusal([] {
                  characteristic_of(heston{0.04, 1, 0.04, 0.5, 1.5}, 1);
              }),
              "rho of heston is 1.5; expected a number from -1 to 1");
    EXPECT_EQ(refusal([] {
                  characteristic_of(heston{-0.04, 1, 0.04, 0.5, 0}, 1);
              }),
              "v0 of heston is -0.04; expected 0 or more");
    EXPECT_EQ(refusal([] {
                  characteristic_of(heston{0.04, 1, 0.04, 0.5, 0}, 0);
              }),
              "the maturity of heston is 0; expected a number above 0");
    EXPECT_EQ(refusal([] {
                  characteristic_of(heston_by_term{0.04, {}}, 1);
              }),
              "heston by term has no piece; expected one or more");
    EXPECT_EQ(
        refusal([] {
            characteristic_of(heston_by_term{0.04, {{0.5, 1, 0.04, 0.5, 0}, {0.5, 1, 0.04, 0.5, 0}}}, 1);
        }),
        "until_years of piece 2 of heston is 0.5; expected more than 0.5");
    EXPECT_EQ(refusal([=] {
                  characteristic_of(merton{nan, {}}, 1);
              }),
              "volatility of merton is nan; expected 0 or more");
    EXPECT_EQ(refusal([] {
                  characteristic_of(merton{0.2, {-1, 0, 0.1}}, 1);
              }),
              "jump_intensity of merton is -1; expected 0 or more");
    EXPECT_EQ(refusal([] {
                  characteristic_of(bates{{0.04, 1, 0.04, 0.5, 0}, {-0.5, 0, 0.1}}, 1);
              }),
              "jump_intensity of bates is -0.5; expected 0 or more");
    EXPECT_EQ(refusal([] {
                  characteristic_of(merton{0.2, {1, 0, -0.1}}, 1);
              }),
              "jump_sd of merton is -0.1; expected 0 or more");
    EXPECT_EQ(refusal([] {
                  characteristic_of(kou{0.2, 1, 0.5, 1, 5}, 1);
              }),
              "eta_up of kou is 1; expected a number above 1, or the price has no mean");
    EXPECT_EQ(refusal([] {
                  characteristic_of(variance_gamma{0.2, 5, 0.2}, 1);
              }),
              "theta of variance_gamma is 0.2; expected theta + sigma^2 / 2 below 1 / nu, or the price has "
              "no mean");
    EXPECT_EQ(
        refusal([] {
            characteristic_of(nig{2, 1.5, 0.2}, 1);
        }),
        "beta of nig is 1.5; expected more than -alpha and at most alpha - 1, or the price has no mean");
    EXPECT_EQ(refusal([] {
                  characteristic_of(cgmy{1, 5, 1, 0.5}, 1);
              }),
              "M of cgmy is 1; expected a number above 1, or the price has no mean");
    EXPECT_EQ(refusal([] {
                  characteristic_of(cgmy{1, 5, 10, 2}, 1);
              }),
              "Y of cgmy is 2; expected a number below 2");
    const characteristic flat = characteristic_of(black_scholes{0.2}, 1);
    EXPECT_EQ(refusal([&] { vanilla(flat, 0); }), "the strike is 0; expected a number above 0");
    EXPECT_EQ(refusal([&] { digital(flat, 1, {1.0}); }),
              "the real part of the contour is 1; expected more than 0 and less than 1");
    EXPECT_EQ(refusal([&] {
                  vanilla({[=](complex) { return complex(nan); }, {}, {}, {}}, 1);
              }),
              "the Fourier transform of the model is not a finite number somewhere; its parameters are too "
              "extreme");
}

TEST(fourier_gauss_kronrod, is_exact_to_its_degrees) {
    for (int degree = 0; degree <= 34; ++degree) {
        const auto power = [degree](double x) { return std::pow(x, degree); };
        const auto made = analytics::gauss_kronrod(power, -1, 1);
        const double truth = degree % 2 == 0 ? 2.0 / (degree + 1) : 0;
        if (degree <= 31) {
            EXPECT_NEAR(made.value, truth, 1e-15) << degree;
        }
        // Below degree 18, powers have no part in the last polynomials, which estimate the error.
        if (degree < 18) {
            EXPECT_LE(made.error, 1e-15) << degree;
        }
        if (degree >= 18) {
            EXPECT_GT(made.error, 1e-7) << degree;
        }
    }
    EXPECT_GT(
        std::abs(analytics::gauss_kronrod([](double x) { return std::pow(x, 32); }, -1, 1).value - 2.0 / 33),
        1e-14);
}

TEST(fourier_gauss_kronrod, knows_its_error) {
    draws d(21);
    for (int i = 0; i < 1000; ++i) {
        const double turns = d.over_decades(0.1, 1e4), phase = d.between(0, 6),
                     tolerance = d.over_decades(1e-13, 1e-4);
        long evaluations = 1000000;
        const auto made =
            analytics::integrate([=](double x) { return std::cos(turns * x + phase) / (1 + x * x * 30); }, 0,
                                 0, tolerance, evaluations);
        EXPECT_EQ(made.value, 0);
        const auto wave = analytics::integrate([=](double x) { return std::cos(turns * x + phase); }, 0, 1,
                                               tolerance, evaluations);
        const double truth = (std::sin(turns + phase) - std::sin(phase)) / turns;
        EXPECT_LE(std::abs(wave.value - truth), wave.error + 1e-12)
            << turns << " " << phase << " " << tolerance;
    }
}

}  // namespace
}  // namespace tilewalk::fourier::fourier_test

namespace tilewalk::analytics::fourier_test {
namespace {

TEST(fourier_black, agrees_with_the_formula_and_keeps_its_digits_far_away) {
    for (const double k : {0.2, 0.7, 0.999, 1.0, 1.3, 4.0}) {
        for (const double s : {1e-3, 0.05, 0.4, 1.9, 2.1, 7.0}) {
            EXPECT_NEAR(black_price(right::call, 1, k, s), truth::black(truth::side::call, 1, k, s * s, 1),
                        1e-15);
            EXPECT_NEAR(black_price(right::put, 3, 3 * k, s),
                        3 * truth::black(truth::side::put, 1, k, s * s, 1), 3e-15 * std::max(1.0, k));
            const double h = 1e-4;
            EXPECT_NEAR(
                black_vega(1, k, s, 1),
                (black_price(right::call, 1, k, s + h) - black_price(right::call, 1, k, s - h)) / (2 * h),
                2e-8 / std::min(1.0, s * s))
                << k << " " << s;
        }
    }
    EXPECT_EQ(black_price(right::call, 2, 1.5, 0), 0.5);
    EXPECT_EQ(black_price(right::put, 2, 1.5, 0), 0);
    EXPECT_EQ(black_vega(2, 1.5, 0, 1), 0);
    EXPECT_NEAR(black_vega(2, 2, 0, 4), 2 * 2 * 0.3989422804014327, 1e-15);
    EXPECT_THROW(characteristic_of(fourier::black_scholes{-0.2}, 1), error);
    // References to 60 digits: exp(h t) cdf(h + t) - exp(-h t) cdf(h - t), times the root of the strike.
    EXPECT_NEAR(black_price(right::call, 1, std::exp(1e-8), 1e-9) / 7.4745687328369362e-34, 1, 1e-14);
    EXPECT_NEAR(black_price(right::call, 1, std::exp(3.0), 0.1) / 7.304806101754656e-200, 1, 1e-12);
    EXPECT_NEAR(black_price(right::call, 1, 1, 1e-12) / 3.9894228040143267e-13, 1, 1e-15);
}

// The implied volatility is as accurate as the price allows: a relative error e of the price, or of its
// distance from the upper bound, makes a relative error of e price / (vega volatility).
TEST(fourier_black, implied_volatility_turns_the_price_back) {
    fourier::fourier_test::draws d(31);
    double worst = 0;
    int seen = 0;
    for (int i = 0; i < 100000; ++i) {
        const double s = d.over_decades(1e-6, 12),
                     m = d.below(3) == 0 ? d.between(-8, 8) * s : d.between(-1, 1) * d.over_decades(1e-9, 30),
                     forward = d.over_decades(1e-6, 1e9), strike = forward * std::exp(m),
                     years = d.over_decades(1 / 365.0, 50), volatility = s / std::sqrt(years);
        const right out = strike > forward ? right::call : right::put;
        const double most = std::min(forward, strike), price = black_price(out, forward, strike, s);
        if (price < 1e-280 * forward || price >= most) continue;
        ++seen;
        const double one = black_vega(forward, strike, volatility, years) * volatility;
        const double loss = std::max(1.0, (price > most / 2 ? most : price) / one);
        const double miss = std::abs(implied_volatility(out, forward, strike, years, price) / volatility - 1);
        worst = std::max(worst, miss / loss);
        EXPECT_LE(miss, 1e-14 * loss) << fmt::format("volatility {}, {} years, strike {} of {}: {}",
                                                     volatility, years, strike, forward, price);
    }
    EXPECT_GT(seen, 70000);
    fmt::print("implied volatility: {} prices, off by {:.1e} of what the price allows\n", seen, worst);
    // In the money, the implied volatility is as accurate as the time value.
    EXPECT_NEAR(
        implied_volatility(right::put, 1, 1.5, 2, black_price(right::put, 1, 1.5, 0.3 * std::sqrt(2.0))), 0.3,
        1e-14);
    EXPECT_EQ(implied_volatility(right::call, 1, 0.5, 1, 0.5), 0);
}

TEST(fourier_black, a_price_that_no_volatility_gives_is_named) {
    using fourier::fourier_test::refusal;
    EXPECT_EQ(refusal([] { implied_volatility(right::call, 100, 80, 1, 19); }),
              "no volatility gives the call of strike 80 on a forward of 100 a price of 19; expected 20 or "
              "more and "
              "less than 100, before discounting");
    EXPECT_EQ(
        refusal([] { implied_volatility(right::put, 100, 80, 1, 80); }),
        "no volatility gives the put of strike 80 on a forward of 100 a price of 80; expected 0 or more and "
        "less than 80, before discounting");
    EXPECT_EQ(refusal([] { implied_volatility(right::put, 100, 80, 0, 8); }),
              "the maturity is 0; expected a number above 0");
    EXPECT_EQ(refusal([] { black_price(right::put, -1, 80, 1); }),
              "the forward is -1; expected a number above 0");
    EXPECT_EQ(refusal([] { black_price(right::put, 1, 80, -1); }), "the deviation is -1; expected 0 or more");
}

}  // namespace
}  // namespace tilewalk::analytics::fourier_test
