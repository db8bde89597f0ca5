// SPDX-License-Identifier: Apache-2.0
// label: sampled (schemes against truths)
// label: no_sanitizer (hundreds of millions of path-steps)
// Merton, Kou, Bates, variance gamma, normal inverse Gaussian and CGMY against published prices, Fourier
// integrals, a Laplace transform for monitored barriers, and rules for any model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/numerics/gauss_kronrod.h"
#include "engine/numerics/price.h"
#include "engine/verify/closed_forms.h"
#include "kernels/math.h"
#include "tests/by_source.h"
#include "tests/known_error.h"
#include "tests/market_text.h"
#include "tests/model_market.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::jump_models_test {
namespace {

using nlohmann::json;
using tests::dollar_market;
using tests::product_in_words;

const std::string own_products =
    "products:\n" + forward_product +
    product_in_words("late_call", "A call on the last of many dates, on all of which the path stops.",
                     "underlying: asset, strike: amount, dates: schedule",
                     "seen = 0\n"
                     "on dates:\n"
                     "    seen = spot(underlying)\n"
                     "on last(dates):\n"
                     "    pay max(seen - strike, 0)\n") +
    product_in_words("joint_return", "The product of two log returns.",
                     "one: asset, other: asset, maturity: date",
                     "on maturity:\n"
                     "    pay log(spot(one) / 100) * log(spot(other) / 100)\n") +
    product_in_words("own_return", "A log return.", "underlying: asset, maturity: date",
                     "on maturity:\n"
                     "    pay log(spot(underlying) / 100)\n") +
    product_in_words("changed", "The asset in the other currency.",
                     "underlying: asset, maturity: date, of: currency",
                     "on maturity:\n"
                     "    pay spot(underlying) * fx(of)\n");

std::vector<price_row> price(const std::string& market_text, const std::vector<std::string>& trades,
                             std::uint64_t paths, std::uint64_t seed, const std::string& precision = "double",
                             const run_options& options = {}) {
    return priced(own_products, market_text, trades, paths, seed, precision, options);
}

price_row price_one(const std::string& market_text, const std::string& trade, std::uint64_t paths,
                    std::uint64_t seed) {
    return price(market_text, {trade}, paths, seed).at(0);
}

constexpr double rate = 0.03, yield = 0.01;

std::string market_of(const std::string& model) {
    return dollar_market(rate, {{"A", fmt::format("spot: 100, dividend_yield: {}, {}", yield, model)}});
}

const std::string
    merton = "model: {merton: {volatility: 0.2, jump_intensity: 0.8, jump_mean: -0.1, jump_sd: 0.15}}",
    kou =
        "model: {kou: {volatility: {0.5: 0.15, 2.0: 0.18}, jump_intensity: 3, p_up: 0.4, eta_up: "
        "12, eta_down: 8}}",
    bates =
        "model: {bates: {v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6, "
        "jump_intensity: 0.5, jump_mean: -0.15, jump_sd: 0.1, steps_per_year: 50}}",
    variance_gamma = "model: {variance_gamma: {sigma: 0.2, nu: 0.3, theta: -0.15}}",
    nig = "model: {nig: {alpha: 15, beta: -5, delta: 0.5}}",
    cgmy = "model: {cgmy: {C: 0.3, G: 6, M: 12, Y: 0.9}}";
const std::vector<std::string> all_models{merton, kou, bates, variance_gamma, nig, cgmy};

struct judged {
    std::string id;
    double z = 0, lean = 0;  // lean is the allowed bias of the mean of z
};

struct scores {
    double mean = 0, mean_square = 0, lean = 0, worst = 0;
    std::size_t cases = 0;
};

scores scores_of(const std::vector<judged>& all, double shift = 0, double small = 1) {
    scores s;
    s.cases = all.size();
    const double n = static_cast<double>(all.size());
    for (const judged& j : all) {
        const double z = (j.z + shift) * small;
        s.mean += z / n;
        s.mean_square += z * z / n;
        s.lean += j.lean / n;
        if (std::abs(z) > std::abs(s.worst)) s.worst = z;
    }
    return s;
}

bool pass_mean(const scores& s) {
    return std::abs(s.mean) <= s.lean + limit / std::sqrt(static_cast<double>(s.cases));
}
bool pass_square(const scores& s) {
    return std::abs(s.mean_square - 1) <= limit * std::sqrt(2 / static_cast<double>(s.cases));
}

// An FNV-1a hash of the case's name, so that cases share no random number.
std::uint64_t seed_of(const std::string& name) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

json published() {
    const std::string folder = std::string(TILEWALK_SOURCE_DIR) + "/tests/data/reference/";
    json all = json::array();
    for (const char* file : {"jump_levy.json", "asian.json"}) {
        const json read = json::parse(std::ifstream(folder + file));
        for (const json& c : read.at("cases")) all.push_back(c);
    }
    return all;
}

std::string market_of_case(const json& model) {
    json own = model;
    for (const char* key : {"type", "spot", "rate", "dividend_yield"}) own.erase(key);
    std::string text;
    for (const auto& [key, value] : own.items())
        text += (text.empty() ? "" : ", ") + key + ": " + value.dump();
    return dollar_market(
        model.at("rate").dump(),
        {{"A", fmt::format("spot: {}, dividend_yield: {}, model: {{{}: {{{}}}}}", model.at("spot").dump(),
                           model.at("dividend_yield").dump(), model.at("type").get<std::string>(), text)}});
}

std::string trade_of(const json& product) {
    const std::string option = product.at("option");
    if (product.at("type") == "european") {
        return fmt::format("product: european, underlying: A, option: {}, strike: {}, maturity: {}", option,
                           product.at("strike").dump(), product.at("maturity").dump());
    }
    const json& fixings = product.at("fixings");
    const double first = fixings.at("first"), last = fixings.at("last");
    const int count = fixings.at("count");
    std::string times;
    for (int i = 0; i < count; ++i) {
        times += fmt::format("{}{}", i == 0 ? "" : ", ",
                             i + 1 == count ? last : first + (last - first) * i / (count - 1));
    }
    return product.at("strike_type") == "fixed"
               ? fmt::format("product: asian, underlying: A, option: {}, strike: {}, averaging_dates: [{}]",
                             option, product.at("strike").dump(), times)
               : fmt::format(
                     "product: asian, underlying: A, option: {}, averaging_dates: [{}], "
                     "strike_dates: [{}]",
                     option, product.at("maturity").dump(), times);
}

// A right engine misses one of about 120 cases once in 1,200 times, the mean of z once in 150,000, and the
// mean of z^2, chi-squared with as many degrees, once in 17,000.
TEST(jump_models, published_prices_are_met_and_lean_nowhere) {
    std::vector<judged> all;
    std::map<std::string, int> by_model;
    for (const json& c : published()) {
        const std::string model = c.at("model").at("type"), type = c.at("product").at("type");
        const bool is_ours =
            model == "merton" || model == "kou" || model == "variance_gamma" || model == "nig";
        if (!is_ours || (type != "european" && type != "asian")) continue;
        const std::uint64_t paths = type == "asian" ? 1 << 17 : 1 << 20;
        const std::string id = c.at("id");
        const price_row row =
            price_one(market_of_case(c.at("model")), trade_of(c.at("product")), paths, seed_of(id));
        ASSERT_EQ(row.status, trade_status::priced) << id << ": " << row.message;
        const double value = c.at("value"), error = c.at("error");
        EXPECT_LE(std::abs(row.price - value), limit * known_error(row) + error)
            << id << ": " << row.price << " +- " << row.standard_error << ", published " << value;
        EXPECT_LE(row.standard_error, 4e-4 * c.at("model").at("spot").get<double>()) << id;
        all.push_back({id, (row.price - value) / row.standard_error,
                       error / row.standard_error + 0.5 / std::sqrt(row.effective_hits)});
        ++by_model[model + " " + type];
    }
    for (const auto& [name, cases] : by_model) fmt::print("{:25}{:4} cases\n", name, cases);
    ASSERT_EQ(by_model["merton european"], 86);
    ASSERT_EQ(by_model["variance_gamma european"], 27);
    const scores s = scores_of(all);
    fmt::print("{} cases: mean z {:.3f}, mean z squared {:.3f}, worst z {:.2f}\n", s.cases, s.mean,
               s.mean_square, s.worst);
    EXPECT_TRUE(pass_mean(s)) << s.mean;
    EXPECT_TRUE(pass_square(s)) << s.mean_square;
    EXPECT_FALSE(pass_mean(scores_of(all, 1)));
    EXPECT_FALSE(pass_square(scores_of(all, 0, 1.5)));
}

using complex = std::complex<double>;
using exponent = std::function<complex(complex)>;  // log E[exp(i u x)] at a time

// Lewis (2001): a call through the characteristic function of x = log(spot / forward) on the line -i / 2, by
// Simpson's rule with 400,000 intervals of 0.01.
double call_by_fourier(const exponent& log_of, double strike, double years) {
    const double forward = 100 * std::exp((rate - yield) * years), k = std::log(forward / strike);
    constexpr int intervals = 400'000;
    constexpr double h = 0.01;
    double sum = 0;
    for (int i = 0; i <= intervals; ++i) {
        const double u = h * i, weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight * std::exp(complex(0, u * k) + log_of(complex(u, -0.5))).real() / (u * u + 0.25);
    }
    return std::exp(-rate * years) * (forward - std::sqrt(forward * strike) / std::numbers::pi * sum * h / 3);
}

const complex i_unit(0, 1);

complex diffusion(complex u, double variance) {
    return -0.5 * variance * (i_unit * u + u * u);
}

complex normal_jumps(complex u, double intensity, double mean, double sd) {
    const double growth = std::exp(mean + 0.5 * sd * sd) - 1;
    return intensity * (std::exp(i_unit * u * mean - 0.5 * sd * sd * u * u) - 1.0 - i_unit * u * growth);
}

// Heston's transform in the form of Albrecher and others (2007), whose logarithm crosses no branch cut.
complex heston(complex u, double years, double v0, double kappa, double theta, double sigma, double rho) {
    const complex b = kappa - rho * sigma * i_unit * u,
                  d = std::sqrt(b * b + sigma * sigma * (i_unit * u + u * u)), g = (b - d) / (b + d),
                  fallen = std::exp(-d * years);
    return kappa * theta / (sigma * sigma) *
               ((b - d) * years - 2.0 * std::log((1.0 - g * fallen) / (1.0 - g))) +
           v0 * (b - d) / (sigma * sigma) * (1.0 - fallen) / (1.0 - g * fallen);
}

struct with_exponent {
    std::string model;
    std::function<complex(complex u, double years)> log_of;
};

const std::vector<with_exponent>& exponents() {
    static const std::vector<with_exponent> all{
        {merton,
         [](complex u, double t) { return diffusion(u, 0.04 * t) + t * normal_jumps(u, 0.8, -0.1, 0.15); }},
        {kou,
         [](complex u, double t) {
             const double variance =
                 t <= 0.5 ? 0.15 * 0.15 * t
                          : 0.15 * 0.15 * 0.5 + (0.18 * 0.18 * 2 - 0.15 * 0.15 * 0.5) / 1.5 * (t - 0.5);
             const double growth = 0.4 * 12 / 11.0 + 0.6 * 8 / 9.0 - 1;
             return diffusion(u, variance) + 3 * t *
                                                 (0.4 * 12.0 / (12.0 - i_unit * u) +
                                                  0.6 * 8.0 / (8.0 + i_unit * u) - 1.0 - i_unit * u * growth);
         }},
        {bates,
         [](complex u, double t) {
             return heston(u, t, 0.04, 2, 0.05, 0.4, -0.6) + t * normal_jumps(u, 0.5, -0.15, 0.1);
         }},
        {variance_gamma,
         [](complex u, double t) {
             const double omega = std::log(1 + 0.15 * 0.3 - 0.5 * 0.04 * 0.3) / 0.3;
             return i_unit * u * omega * t -
                    t / 0.3 * std::log(1.0 + 0.15 * 0.3 * i_unit * u + 0.5 * 0.04 * 0.3 * u * u);
         }},
        {nig,
         [](complex u, double t) {
             const double gamma = std::sqrt(200.0), omega = 0.5 * (std::sqrt(225.0 - 16.0) - gamma);
             const complex tilted = -5.0 + i_unit * u;
             return t * (i_unit * u * omega + 0.5 * (gamma - std::sqrt(225.0 - tilted * tilted)));
         }},
        {cgmy,
         [](complex u, double t) {
             const auto jumps = [](complex z) {
                 return 0.3 * std::tgamma(-0.9) *
                        (std::pow(12.0 - z, 0.9) - std::pow(12.0, 0.9) + std::pow(6.0 + z, 0.9) -
                         std::pow(6.0, 0.9));
             };
             return t * (jumps(i_unit * u) - i_unit * u * jumps(1));
         }},
    };
    return all;
}

TEST(jump_models, the_fourier_integral_gives_black) {
    for (const double strike : {70.0, 100.0, 140.0}) {
        const double years = 0.7, forward = 100 * std::exp((rate - yield) * years);
        EXPECT_NEAR(call_by_fourier([&](complex u) { return diffusion(u, 0.09 * years); }, strike, years),
                    truth::black(truth::side::call, forward, strike, 0.09 * years, std::exp(-rate * years)),
                    1e-9);
    }
}

class jump_models : public by_source {};

// 6 models, 4 prices in one step and 2 after 60 dates: 36 comparisons, one false alarm in 4,000. The
// allowance of a tenth of a cent includes the error of Bates's steps of a fiftieth of a year.
TEST_P(jump_models, calls_are_those_of_the_characteristic_function) {
    std::vector<judged> all;
    std::uint64_t seed = 100;
    for (const with_exponent& m : exponents()) {
        std::vector<std::string> trades;
        std::vector<double> truths;
        for (const double years : {0.1, 1.5}) {
            const auto at = [&](complex u) { return m.log_of(u, years); };
            for (const double strike : {90.0, 110.0}) {
                trades.push_back(
                    fmt::format("product: european, underlying: A, strike: {}, maturity: {}", strike, years));
                truths.push_back(call_by_fourier(at, strike, years));
            }
            trades.push_back(
                fmt::format("product: late_call, underlying: A, strike: 100, dates: {{start: "
                            "0, end: {}, count: 60}}",
                            years));
            truths.push_back(call_by_fourier(at, 100, years));
        }
        const auto rows = price(market_of(m.model), trades, 1 << 18, ++seed);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const price_row& row = rows[i];
            ASSERT_EQ(row.status, trade_status::priced) << row.message;
            const double allowance = m.model == bates ? 1e-3 : 1e-8;
            EXPECT_LE(std::abs(row.price - truths[i]), chance_of(row, limit) + allowance)
                << m.model << "\n"
                << trades[i] << ": " << row.price << " +- " << row.standard_error << ", truth " << truths[i];
            const double errors = (row.price - truths[i]) / row.standard_error;
            all.push_back({trades[i], normal_of_errors(errors, row, row.standard_error),
                           allowance / row.standard_error});
        }
    }
    const scores s = scores_of(all);
    fmt::print("{} calls: mean z {:.3f}, mean z squared {:.3f}, worst z {:.2f}\n", s.cases, s.mean,
               s.mean_square, s.worst);
}

