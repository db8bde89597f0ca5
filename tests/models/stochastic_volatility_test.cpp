// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Heston in both schemes and Schobel-Zhu against Fourier integrals, published prices, a plain simulation of
// two assets, and rules for any model. Also barrier monitoring between steps, under local volatility too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/numerics/characteristic.h"
#include "engine/numerics/price.h"
#include "engine/verify/closed_forms.h"
#include "tests/by_source.h"
#include "tests/draws.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/plain_paths.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::stochastic_volatility_test {
namespace {

using fourier::characteristic;
using tests::dollar_market;
using tests::product_in_words;

const std::string own_products =
    "products:\n" + forward_product + late_forward_product +
    product_in_words("better_of", "A call on the better of two.", "one: asset, other: asset, maturity: date",
                     "on maturity:\n"
                     "    pay max(max(spot(one), spot(other)) - 105, 0)\n") +
    product_in_words("joint_skew", "The square of one log return times the other.",
                     "one: asset, other: asset, maturity: date",
                     "on maturity:\n"
                     "    pay 1000 * log(spot(one) / 100) * log(spot(one) / 100) * log(spot(other) / 100)\n");

std::vector<price_row> price(const std::string& market_text, const std::vector<std::string>& trades,
                             std::uint64_t paths, std::uint64_t seed, const std::string& precision = "double",
                             const run_options& options = {}) {
    return priced(own_products, market_text, trades, paths, seed, precision, options);
}

struct carry {
    double rate = 0.03, yield = 0.01, spot = 100;

    double forward(double years) const { return spot * std::exp((rate - yield) * years); }
};

std::string market_of(const std::string& model, const carry& of = {}) {
    return dollar_market(
        of.rate,
        {{"A", fmt::format("spot: {}, dividend_yield: {}, model: {{{}}}", of.spot, of.yield, model)}});
}

std::string option_on(const char* side, double strike, double years) {
    return fmt::format("product: european, underlying: A, option: {}, strike: {}, maturity: {}", side, strike,
                       years);
}

double fourier_price(const characteristic& law, bool is_call, double strike, double years,
                     const carry& of = {}) {
    const double forward = of.forward(years);
    const fourier::option_prices made = fourier::vanilla(law, strike / forward);
    EXPECT_LE(made.error, 1e-9);
    return std::exp(-of.rate * years) * forward * (is_call ? made.call : made.put);
}

struct drawn {
    std::string model;
    std::function<characteristic(double years)> law;
    double typical_volatility = 0;  // sets the distance of strikes
    bool meets_feller = false;
    double rho = 0;  // its largest value
};

class draws : public random_parameters {
  public:
    using random_parameters::random_parameters;

    // Every other draw satisfies Feller's condition.
    fourier::heston heston(int number) {
        fourier::heston p;
        p.v0 = between(0.01, 0.16);
        p.kappa = between(0.3, 4);
        p.theta = between(0.01, 0.16);
        const double edge = std::sqrt(2 * p.kappa * p.theta);
        p.sigma = number % 2 == 0 ? edge * between(0.3, 1) : edge * between(1.2, 2.5);
        p.rho = between(-0.95, 0.95);
        return p;
    }
    fourier::schobel_zhu schobel_zhu() {
        return {between(0.05, 0.4), between(0.3, 6), between(0, 0.4), between(0.05, 0.6),
                between(-0.95, 0.95)};
    }
};

std::string words(const fourier::heston& p, const std::string& more = "") {
    return fmt::format("heston: {{v0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}{}}}", p.v0, p.kappa,
                       p.theta, p.sigma, p.rho, more);
}
std::string words(const fourier::schobel_zhu& p, const std::string& more = "") {
    return fmt::format("schobel_zhu: {{vol0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}{}}}", p.vol0,
                       p.kappa, p.theta, p.sigma, p.rho, more);
}

drawn draw(const std::string& family, int number, draws& d) {
    if (family == "schobel_zhu") {
        const fourier::schobel_zhu p = d.schobel_zhu();
        return {words(p), [p](double years) { return characteristic_of(p, years); },
                std::max(p.vol0, p.theta), true, p.rho};
    }
    const fourier::heston p = d.heston(number);
    const bool meets = 2 * p.kappa * p.theta >= p.sigma * p.sigma;
    if (family != "by_term") {
        return {words(p, ", scheme: " + family), [p](double years) { return characteristic_of(p, years); },
                std::sqrt(std::max(p.v0, p.theta)), meets, p.rho};
    }
    const fourier::heston q = d.heston(number);
    const double until = d.between(0.1, 0.9);
    const fourier::heston_by_term law{
        p.v0, {{until, p.kappa, p.theta, p.sigma, p.rho}, {100, q.kappa, q.theta, q.sigma, q.rho}}};
    const auto pillars = [&](double one, double other) {
        return fmt::format("{{{}: {}, 100: {}}}", until, one, other);
    };
    return {fmt::format("heston: {{v0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}}}", p.v0,
                        pillars(p.kappa, q.kappa), pillars(p.theta, q.theta), pillars(p.sigma, q.sigma),
                        pillars(p.rho, q.rho)),
            [law](double years) { return characteristic_of(law, years); }, std::sqrt(std::max(p.v0, p.theta)),
            meets, std::max(p.rho, q.rho)};
}

class stochastic_volatility : public by_source {};

// 4 families, 10 laws each, 2 maturities, 3 strikes: 240 comparisons, one false alarm in 600. The schemes'
// own errors have an allowance relative to the price at the money: 2e-3 at the default steps, and 1e-2 for
// full truncation, whose error falls with the step (`the_weak_order_of_each_scheme`). An asset positively
// correlated with its variance may have no second moment, and a call no meaningful standard error: the test
// then uses a put.
TEST_P(stochastic_volatility, options_are_those_of_the_characteristic_function) {
    std::uint64_t seed = 100;
    for (const std::string family : {"quadratic_exponential", "full_truncation", "by_term", "schobel_zhu"}) {
        draws d(++seed);
        const double share = family == "full_truncation" ? 1e-2 : 2e-3;
        const std::uint64_t paths = family == "full_truncation" ? 1 << 16 : 1 << 17;
        double mean = 0, mean_square = 0, worst = 0;
        int cases = 0, met = 0, calls = 0;
        for (int i = 0; i < 10; ++i) {
            const drawn of = draw(family, i, d);
            const bool is_call = of.rho <= 0;
            met += of.meets_feller;
            calls += is_call;
            std::vector<std::string> trades;
            std::vector<double> truths, units;
            for (const double years : {0.25, 1.5}) {
                const double forward = carry().forward(years);
                const double wide = of.typical_volatility * std::sqrt(years);
                for (const double deviations : {-0.8, 0.0, 0.8}) {
                    const double strike = forward * std::exp(deviations * wide);
                    trades.push_back(option_on(is_call ? "call" : "put", strike, years));
                    truths.push_back(fourier_price(of.law(years), is_call, strike, years));
                    units.push_back(fourier_price(of.law(years), true, forward, years));
                }
            }
            const auto rows = price(market_of(of.model), trades, paths, ++seed);
            for (std::size_t k = 0; k < rows.size(); ++k) {
                ASSERT_EQ(rows[k].status, trade_status::priced) << rows[k].message;
                EXPECT_LE(std::abs(rows[k].price - truths[k]), chance_of(rows[k], limit) + share * units[k])
                    << of.model << "\n"
                    << trades[k] << ": " << rows[k].price << " +- " << rows[k].standard_error << ", truth "
                    << truths[k];
                EXPECT_LE(rows[k].standard_error, 0.02 * units[k]) << of.model;
                const double z = (rows[k].price - truths[k]) / rows[k].standard_error;
                mean += z, mean_square += z * z, ++cases;
                if (std::abs(z) > std::abs(worst)) worst = z;
            }
        }
        fmt::print("{:22} {} options: mean z {:.3f}, mean z squared {:.3f}, worst z {:.2f}\n", family, cases,
                   mean / cases, mean_square / cases, worst);
        EXPECT_GE(calls, 1) << family;
        EXPECT_LE(calls, 9) << family;
        if (family != "schobel_zhu") {
            EXPECT_EQ(met, 5) << family;
        }
    }
}

// 6 models, 6 dates, in double and in single: 72 comparisons, one false alarm in 2,000.
TEST(stochastic_volatility, the_discounted_asset_is_a_martingale) {
    const std::vector<double> times{0.01, 0.5, 1, 5, 20};
    std::uint64_t seed = 200;
    for (const std::string model :
         {"heston: {v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6}",
          // The square of the asset still has a mean here; with larger sigma and rho it has none.
          "heston: {v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.5, rho: 0.5}",
          "heston: {scheme: full_truncation, v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6}",
          "heston: {v0: 0.04, kappa: {1: 2, 3: 0.5}, theta: {1: 0.02, 4: 0.06}, sigma: {2: 0.6, 9: 0.2}, "
          "rho: {0.4: 0.8, 2: -0.9}}",
          "schobel_zhu: {vol0: 0.2, kappa: 2, theta: 0.15, sigma: 0.2, rho: -0.7}",
          "schobel_zhu: {vol0: 0.15, kappa: 4, theta: 0.1, sigma: 0.3, rho: 0.8}"}) {
        std::vector<std::string> trades;
        for (const double t : times)
            trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", t));
        trades.emplace_back("product: late_forward, underlying: A, dates: {start: 0, end: 1, count: 12}");
        for (const char* precision : {"double", "single"}) {
            const auto rows = price(market_of(model), trades, 1 << 15, ++seed, precision);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double truth = 100 * std::exp(-carry().yield * (i < times.size() ? times[i] : 1));
                ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
                EXPECT_LE(std::abs(rows[i].price - truth), limit * rows[i].standard_error + 1e-4)
                    << model << " " << trades[i] << " " << precision << ": " << rows[i].price << " +- "
                    << rows[i].standard_error;
            }
        }
    }
}

// Even a step too long for accuracy is a martingale. Eight comparisons: one false alarm in 18,000.
TEST(stochastic_volatility, a_long_step_is_a_martingale) {
    for (const std::string model :
         {"heston: {v0: 0.09, kappa: 1, theta: 0.09, sigma: 0.8, rho: -0.9, steps_per_year: 1}",
          "heston: {v0: 0.09, kappa: 1, theta: 0.09, sigma: 0.5, rho: 0.6, steps_per_year: 1}",
          "schobel_zhu: {vol0: 0.3, kappa: 3, theta: 0.1, sigma: 0.3, rho: -0.8, steps_per_year: 1}",
          "schobel_zhu: {vol0: 0.3, kappa: 3, theta: 0.1, sigma: 0.3, rho: 0.8, steps_per_year: 1}"}) {
        const auto rows = price(
            market_of(model),
            {"product: forward, underlying: A, maturity: 1", "product: forward, underlying: A, maturity: 3"},
            1 << 20, 7);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_LE(std::abs(rows[i].price - 100 * std::exp(-carry().yield * (i == 0 ? 1 : 3))),
                      limit * rows[i].standard_error)
                << model << ": " << rows[i].price << " +- " << rows[i].standard_error;
        }
    }
}