double gamma_probability(double shape, double x) {
    double term = 1 / shape, sum = term;
    for (int n = 1; n < 500; ++n) sum += term *= x / (shape + n);
    return sum * std::exp(shape * std::log(x) - x - std::lgamma(shape));
}

// Without volatility the asset falls with the gamma clock g, log A = drift - g / 2, so a digital shows the
// clock's law. 6 shapes from 0.01 to 50 and 3 levels: 18 comparisons, one false alarm in 8,000.
TEST(jump_models, the_clock_of_variance_gamma_is_gamma) {
    const double nu = 0.5, drift = std::log(1 + 0.5 * nu) / nu;
    std::vector<std::string> trades;
    std::vector<double> truths;
    for (const double shape : {0.01, 0.3, 1.0, 2.0, 6.0, 50.0}) {
        for (const double deviations : {-0.7, 0.0, 1.0}) {
            const double level = std::max(shape + deviations * std::sqrt(shape), 0.3 * shape),
                         years = shape * nu,
                         strike = 100 * std::exp((rate - yield + drift) * years - 0.5 * nu * level);
            trades.push_back(fmt::format(
                "product: digital, underlying: A, option: call, strike: {}, payout: 1, maturity: {}", strike,
                years));
            truths.push_back(std::exp(-rate * years) * gamma_probability(shape, level));
        }
    }
    const auto rows =
        price(market_of("model: {variance_gamma: {sigma: 0, nu: 0.5, theta: -0.5}}"), trades, 1 << 20, 12);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
        EXPECT_LE(std::abs(rows[i].price - truths[i]), limit * rows[i].standard_error)
            << trades[i] << ": " << rows[i].price << " +- " << rows[i].standard_error << ", truth "
            << truths[i];
    }
}