// The quadratic-exponential scheme treats a variance of 0 as 1e-18.
TEST(stochastic_volatility, no_volatility_gives_the_forward) {
    for (const std::string model :
         {"heston: {v0: 0, kappa: 1, theta: 0, sigma: 0.5, rho: -0.7}",
          "heston: {v0: 0, kappa: 0, theta: 0.04, sigma: 0.5, rho: 0.7}",
          "heston: {v0: 0, kappa: 0, theta: 0, sigma: 0, rho: 0}",
          "heston: {scheme: full_truncation, v0: 0, kappa: 1, theta: 0, sigma: 0.5, rho: -0.7}",
          "schobel_zhu: {vol0: 0, kappa: 1, theta: 0, sigma: 0, rho: -0.7}"}) {
        for (const char* precision : {"double", "single"}) {
            const auto rows = price(market_of(model),
                                    {"product: forward, underlying: A, maturity: 2", option_on("call", 90, 2),
                                     option_on("put", 90, 2)},
                                    4096, 3, precision);
            const double forward = 100 * std::exp(-2 * carry().yield),
                         call = forward - 90 * std::exp(-2 * carry().rate),
                         within = std::string(precision) == "double" ? 1e-8 : 1e-4;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
                EXPECT_NEAR(rows[i].price,
                            i == 0   ? forward
                            : i == 1 ? call
                                     : 0,
                            within)
                    << model << precision;
            }
        }
    }
}

// 3 models, 6 values, 3 strikes, in double and in single: 108 comparisons, one false alarm in 1,300. Options
// of one model share their paths.
TEST(stochastic_volatility, a_volatility_that_hardly_moves_gives_black) {
    const double years = 1;
    for (const std::string family : {"quadratic_exponential", "full_truncation", "schobel_zhu"}) {
        for (const double sigma : {0.0, 1e-7, 1e-5, 0.9e-4, 1.1e-4, 1e-3}) {
            const fourier::heston h{0.04, 2, 0.04, sigma, -0.7};
            const fourier::schobel_zhu s{0.2, 2, 0.2, sigma, -0.7};
            const bool is_heston = family != "schobel_zhu";
            std::vector<std::string> trades;
            std::vector<double> truths;
            for (const double strike : {80.0, 100.0, 120.0}) {
                trades.push_back(option_on("call", strike, years));
                const bool moves = sigma > 1e-6;
                truths.push_back(moves ? fourier_price(is_heston ? characteristic_of(h, years)
                                                                 : characteristic_of(s, years),
                                                       true, strike, years)
                                       : truth::black(truth::side::call, carry().forward(years), strike,
                                                      0.04 * years, std::exp(-carry().rate * years)));
            }
            const std::string model = is_heston ? words(h, ", scheme: " + family) : words(s);
            for (const char* precision : {"double", "single"}) {
                const auto rows =
                    price(market_of(model), trades, 1 << 17, 41, precision, tests::plain_paths());
                for (std::size_t i = 0; i < rows.size(); ++i) {
                    ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
                    EXPECT_LE(std::abs(rows[i].price - truths[i]), limit * rows[i].standard_error + 1e-4)
                        << model << " " << precision << ": " << rows[i].price << " +- "
                        << rows[i].standard_error << ", truth " << truths[i];
                }
            }
        }
    }
}

// Accepted parameters give a finite number with its error; puts, which are bounded, match the characteristic
// function, with an allowance of 5e-3 of the strike for the schemes. 17 markets, 3 maturities: 51
// comparisons, one false alarm in 2,900.
TEST(stochastic_volatility, extremes_are_finite_and_right) {
    struct extreme {
        std::string model;
        std::function<characteristic(double years)> law;
        carry of;
    };
    std::vector<extreme> all;
    const auto add = [&](const auto& p, const carry& of = {}, const std::string& more = "") {
        all.push_back({words(p, more), [p](double years) { return characteristic_of(p, years); }, of});
    };
    using heston = fourier::heston;
    using schobel_zhu = fourier::schobel_zhu;
    for (const double rho : {-1.0, -0.999, 0.999, 1.0}) {
        add(heston{0.04, 1.5, 0.04, 0.5, rho});
        add(schobel_zhu{0.2, 1.5, 0.2, 0.3, rho});
    }
    add(heston{0, 1.5, 0.04, 0.5, -0.7});
    add(heston{0.04, 0, 0.04, 0.3, -0.7});
    add(heston{0.04, 0, 0.04, 0.3, -0.7}, {}, ", scheme: full_truncation");
    add(heston{0.04, 1, 0.04, 3, -0.7});
    add(schobel_zhu{0, 1.5, 0.2, 0.3, -0.7});
    add(schobel_zhu{0.2, 0, 0.2, 0.1, -0.7});
    add(heston{0.04, 1.5, 0.04, 0.5, -0.7}, {0.03, 0.01, 1e-6});
    add(heston{0.04, 1.5, 0.04, 0.5, -0.7}, {0.03, 0.01, 1e9});
    add(schobel_zhu{0.2, 1.5, 0.2, 0.3, -0.7}, {-0.02, 0.01, 100});
    for (const extreme& x : all) {
        std::vector<std::string> trades;
        std::vector<double> truths, strikes;
        for (const double years : {0.00273, 1.0, 50.0}) {
            const double strike = x.of.forward(years);
            strikes.push_back(strike * std::exp(-x.of.rate * years));
            truths.push_back(fourier_price(x.law(years), false, strike, years, x.of));
            trades.push_back(option_on("put", strike, years));
            trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", years));
        }
        for (const char* precision : {"double", "single"}) {
            const auto rows = price(market_of(x.model, x.of), trades, 4096, 77, precision);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const price_row& row = rows[i];
                ASSERT_EQ(row.status, trade_status::priced) << x.model << ": " << row.message;
                EXPECT_TRUE(is_sound(row)) << x.model;
                if (i % 2 == 1) continue;
                EXPECT_LE(std::abs(row.price - truths[i / 2]),
                          limit * known_error(row) + 5e-3 * strikes[i / 2])
                    << x.model << " " << trades[i] << " " << precision << ": " << row.price << " +- "
                    << row.standard_error << ", truth " << truths[i / 2];
            }
        }
    }
}