// 6 models, 5 dates and a path of twelve, in double and in single: 72 comparisons, one false alarm in 2,000.
TEST(jump_models, the_discounted_asset_is_a_martingale) {
    const std::vector<double> times{0.01, 0.5, 1, 5, 20};
    std::uint64_t seed = 200;
    for (const std::string& model : all_models) {
        std::vector<std::string> trades;
        for (const double t : times)
            trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", t));
        trades.emplace_back(
            "product: late_call, underlying: A, strike: 0, dates: {start: 0, end: 1, count: 12}");
        for (const char* precision : {"double", "single"}) {
            const auto rows =
                price(market_of(model), trades, 1 << 18, ++seed, precision, tests::plain_paths());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double truth = 100 * std::exp(-yield * (i < times.size() ? times[i] : 1));
                ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
                EXPECT_LE(std::abs(rows[i].price - truth), limit * rows[i].standard_error + 1e-4)
                    << model << " " << trades[i] << " " << precision << ": " << rows[i].price << " +- "
                    << rows[i].standard_error;
                EXPECT_FALSE(rows[i].thin) << model << " " << trades[i] << ": " << rows[i].effective_hits;
            }
        }
    }
}

// Models whose jumps are switched off: four comparisons, one false alarm in 37,000.
TEST(jump_models, without_jumps_the_inner_model_is_left) {
    const std::string call = "product: european, underlying: A, strike: 105, maturity: 1";
    const double black =
        truth::black(truth::side::call, 100 * std::exp(rate - yield), 105, 0.04, std::exp(-rate));
    const double of_heston =
        call_by_fourier([](complex u) { return heston(u, 1, 0.04, 2, 0.05, 0.4, -0.6); }, 105, 1);
    struct none {
        std::string model;
        double truth, allowance;
    };
    for (const none& n :
         {none{"model: {merton: {volatility: 0.2, jump_intensity: 0, jump_mean: -0.5, jump_sd: 0.5}}", black,
               0},
          none{"model: {merton: {volatility: 0.2, jump_intensity: 5, jump_mean: 0, jump_sd: 0}}", black, 0},
          none{"model: {kou: {volatility: 0.2, jump_intensity: 0, p_up: 0.5, eta_up: 3, eta_down: 2}}", black,
               0},
          none{"model: {bates: {v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -0.6, jump_intensity: 0, "
               "jump_mean: -0.15, jump_sd: 0.1, steps_per_year: 50}}",
               of_heston, 1e-3}}) {
        const price_row row = price_one(market_of(n.model), call, 1 << 20, 300);
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        EXPECT_LE(std::abs(row.price - n.truth), limit * known_error(row) + n.allowance) << n.model;
    }
}