// Errors at doubling numbers of steps a year, and the order between the first and the last; the standard
// error is a small part of the smallest error. The quadratic-exponential scheme has no uniform order: 0.6 for
// longer steps, 1.2 and then 2 for these.
TEST(stochastic_volatility, the_weak_order_of_each_scheme) {
    struct studied {
        std::string name, model;
        characteristic law;
        double strike, years;
        std::vector<double> steps;
        double least, most;
    };
    const fourier::heston mild{0.04, 3, 0.04, 0.6, -0.7}, wild{0.04, 0.5, 0.04, 1, -0.9};
    const fourier::schobel_zhu s{0.3, 4, 0.2, 0.6, -0.8};
    const carry none{0, 0, 100};
    for (const studied& of : {studied{"quadratic_exponential",
                                      words(mild, ", steps_per_year: {}"),
                                      characteristic_of(mild, 2),
                                      140,
                                      2,
                                      {2, 4, 8},
                                      1,
                                      2.2},
                              studied{"full_truncation",
                                      words(wild, ", scheme: full_truncation, steps_per_year: {}"),
                                      characteristic_of(wild, 10),
                                      100,
                                      10,
                                      {4, 8, 16},
                                      0.8,
                                      1.2},
                              studied{"schobel_zhu",
                                      words(s, ", steps_per_year: {}"),
                                      characteristic_of(s, 2),
                                      100,
                                      2,
                                      {1, 2, 4},
                                      1.6,
                                      2.6}}) {
        const double truth = fourier_price(of.law, true, of.strike, of.years, none);
        std::vector<double> errors;
        for (const double steps : of.steps) {
            std::string model = of.model;
            model.replace(model.find("{}"), 2, fmt::format("{}", steps));
            const price_row row =
                price(market_of(model, none), {option_on("call", of.strike, of.years)}, 1 << 22, 5).at(0);
            ASSERT_EQ(row.status, trade_status::priced) << row.message;
            errors.push_back(row.price - truth);
            fmt::print("{:22} {:3} steps a year: off by {:8.4f} +- {:.4f} of {:.4f}\n", of.name, steps,
                       errors.back(), row.standard_error, truth);
        }
        const double order =
            std::log2(errors.front() / errors.back()) / static_cast<double>(errors.size() - 1);
        fmt::print("{:22} order {:.2f}\n", of.name, order);
        EXPECT_GE(order, of.least) << of.name;
        EXPECT_LE(order, of.most) << of.name;
    }
}

const std::string start_and_end_product =
    "products:\n" +
    product_in_words("from_half",
                     "A call that starts at the money on a day, on a path that stops on others, too.",
                     "underlying: asset, half: date, dates: schedule",
                     "begun = 0\n"
                     "stops = 0\n"
                     "on half:\n"
                     "    begun = spot(underlying)\n"
                     "on dates:\n"
                     "    stops = stops + 1\n"
                     "on last(dates):\n"
                     "    pay max(spot(underlying) - begun, 0) * stops / size(dates)\n");

// The number of scheme steps in one step of the path; 1 if the plan states none.
int parts_of(const std::string& market_text, const std::string& trade) {
    const auto plans = engine().explain(
        book::parse(start_and_end_product + "trades: [{id: t, " + trade + "}]"), market::parse(market_text));
    for (const std::string& model : plans.at(0).models) {
        const auto at = model.find(" steps at a time");
        if (at != std::string::npos) return std::stoi(model.substr(model.rfind(' ', at - 1)));
    }
    return 1;
}

TEST(stochastic_volatility, a_step_has_parts_where_nothing_stops_it) {
    const std::string
        model = "heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 100}",
        once = "product: european, underlying: A, strike: 100, maturity: 1.0";
    const auto stops = [](int count) {
        return fmt::format(
            "product: from_half, underlying: A, half: 0.5, dates: {{start: 0, end: 1, count: {}}}", count);
    };
    EXPECT_EQ(parts_of(market_of(model), once), 7);
    EXPECT_EQ(parts_of(market_of(model), stops(2)), 3);
    EXPECT_EQ(parts_of(market_of(model), stops(34)), 3);
    EXPECT_EQ(parts_of(market_of(model), stops(100)), 1);
    // If another factor shares the asset's noise, the asset keeps a normal of its own in each step.
    const std::string full =
        "heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, scheme: "
        "full_truncation}";
    EXPECT_EQ(parts_of(market_of(full), once), 1);
    EXPECT_EQ(parts_of(market_of(model),
                       "product: barrier, underlying: A, strike: 100, maturity: 1.0, direction: "
                       "up, barrier: 130"),
              1);
    const std::string two =
        market_of(model) + fmt::format("  B: {{currency: USD, spot: 100, model: {{{}}}}}\n", model);
    EXPECT_EQ(parts_of(two, once), 7);
    EXPECT_EQ(
        parts_of(two,
                 "product: worst_of, basket: [A, B], initial_level: [100, 100], option: put, strike: 1, "
                 "maturity: 1.0"),
        1);
    EXPECT_EQ(parts_of(two + "correlations:\n  - [A, B, 0.5]\n  - [A.variance, B, -0.2]\n", once), 1);
    const std::string abroad = fmt::format(
        "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: 0.03}}, EUR: {{rate: 0.01}}}}\nfx:\n  EURUSD: {{rate: "
        "1.1, "
        "volatility: 0.1}}\nassets:\n  A: {{currency: EUR, spot: 100, model: {{{}}}}}\n",
        model);
    EXPECT_EQ(parts_of(abroad, once), 7);
    EXPECT_EQ(parts_of(abroad, once + ", currency: USD"), 1);
}