// Accepted parameters give a finite number with its error; others are refused in words. Until `held_until` a
// few thousand paths carry the forward's mean, which must be right: 64 comparisons, one false alarm in 2,300.
TEST(jump_models, extremes_are_finite_or_refused_by_name) {
    struct extreme {
        std::string model;
        double held_until = 0;
        bool is_refused = false;
    };
    const double day = 0.00273;
    const std::vector<double> times{day, 1, 50};
    const std::vector<extreme> all{
        {"merton: {volatility: 0.2, jump_intensity: 300, jump_mean: -0.01, jump_sd: 0.03}", 1},
        {"merton: {volatility: 0, jump_intensity: 0.01, jump_mean: -10, jump_sd: 0}", 50},
        {"merton: {volatility: 5, jump_intensity: 1, jump_mean: 0.1, jump_sd: 1}", day},
        {"merton: {volatility: 0.2, jump_intensity: 10, jump_mean: 10, jump_sd: 5}", 0, true},
        {"kou: {volatility: 0.2, jump_intensity: 0.1, p_up: 1, eta_up: 1.01, eta_down: 1}", 0},
        {"kou: {volatility: 0.2, jump_intensity: 1, p_up: 0.5, eta_up: 1.0000001, eta_down: 1}", 0, true},
        {"kou: {volatility: 0, jump_intensity: 200, p_up: 0.5, eta_up: 1000000, eta_down: 50}", 1},
        {"kou: {volatility: 0.1, jump_intensity: 3, p_up: 0, eta_up: 10, eta_down: 0.5}", day},
        {"bates: {v0: 0, kappa: 0, theta: 0, sigma: 3, rho: -1, jump_intensity: 20, jump_mean: 0.05, "
         "jump_sd: 0.3}",
         day},
        {"variance_gamma: {sigma: 0.2, nu: 0.000001, theta: -0.1}", 50},
        {"variance_gamma: {sigma: 0.2, nu: 100, theta: -0.1}", 1},
        {"variance_gamma: {sigma: 0, nu: 0.2, theta: 4}", 0},
        {"variance_gamma: {sigma: 0, nu: 0.2, theta: 4.9}", 0, true},
        {"variance_gamma: {sigma: 0.1, nu: 0.19, theta: 5}", 0},
        {"nig: {alpha: 0.500001, beta: -0.5, delta: 0.001}", 0},
        {"nig: {alpha: 1000000, beta: -5, delta: 1000}", 50},
        {"nig: {alpha: 10000, beta: -5, delta: 400}", 50},
        {"nig: {alpha: 5, beta: 4, delta: 0.3}", 0},
        {"nig: {alpha: 5, beta: -4.99999999, delta: 1000}", 0, true},
        {"cgmy: {C: 0.000001, G: 0.01, M: 10000, Y: 0.5}", 1},
        {"cgmy: {C: 0.000001, G: 5, M: 10, Y: 1.9999}", 50},
        {"cgmy: {C: 100, G: 5, M: 10, Y: -1}", day},
        {"cgmy: {C: 5, G: 5, M: 5, Y: 0}", 1},
        {"cgmy: {C: 5, G: 10000, M: 10000, Y: 0}", 50},
        {"cgmy: {C: 5, G: 1, M: 3, Y: 1.5}", 0},
        {"cgmy: {C: 1000000, G: 10, M: 10, Y: 0.5}", 0, true},
        {"cgmy: {C: 1, G: 5, M: 1.0000001, Y: -1}", 0, true},
    };
    int held = 0;
    for (const extreme& x : all) {
        const std::string text = market_of("model: {" + x.model + "}");
        if (x.is_refused) {
            try {
                market::parse(text, "extreme.yaml");
                ADD_FAILURE() << x.model << " was read";
            } catch (const error& e) {
                EXPECT_EQ(e.kind(), error_kind::input);
                EXPECT_NE(std::string(e.what()).find("expected"), std::string::npos) << e.what();
            }
            continue;
        }
        std::vector<std::string> trades;
        for (const double t : times) {
            trades.push_back(fmt::format("product: forward, underlying: A, maturity: {}", t));
            trades.push_back(
                fmt::format("product: european, underlying: A, option: put, strike: 90, maturity: {}", t));
        }
        for (const char* precision : {"double", "single"}) {
            const auto rows = price(text, trades, 4096, 77, precision);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const price_row& row = rows[i];
                ASSERT_EQ(row.status, trade_status::priced) << x.model << ": " << row.message;
                EXPECT_TRUE(is_sound(row)) << x.model;
                if (i % 2 == 1) {
                    EXPECT_LE(row.price, 90) << x.model;
                } else if (times[i / 2] <= x.held_until) {
                    ++held;
                    const double truth = 100 * std::exp(-yield * times[i / 2]);
                    EXPECT_LE(std::abs(row.price - truth), limit * known_error(row) + 1e-4 * truth)
                        << x.model << " " << times[i / 2] << " " << precision << ": " << row.price << " +- "
                        << row.standard_error;
                }
            }
        }
    }
    EXPECT_EQ(held, 64);
}

std::string two_assets(const std::string& model) {
    return dollar_market(0, {{"A", "spot: 100, " + model}, {"B", "spot: 100, volatility: 0.3"}},
                         "correlations: [[A, B, 0.7]]");
}

// The mean of z Q(Phi(z)) for a normal z, where Q is the quantile function of log A. By parts it is the mean
// slope of Q: an integral over log A of the normal density at the law's own probability.
double mean_of_normal_times_log(const fourier::characteristic& law) {
    const auto density = [&](double x) {
        const fourier::digital_prices at = fourier::digital(law, std::exp(x));
        const double z = kernels::norm_inv(std::min(at.above, at.below));
        return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    };
    double sum = 0;
    for (double x = -4; x < 3; x += 0.05) sum += analytics::gauss_kronrod(density, x, x + 0.05).value;
    return sum;
}

// E[log A log B] = covariance + E[log A] E[log B]. In jump diffusions only the diffusions are correlated. Six
// comparisons: one false alarm in 25,000.
TEST(jump_models, what_two_assets_share) {
    const double years = 1.5, mean_b = -0.5 * 0.09 * years;
    struct shared {
        std::string model;
        double mean, covariance;
    };
    const double growth = std::exp(-0.1 + 0.5 * 0.15 * 0.15) - 1, shape = years / 0.3,
                 omega = std::log(1 + 0.15 * 0.3 - 0.5 * 0.04 * 0.3) / 0.3,
                 mean_root = std::sqrt(0.3) * std::exp(std::lgamma(shape + 0.5) - std::lgamma(shape)),
                 mean_of_cgmy = 0.3 * (std::tgamma(0.1) * (std::pow(12, -0.1) - std::pow(6, -0.1)) -
                                       std::tgamma(-0.9) * (std::pow(11, 0.9) - std::pow(12, 0.9) +
                                                            std::pow(7, 0.9) - std::pow(6, 0.9)));
    for (const shared& s :
         {shared{merton, (-0.02 + 0.8 * (-0.1 - growth)) * years, 0.7 * 0.2 * 0.3 * years},
          // In one step, variance gamma scales A's noise by the root of the clock.
          shared{variance_gamma, (omega - 0.15) * years, 0.7 * 0.2 * 0.3 * std::sqrt(years) * mean_root},
          // In one step, the correlation is between the normals that CGMY and B draw.
          shared{cgmy, mean_of_cgmy * years,
                 0.7 * 0.3 * std::sqrt(years) *
                     mean_of_normal_times_log(
                         fourier::characteristic_of(fourier::cgmy{0.3, 6, 12, 0.9}, years))}}) {
        const auto rows = price(two_assets(s.model),
                                {"product: joint_return, one: A, other: B, maturity: 1.5",
                                 "product: own_return, underlying: A, maturity: 1.5"},
                                1 << 20, 5);
        const std::vector<double> truths{s.covariance + s.mean * mean_b, s.mean};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_LE(std::abs(rows[i].price - truths[i]), limit * rows[i].standard_error)
                << s.model << ": " << rows[i].price << " +- " << rows[i].standard_error << ", truth "
                << truths[i];
            EXPECT_LE(rows[i].standard_error, 0.01 * std::abs(truths[i])) << s.model;
        }
    }
}