// Several scheme steps in one step of the path, against a path that stops on every scheme step. All scheme
// steps are equally long, which needs no allowance: 3 laws and 3 precisions by 4 trades, one false alarm in
// 4,000.
TEST(stochastic_volatility, steps_in_parts_have_the_law_of_steps_alone) {
    const std::vector<std::string> laws{"sigma: 0.3, rho: -0.7", "sigma: 0.9, rho: -0.5",
                                        "sigma: 0.9, rho: 0"};
    std::uint64_t seed = 4000;
    for (const std::string& law : laws) {
        const std::string market =
            market_of("heston: {v0: 0.05, kappa: 1.5, theta: 0.04, " + law + ", steps_per_year: 42}");
        for (const std::string precision : {"double", "single", "mixed"}) {
            const auto trade = [&](double half, int stops) {
                return fmt::format(
                    "product: from_half, underlying: A, half: {}, dates: {{start: 0, end: 1, count: {}}}",
                    half, stops);
            };
            ASSERT_EQ(parts_of(market, trade(1.0 / 3, 6)), 7);
            ASSERT_EQ(parts_of(market, trade(1.0 / 3, 14)), 3);
            ASSERT_EQ(parts_of(market, trade(1.0 / 3, 42)), 1);
            const auto rows = priced(start_and_end_product, market,
                                     {trade(1.0 / 3, 6), trade(1.0 / 3, 14), trade(1.0 / 3, 42),
                                      trade(2.0 / 3, 6), trade(2.0 / 3, 14), trade(2.0 / 3, 42)},
                                     1 << 17, ++seed, precision);
            for (const std::size_t k : {0u, 1u, 3u, 4u}) {
                const price_row &parts = rows[k], &alone = rows[k / 3 * 3 + 2];
                ASSERT_EQ(parts.status, trade_status::priced) << parts.message;
                EXPECT_LE(std::abs(parts.price - alone.price),
                          limit * std::hypot(parts.standard_error, alone.standard_error))
                    << law << ", " << precision << ", " << k << ": " << parts.price << ", one by one "
                    << alone.price;
                EXPECT_LE(parts.standard_error, 0.01 * alone.price) << law;
            }
        }
    }
}

const std::string acme = "{v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}",
                  beta = "{v0: 0.06, kappa: 1, theta: 0.04, sigma: 0.4, rho: -0.5}";

std::string two_assets(const std::string& correlations) {
    return dollar_market(0,
                         {{"ACME", "spot: 100, model: {heston: " + acme + "}"},
                          {"BETA", "spot: 100, model: {heston: " + beta + "}"}},
                         "correlations: " + correlations);
}

struct estimate {
    double mean = 0, error = 0;
};

// A plain simulation by Euler's scheme with full truncation for both assets over a year, 100 steps. `shared`
// is the correlation of ACME's variance with BETA. BETA's variance is correlated with BETA alone.
std::array<estimate, 2> simulated(double between, double shared) {
    constexpr int paths = 1 << 16, steps = 100;
    constexpr double dt = 1.0 / steps;
    std::mt19937_64 bits(2718);
    std::normal_distribution<double> normal;
    // Rows of a root of the correlations of ACME, its variance and BETA.
    const double a10 = -0.7, a11 = std::sqrt(1 - a10 * a10), a20 = between, a21 = (shared - a10 * a20) / a11,
                 a22 = std::sqrt(1 - a20 * a20 - a21 * a21);
    std::array<double, 2> sum{}, squares{};
    for (int path = 0; path < paths; ++path) {
        double x = 0, y = 0, v = 0.04, w = 0.06;
        for (int i = 0; i < steps; ++i) {
            const double z0 = normal(bits), z1 = normal(bits), z2 = normal(bits), z3 = normal(bits),
                         of_y = a20 * z0 + a21 * z1 + a22 * z2, of_v = a10 * z0 + a11 * z1,
                         of_w = -0.5 * of_y + std::sqrt(0.75) * z3, up = std::max(v, 0.0),
                         wp = std::max(w, 0.0), root_v = std::sqrt(up * dt), root_w = std::sqrt(wp * dt);
            x += -0.5 * up * dt + root_v * z0;
            y += -0.5 * wp * dt + root_w * of_y;
            v += 1.5 * (0.05 - up) * dt + 0.6 * root_v * of_v;
            w += 1.0 * (0.04 - wp) * dt + 0.4 * root_w * of_w;
        }
        const std::array<double, 2> paid{std::max(std::max(100 * std::exp(x), 100 * std::exp(y)) - 105, 0.0),
                                         1000 * x * x * y};
        for (std::size_t k = 0; k < 2; ++k) sum[k] += paid[k], squares[k] += paid[k] * paid[k];
    }
    std::array<estimate, 2> out;
    for (std::size_t k = 0; k < 2; ++k) {
        const double mean = sum[k] / paths;
        out[k] = {mean, std::sqrt((squares[k] / paths - mean * mean) / paths)};
    }
    return out;
}