// A euro asset correlated with EURUSD is a martingale once converted into dollars; its forward paid one for
// one in dollars is not. Twelve comparisons: one false alarm in 12,000.
TEST(jump_models, an_asset_of_another_currency_is_worth_its_price) {
    for (const std::string& model : all_models) {
        const std::string text = fmt::format(
            "as_of: 2026-01-15\ncurrencies: {{USD: {{rate: 0.03}}, EUR: {{rate: 0.01}}}}\nassets:\n  A: "
            "{{currency: EUR, spot: 100, dividend_yield: 0.02, {}}}\nfx: {{EURUSD: {{rate: 1.1, volatility: "
            "0.15}}}}\ncorrelations: [[A, EURUSD, -0.6]]\n",
            model);
        const auto rows = price(text,
                                {"product: changed, underlying: A, maturity: 2, of: EUR, currency: USD",
                                 "product: changed, underlying: A, maturity: 0.25, of: EUR, currency: USD"},
                                1 << 18, 6);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            ASSERT_EQ(rows[i].status, trade_status::priced) << rows[i].message;
            EXPECT_LE(std::abs(rows[i].price - 110 * std::exp(-0.02 * (i == 0 ? 2 : 0.25))),
                      limit * rows[i].standard_error)
                << model << ": " << rows[i].price << " +- " << rows[i].standard_error;
        }
    }
}

// Kou and Wang (2003): the Laplace transform of the probability that the log rises to b before t, inverted by
// Gaver-Stehfest with 12 terms.
long double touch_probability(long double volatility, long double intensity, long double p, long double up,
                              long double down, long double b, long double years) {
    const long double variance = volatility * volatility,
                      drift =
                          -variance / 2 - intensity * (p * up / (up - 1) + (1 - p) * down / (down + 1) - 1);
    const auto g = [&](long double x) {
        return x * drift + x * x * variance / 2 +
               intensity * (p * up / (up - x) + (1 - p) * down / (down + x) - 1);
    };
    const auto root = [&](long double alpha, long double low, long double high) {
        for (int i = 0; i < 200; ++i) {
            const long double middle = (low + high) / 2;
            (g(middle) < alpha ? low : high) = middle;
        }
        return (low + high) / 2;
    };
    const auto transform = [&](long double alpha) {
        const long double first = root(alpha, 0, up), second = root(alpha, up, 1e6L);
        return ((up - first) / up * second / (second - first) * std::exp(-b * first) +
                (second - up) / up * first / (second - first) * std::exp(-b * second)) /
               alpha;
    };
    constexpr int terms = 12, half = terms / 2;
    const auto factorial = [](int n) { return std::tgamma(static_cast<long double>(n) + 1); };
    long double sum = 0;
    for (int k = 1; k <= terms; ++k) {
        long double weight = 0;
        for (int j = (k + 1) / 2; j <= std::min(k, half); ++j) {
            weight += std::pow(static_cast<long double>(j), half) * factorial(2 * j) /
                      (factorial(half - j) * factorial(j) * factorial(j - 1) * factorial(k - j) *
                       factorial(2 * j - k));
        }
        sum +=
            ((k + half) % 2 == 0 ? 1 : -1) * weight * transform(k * std::numbers::ln2_v<long double> / years);
    }
    return sum * std::numbers::ln2_v<long double> / years;
}

std::string watched(double steps_per_year) {
    return dollar_market(
        0, {{"A", fmt::format("spot: 100, model: {{kou: {{volatility: 0.2, jump_intensity: 3, p_up: 0.5, "
                              "eta_up: 20, eta_down: 25, watched_steps_per_year: {}}}}}",
                              steps_per_year)}});
}

// Jumps are moved to the grid, so the probability is off by about 0.02 divided by the steps a year; with two
// steps it shows. Three comparisons: one false alarm in 50,000.
TEST(jump_models, a_barrier_is_met_by_jumps_and_between_them) {
    const double truth = static_cast<double>(touch_probability(0.2L, 3, 0.5L, 20, 25, std::log(1.2L), 1));
    struct run {
        double steps;
        std::uint64_t paths;
    };
    for (const run& r : {run{2, 1 << 20}, run{25, 1 << 20}, run{100, 1 << 20}, run{800, 1 << 17}}) {
        const price_row row = price_one(
            watched(r.steps), "product: one_touch, underlying: A, direction: up, barrier: 120, maturity: 1",
            r.paths, 9);
        ASSERT_EQ(row.status, trade_status::priced) << row.message;
        fmt::print("touched on {:4} steps a year: {:.6f} +- {:.6f}, truth {:.6f}\n", r.steps, row.price,
                   row.standard_error, truth);
        const double off = std::abs(row.price - truth);
        if (r.steps == 2) {
            EXPECT_GT(off, limit * known_error(row)) << "can this fail?";
        } else {
            EXPECT_LE(off, limit * known_error(row) + 0.02 / r.steps);
        }
    }
}

TEST(jump_models, pure_jumps_cannot_be_watched_continuously) {
    for (const std::string& model : {variance_gamma, nig, cgmy}) {
        const auto rows =
            price(market_of(model),
                  {"product: one_touch, underlying: A, direction: up, barrier: 120, maturity: 1",
                   "product: barrier, underlying: A, strike: 100, maturity: 1, direction: down, "
                   "barrier: 80, monitoring: discrete, monitoring_dates: [0.5, 1.0]"},
                  4096, 1);
        EXPECT_EQ(rows[0].status, trade_status::failed);
        EXPECT_EQ(rows[0].kind, error_kind::input);
        EXPECT_NE(rows[0].message.find("'A' moves only by jumps"), std::string::npos) << rows[0].message;
        EXPECT_NE(rows[0].message.find("watching_dates"), std::string::npos) << rows[0].message;
        EXPECT_EQ(rows[0].where.line, 4);
        EXPECT_EQ(rows[1].status, trade_status::priced) << rows[1].message;
    }
}