// Four comparisons within 4.5 standard errors of both prices, with an allowance of 5e-3 of a path's deviation
// for Euler's steps of a hundredth: one false alarm in 37,000.
TEST(stochastic_volatility, an_own_factor_is_correlated_as_it_is_named) {
    struct way {
        std::string correlations;
        double shared;
    };
    std::vector<double> skews;
    for (const way& w : {way{"[[ACME, BETA, -0.3], [ACME.variance, BETA, -0.3]]", -0.3},
                         way{"[[ACME, BETA, -0.3]]", 0.21}}) {
        const auto rows = price(two_assets(w.correlations),
                                {"product: better_of, one: ACME, other: BETA, maturity: 1",
                                 "product: joint_skew, one: ACME, other: BETA, maturity: 1"},
                                1 << 18, 8);
        const auto plain = simulated(-0.3, w.shared);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            const double error = std::hypot(rows[i].standard_error, plain[i].error);
            fmt::print("{} {}: {:.4f} +- {:.4f}, simulated {:.4f} +- {:.4f}\n", w.correlations, i,
                       rows[i].price, rows[i].standard_error, plain[i].mean, plain[i].error);
            EXPECT_LE(std::abs(rows[i].price - plain[i].mean), limit * error + 5e-3 * plain[i].error * 256)
                << w.correlations;
        }
        skews.push_back(rows[1].price);
        const auto other = simulated(-0.3, w.shared == 0.21 ? -0.3 : 0.21);
        EXPECT_GT(std::abs(rows[1].price - other[1].mean), 3 * limit * other[1].error);
    }
    EXPECT_LT(skews[0], skews[1]);
}

error complaint_of(const std::string& text) {
    try {
        market::parse(text, "bad.yaml");
    } catch (const error& e) {
        return e;
    }
    return error(error_kind::internal, "nothing was refused");
}

TEST(stochastic_volatility, a_matrix_that_is_not_valid_is_refused_with_one_that_is) {
    const std::string plain =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n  A: {currency: USD, spot: 100, "
        "volatility: "
        "0.2}\n  B: {currency: USD, spot: 100, volatility: 0.2}\n  C: {currency: USD, spot: 100, volatility: "
        "0.2}\ncorrelations: ";
    const std::string heston = two_assets("");
    const std::string perfect = [&] {
        const std::string text = tests::replaced(two_assets(""), "rho: -0.7", "rho: -1");
        return text;
    }();
    using pairs = std::vector<std::array<std::string, 3>>;
    const auto written = [](const pairs& all) {
        std::string text = "[";
        for (const auto& [one, other, rho] : all)
            text += (text.size() > 1 ? ", [" : "[") + one + ", " + other + ", " + rho + "]";
        return text + "]\n";
    };
    struct bad {
        std::string market;
        pairs given;
    };
    for (const bad& b : {
             bad{plain, {{"A", "B", "0.9"}, {"B", "C", "0.9"}, {"A", "C", "-0.9"}}},
             bad{heston, {{"ACME", "BETA", "0.9"}, {"ACME.variance", "BETA", "0.9"}}},
             bad{heston, {{"ACME.variance", "BETA", "0.9"}}},
             bad{heston, {{"ACME", "BETA", "0.6"}, {"ACME.variance", "BETA.variance", "-0.95"}}},
             bad{perfect, {{"ACME", "BETA", "0.6"}, {"ACME.variance", "BETA", "0.3"}}},
         }) {
        const error e = complaint_of(b.market.substr(0, b.market.rfind(": ") + 2) + written(b.given));
        const std::string said = e.what();
        const std::string offer = "the nearest valid matrix has ";
        ASSERT_NE(said.find(offer), std::string::npos) << said;
        EXPECT_EQ(e.kind(), error_kind::input);
        EXPECT_EQ(e.where().file, "bad.yaml");
        pairs offered = b.given;
        for (std::size_t at = said.find('[', said.find(offer)); at != std::string::npos;
             at = said.find('[', at + 1)) {
            const std::string item = said.substr(at + 1, said.find(']', at) - at - 1);
            const std::size_t first = item.find(", "), second = item.find(", ", first + 2);
            const std::array<std::string, 3> one{
                item.substr(0, first), item.substr(first + 2, second - first - 2), item.substr(second + 2)};
            const auto same = std::ranges::find_if(offered, [&](const auto& o) {
                return (o[0] == one[0] && o[1] == one[1]) || (o[0] == one[1] && o[1] == one[0]);
            });
            if (same == offered.end()) {
                offered.push_back(one);
            } else {
                *same = one;
            }
        }
        fmt::print("{}  -> {}", written(b.given), written(offered));
        // Among correlations x, x and y = 2 x^2 - 1, for which an eigenvalue is 0, the distance 2 (x - 0.9)^2
        // + (y + 0.9)^2 is least at x = 0.5.
        if (b.market == plain) {
            EXPECT_EQ(offered, (pairs{{"A", "B", "0.5"}, {"B", "C", "0.5"}, {"A", "C", "-0.5"}}));
        }
        // ACME and its variance are opposed: nearest to 0.6 and 0.3 are x and -x with x = (0.6 - 0.3) / 2.
        if (b.market == perfect) {
            EXPECT_NE(said.find("0.15]"), std::string::npos) << said;
        }
        EXPECT_NO_THROW(
            market::parse(b.market.substr(0, b.market.rfind(": ") + 2) + written(offered), "good.yaml"))
            << said << "\n"
            << written(offered);
    }
}

TEST(stochastic_volatility, complaints_name_what_was_found_and_expected) {
    struct bad {
        std::string text, message;
        std::size_t line = 0;
    };
    const auto of_model = [](const std::string& model) { return market_of(model); };
    const auto with = [](const std::string& key, const std::string& value) {
        std::string text =
            "heston: {v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6, " + key + ": " + value + "}";
        if (const std::size_t at = text.find(key); at != text.rfind(key)) {
            text.erase(at, text.find(',', at) + 2 - at);
        }
        return market_of(text);
    };
    const auto schobel_zhu_with = [](const std::string& key, const std::string& value) {
        std::string text = "schobel_zhu: {vol0: 0.2, kappa: 2, theta: 0.2, sigma: 0.4, rho: -0.6, " + key +
                           ": " + value + "}";
        if (const std::size_t at = text.find(key); at != text.rfind(key)) {
            text.erase(at, text.find(',', at) + 2 - at);
        }
        return market_of(text);
    };
    const std::string named_alike =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n  ACME.variance: "
        "{currency: USD, spot: 1}\n  ACME: {currency: USD, spot: 100, model: {heston: " +
        acme + "}}\n";
    for (const bad& b : {
             bad{with("v0", "-0.04"), "found -0.04, expected a number between 0 and 25", 4},
             bad{with("kappa", "101"), "found 101, expected a number between 0 and 100", 4},
             bad{with("theta", "26"), "found 26, expected a number between 0 and 25", 4},
             bad{with("sigma", "-1"), "found -1, expected a number between 0 and 20", 4},
             bad{with("sigma", "{1: 0.3, 2: 21}"), "found 21, expected a number between 0 and 20", 4},
             bad{with("rho", "1.01"), "found 1.01, expected a number between -1 and 1", 4},
             bad{with("steps_per_year", "0"), "found 0, expected a number between 0.01 and 1e+05", 4},
             bad{with("watched_steps_per_year", "0.5"), "found 0.5, expected a number between 1 and 1e+05",
                 4},
             bad{with("scheme", "full_truncaton"), "did you mean 'full_truncation'", 4},
             bad{with("sigm", "0.3"), "did you mean 'sigma'", 4},
             bad{schobel_zhu_with("vol0", "6"), "found 6, expected a number between 0 and 5", 4},
             bad{schobel_zhu_with("kappa", "-1"), "found -1, expected a number between 0 and 100", 4},
             bad{schobel_zhu_with("theta", "6"), "found 6, expected a number between 0 and 5", 4},
             bad{schobel_zhu_with("sigma", "11"), "found 11, expected a number between 0 and 10", 4},
             bad{schobel_zhu_with("rho", "-1.5"), "found -1.5, expected a number between -1 and 1", 4},
             bad{schobel_zhu_with("watched_steps_per_year", "0"),
                 "found 0, expected a number between 1 and 1e+05", 4},
             bad{of_model("hestn: {v0: 0.04}"), "did you mean 'heston'", 4},
             bad{"as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n  A: {currency: USD, spot: 100, "
                 "volatility: 0.2, model: {heston: " +
                     acme + "}}\n",
                 "found a model beside a volatility, expected one of them", 4},
             bad{named_alike, "what correlations call a factor of ACME; expected another name", 4},
             bad{two_assets("[[ACME.variance, ACME, 0.1]]"),
                 "found the correlation of ACME.variance with ACME, which its model sets to -0.7; leave "
                 "this pair out",
                 6},
             bad{two_assets("[[ACME.varance, BETA, 0.1]]"), "did you mean 'ACME.variance'", 6},
             bad{two_assets("[[ACME.volatility, BETA, 0.1]]"), "ACME.volatility", 6},
             bad{two_assets("[[ACME.variance, BETA, -0.3], [BETA, ACME.variance, -0.3]]"),
                 "expected each pair once", 6},
             bad{[] {
                     const std::string text = tests::replaced(two_assets("[[ACME.variance, BETA, 0.1]]"),
                                                              "rho: -0.7", "rho: {1: -0.7, 2: -0.6}");
                     return text;
                 }(),
                 "changes with time; expected no other correlation of ", 6},
         }) {
        const error e = complaint_of(b.text);
        EXPECT_EQ(e.kind(), error_kind::input) << b.message;
        EXPECT_NE(std::string(e.what()).find(b.message), std::string::npos) << e.what();
        EXPECT_EQ(e.where().file, "bad.yaml") << b.message;
        EXPECT_EQ(e.where().line, b.line) << e.what();
        EXPECT_GT(e.where().column, 1u) << e.what();
    }
}

const std::string up_and_out =
    "product: barrier, underlying: A, option: call, strike: 100, maturity: 1, direction: up, barrier: 135, "
    "monitoring: continuous";

// The bridge between two steps has a constant variance, which causes an error proportional to the step. The
// published price is known to 0.016. With more paths the engine is off by 0.065 at 26 steps a year, 0.035 at
// 52, 0.018 at 104, 0.008 at 208; at the default, 264, by less than 1e-3 of the price. One comparison.
TEST(stochastic_volatility, a_barrier_is_watched_between_steps) {
    const auto at = [](const std::string& steps, std::uint64_t paths) {
        const price_row row =
            price(
                market_of("heston: {v0: 0.04, kappa: 2.5, theta: 0.04, sigma: 0.66, rho: -0.8" + steps + "}",
                          {0.05, 0, 100}),
                {up_and_out}, paths, 19)
                .at(0);
        EXPECT_EQ(row.status, trade_status::priced) << row.message;
        fmt::print("up-and-out call{:60} {:.4f} +- {:.4f}\n", steps, row.price, row.standard_error);
        return row;
    };
    const double published = 9.1533903594, error = 0.016;
    const price_row usual = at("", 1 << 20);
    EXPECT_LE(std::abs(usual.price - published), limit * usual.standard_error + error + 1e-3 * published);
    std::vector<double> off;
    for (const int steps : {7, 14, 28}) {
        off.push_back(
            published -
            at(fmt::format(", steps_per_year: 1, watched_steps_per_year: {}", steps), 1 << 21).price);
    }
    const double order = 0.5 * std::log2(off[0] / off[2]);
    fmt::print("watched: off by {:.4f}, {:.4f}, {:.4f}, order {:.2f}\n", off[0], off[1], off[2], order);
    EXPECT_GE(order, 0.7);
    EXPECT_LE(order, 1.4);
}

// Without drift and correlation, a down-and-in call at K with a barrier H is worth K / H puts at H^2 / K
// (Carr and Lee 2009). Three comparisons: one false alarm in 50,000. The allowance is 1e-3 of the price.
TEST(stochastic_volatility, a_watched_barrier_gives_what_symmetry_says) {
    const carry none{0, 0, 100};
    const double strike = 100, barrier = 90, years = 1;
    const fourier::heston h{0.04, 2, 0.05, 0.6, 0};
    const fourier::schobel_zhu s{0.2, 2, 0.15, 0.3, 0};
    struct watched {
        std::string model;
        characteristic law;
    };
    for (const watched& w : {watched{words(h), characteristic_of(h, years)},
                             watched{words(h, ", scheme: full_truncation"), characteristic_of(h, years)},
                             watched{words(s), characteristic_of(s, years)}}) {
        const double truth =
            strike / barrier * fourier_price(w.law, false, barrier * barrier / strike, years, none);
        const price_row row =
            price(market_of(w.model, none),
                  {fmt::format("product: barrier, underlying: A, option: call, strike: {}, maturity: {}, "
                               "direction: down, kind: knock_in, barrier: {}",
                               strike, years, barrier)},
                  1 << 19, 23)
                .at(0);
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        fmt::print("down-and-in call {:.5f} +- {:.5f}, truth {:.5f}\n", row.price, row.standard_error, truth);
        EXPECT_LE(std::abs(row.price - truth), limit * known_error(row) + 1e-3 * truth) << w.model;
    }
}

// A local volatility of 20 / spot makes a Brownian motion, whose up-and-out call follows from the reflection
// principle. One comparison, with an allowance of 1e-3 of the price.
TEST(stochastic_volatility, a_barrier_is_watched_under_local_volatility) {
    const double wide = 20, strike = 100, barrier = 125;
    const auto density = [&](double x) {
        return std::exp(-0.5 * x * x / (wide * wide)) / (wide * std::sqrt(2 * 3.14159265358979323846));
    };
    double truth = 0;
    constexpr int intervals = 1000;
    const double h = (barrier - strike) / intervals;
    for (int i = 0; i <= intervals; ++i) {
        const double s = strike + h * i, weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
        truth += weight * h / 3 * (s - strike) * (density(s - 100) - density(2 * barrier - s - 100));
    }
    std::string spots, volatilities;
    for (int s = 30; s <= 190; s += 2) {
        spots += fmt::format("{}{}", spots.empty() ? "" : ", ", s);
        volatilities += fmt::format("{}{:.12g}", volatilities.empty() ? "" : ", ", wide / s);
    }
    const auto at = [&](const std::string& steps, std::uint64_t paths) {
        const price_row row =
            price(market_of(fmt::format("local_volatility: {{surface: {{local: {{times: [0, 1], spots: [{}], "
                                        "volatilities: [[{}], [{}]]}}}}{}}}",
                                        spots, volatilities, volatilities, steps),
                            {0, 0, 100}),
                  {fmt::format("product: barrier, underlying: A, option: call, strike: {}, maturity: 1, "
                               "direction: up, barrier: {}",
                               strike, barrier)},
                  paths, 29)
                .at(0);
        EXPECT_EQ(row.status, trade_status::priced) << row.message;
        fmt::print("local volatility{:50} {:.5f} +- {:.5f}, truth {:.5f}\n", steps, row.price,
                   row.standard_error, truth);
        return row;
    };
    const price_row usual = at("", 1 << 19);
    EXPECT_LE(std::abs(usual.price - truth), limit * usual.standard_error + 1e-3 * truth);
    std::vector<double> off;
    for (const int steps : {16, 32, 64}) {
        off.push_back(
            truth - at(fmt::format(", steps_per_year: 1, watched_steps_per_year: {}", steps), 1 << 21).price);
    }
    const double order = 0.5 * std::log2(off[0] / off[2]);
    fmt::print("local volatility: order {:.2f}\n", order);
    EXPECT_GE(order, 0.7);
    EXPECT_LE(order, 1.4);
}

INSTANTIATE_TEST_SUITE_P(from, stochastic_volatility, testing::Values(independent_paths), name_of_source);
INSTANTIATE_TEST_SUITE_P(from_points_long, stochastic_volatility,
                         testing::Values(bridged_points, points_in_time), name_of_source);

}  // namespace
}  // namespace tilewalk::stochastic_volatility_test