TEST(jump_models, a_parameter_out_of_range_is_named_with_its_place_and_range) {
    struct bad {
        std::string model, message;
    };
    for (const bad& b : {
             bad{"merton: {volatility: 20, jump_intensity: 1, jump_mean: 0, jump_sd: 0.1}",
                 "found the volatility 20, expected one between 0 and 5"},
             bad{"merton: {volatility: 0.2, jump_intensity: -1, jump_mean: 0, jump_sd: 0.1}",
                 "found -1, expected a number between 0 and 1000"},
             bad{"merton: {volatility: 0.2, jump_intensity: 1, jump_mean: 11, jump_sd: 0.1}",
                 "found 11, expected a number between -10 and 10"},
             bad{"merton: {volatility: 0.2, jump_intensity: 1, jump_mean: 0, jump_sd: -0.1}",
                 "found -0.1, expected a number between 0 and 5"},
             bad{"merton: {volatility: 0.2, jump_intensity: 1, jump_mean: 0}", "jump_sd"},
             bad{"merton: {volatility: 0.2, jump_intensty: 1, jump_mean: 0, jump_sd: 0.1}",
                 "did you mean 'jump_intensity'"},
             bad{"merton: {volatility: 0.2, jump_intensity: 1, jump_mean: 3, jump_sd: 0.1}",
                 "expected at most 5"},
             bad{"kou: {volatility: 0.2, jump_intensity: 1, p_up: 1.5, eta_up: 10, eta_down: 10}",
                 "found 1.5, expected a number between 0 and 1"},
             bad{"kou: {volatility: 0.2, jump_intensity: 1, p_up: 0.5, eta_up: 1, eta_down: 10}",
                 "found 1, expected a number above 1 and at most 1e+06"},
             bad{"kou: {volatility: 0.2, jump_intensity: 1, p_up: 0.5, eta_up: 10, eta_down: 0}",
                 "found 0, expected a number above 0 and at most 1e+06"},
             bad{"kou: {volatility: 0.2, jump_intensity: 1, p_up: 0.5, eta_up: 10, eta_down: 10, "
                 "watched_steps_per_year: 0.5}",
                 "found 0.5, expected a number between 1 and 1e+05"},
             bad{"bates: {v0: 0.04, kappa: 2, theta: 0.05, sigma: 0.4, rho: -1.6, jump_intensity: 1, "
                 "jump_mean: 0, jump_sd: 0.1}",
                 "found -1.6, expected a number between -1 and 1"},
             bad{"variance_gamma: {sigma: -0.2, nu: 0.3, theta: 0}",
                 "found -0.2, expected a number between 0 and 5"},
             bad{"variance_gamma: {sigma: 0.2, nu: 0, theta: 0}",
                 "found 0, expected a number between 1e-06 and 100"},
             bad{"variance_gamma: {sigma: 0.2, nu: 0.5, theta: 2}",
                 "found theta nu + sigma^2 nu / 2 = 1.01, with which the asset has no mean; expected it "
                 "below 1"},
             bad{"nig: {alpha: 0.4, beta: 0, delta: 1}",
                 "found 0.4, expected a number above 0.5 and at most 1e+06"},
             bad{"nig: {alpha: 5, beta: 4.5, delta: 1}",
                 "found 4.5, expected a number above -5 and at most 4"},
             bad{"nig: {alpha: 5, beta: 0, delta: 0}", "found 0, expected a number above 0 and at most 1000"},
             bad{"cgmy: {C: 0, G: 5, M: 10, Y: 0.5}", "found 0, expected a number between 1e-06 and 1e+06"},
             bad{"cgmy: {C: 1, G: 0, M: 10, Y: 0.5}", "found 0, expected a number between 0.01 and 10000"},
             bad{"cgmy: {C: 1, G: 5, M: 1, Y: 0.5}", "found 1, expected a number above 1 and at most 10000"},
             bad{"cgmy: {C: 1, G: 5, M: 10, Y: 2}", "found 2, expected a number at least -1 and below 2"},
             bad{"cgmy: {C: 1, G: 5, M: 10, Y: -2}", "found -2, expected a number at least -1 and below 2"},
             bad{"cgmy: {C: 1, G: 5, M: 10}", "Y"},
             bad{"cgmy: {C: 1, G: 5, M: 10, Y: 0.5, nu: 1}", "nu"},
             bad{"cgmy: {C: 5, G: 3, M: 3, Y: 1.9}", "expected at most 5"},
         }) {
        try {
            market::parse(market_of("model: {" + b.model + "}"), "bad.yaml");
            ADD_FAILURE() << b.model << " was read";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input);
            EXPECT_NE(std::string(e.what()).find(b.message), std::string::npos) << e.what();
            EXPECT_EQ(e.where().file, "bad.yaml") << b.model;
            EXPECT_EQ(e.where().line, 4) << b.model;
        }
    }
}

TEST(jump_models, the_worked_book_is_priced) {
    run_options options;
    options.overrides.paths = 4096;
    options.overrides.device = "cpu";
    const book trades = book::load(std::string(TILEWALK_SOURCE_DIR) + "/configs/books/jumps.yaml");
    for (const price_row& row : engine().price(trades, options).rows)
        EXPECT_EQ(row.status, trade_status::priced) << row.trade << ": " << row.message;
    std::string models;
    for (const trade_plan& plan : engine().explain(trades, *trades.market(), options)) {
        for (const std::string& m : plan.models) models += m + "\n";
    }
    for (const char* name : {"merton", "kou", "bates", "variance_gamma", "nig", "cgmy"})
        EXPECT_NE(models.find(std::string(": ") + name + ","), std::string::npos) << name;
}

INSTANTIATE_TEST_SUITE_P(from, jump_models, testing::Values(independent_paths), name_of_source);
INSTANTIATE_TEST_SUITE_P(from_points_long, jump_models, testing::Values(bridged_points, points_in_time),
                         name_of_source);

}  // namespace
}  // namespace tilewalk::jump_models_test
