// SPDX-License-Identifier: Apache-2.0
// Calls and puts under models with a known characteristic function: prices are integrals of it, and
// sensitivities are to every parameter of the model.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/numerics/price.h"
#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

struct parameter {
    std::string name;
    double value;
};
using law_of = std::function<fourier::characteristic(const std::vector<double>& values, double years)>;

struct model_market {
    std::string model;
    std::vector<parameter> parameters;
    law_of law;
    std::string scheme;  // further settings of the model, as YAML
    double spot, yield, rate;

    model_market(dice& d, std::string name, std::vector<parameter> drawn, law_of how, std::string more = "")
        : model(std::move(name)),
          parameters(std::move(drawn)),
          law(std::move(how)),
          scheme(std::move(more)),
          spot(std::exp(d.between(std::log(0.01), std::log(10000.0)))),
          yield(d.between(0, 0.05)),
          rate(d.between(-0.01, 0.09)) {}

    std::string text() const {
        std::string all;
        for (const parameter& p : parameters)
            all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", p.name, p.value);
        return fmt::format(
            "market:\n  as_of: 2026-01-15\n  currencies: {{USD: {{rate: {}}}}}\n"
            "  assets:\n    A: {{currency: USD, spot: {}, dividend_yield: {}, model: {{{}: {{{}{}}}}}}}\n",
            rate, spot, yield, model, all, scheme);
    }
    std::string key_of(const parameter& p) const { return "A." + model + "." + p.name; }
    movable_numbers numbers() const {
        movable_numbers out{
            {"A.spot", step_of_size * spot}, {"A.dividend_yield", step_of_rate}, {"USD.rate", step_of_rate}};
        for (const parameter& p : parameters) out.push_back({key_of(p), step_of_size * std::abs(p.value)});
        return out;
    }
    model_market moved(const market_move& by) const {
        model_market out = *this;
        out.spot = spot * by.forwards + by.shift_of("A.spot");
        out.yield += by.shift_of("A.dividend_yield");
        out.rate += by.shift_of("USD.rate");
        for (parameter& p : out.parameters) p.value += by.shift_of(key_of(p));
        return out;
    }
    double price(truth::side option, double strike, double years) const {
        std::vector<double> values;
        for (const parameter& p : parameters) values.push_back(p.value);
        const double forward = spot * std::exp((rate - yield) * years);
        const fourier::option_prices of = fourier::vanilla(law(values, years), strike / forward);
        return std::exp(-rate * years) * forward * (option == truth::side::call ? of.call : of.put);
    }
};

known_trade option_in(dice& d, const model_market& m, double deviation, double most_years = 4) {
    const truth::side option = any_side(d);
    const double years = d.between(0.25, most_years);
    const double strike =
        m.spot * std::exp((m.rate - m.yield) * years + d.between(-1, 1) * deviation * std::sqrt(years));
    return known_in(
        m,
        one_trade(fmt::format("product: european, option: {}, strike: {}, maturity: {}", name_of(option),
                              strike, years)),
        [=](const model_market& now) { return now.price(option, strike, years); }, m.spot);
}

template <class F>
law_of law_by(const F& of_values) {
    return [of_values](const std::vector<double>& v, double years) {
        return fourier::characteristic_of(of_values(v), years);
    };
}

// For models with a time-stepping error: enough steps to make it far smaller than the random error.
constexpr const char* small_steps = ", steps_per_year: 48";

std::vector<parameter> drawn_heston(dice& d) {
    return {{"v0", d.between(0.02, 0.15)},
            {"kappa", d.between(1, 3)},
            {"theta", d.between(0.02, 0.15)},
            {"sigma", d.between(0.1, 0.4)},
            {"rho", d.between(-0.9, -0.1)}};
}

std::vector<parameter> drawn_jumps(dice& d) {
    return {{"jump_intensity", d.between(0.2, 2)},
            {"jump_mean", d.between(-0.2, -0.02)},
            {"jump_sd", d.between(0.05, 0.2)}};
}

std::vector<parameter> joined(std::vector<parameter> a, const std::vector<parameter>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

known_trade draw_merton(dice& d) {
    const double volatility = d.between(0.1, 0.4);
    return option_in(
        d, {d, "merton", joined({{"volatility", volatility}}, drawn_jumps(d)), law_by([](const auto& v) {
                return fourier::merton{v[0], {v[1], v[2], v[3]}};
            })},
        volatility);
}

known_trade draw_kou(dice& d) {
    const double volatility = d.between(0.1, 0.4);
    return option_in(d,
                     {d,
                      "kou",
                      {{"volatility", volatility},
                       {"jump_intensity", d.between(0.2, 2)},
                       {"p_up", d.between(0.2, 0.8)},
                       {"eta_up", d.between(8, 20)},
                       {"eta_down", d.between(5, 20)}},
                      law_by([](const auto& v) {
                          return fourier::kou{v[0], v[1], v[2], v[3], v[4]};
                      })},
                     volatility);
}

known_trade draw_heston(dice& d) {
    return option_in(d,
                     {d, "heston", drawn_heston(d), law_by([](const auto& v) {
                          return fourier::heston{v[0], v[1], v[2], v[3], v[4]};
                      }),
                      small_steps},
                     0.25, 1);
}

known_trade draw_bates(dice& d) {
    const std::vector<parameter> variance = drawn_heston(d);
    return option_in(d,
                     {d, "bates", joined(variance, drawn_jumps(d)), law_by([](const auto& v) {
                          return fourier::bates{{v[0], v[1], v[2], v[3], v[4]}, {v[5], v[6], v[7]}};
                      }),
                      small_steps},
                     0.25, 1);
}

known_trade draw_schobel_zhu(dice& d) {
    return option_in(d,
                     {d,
                      "schobel_zhu",
                      {{"vol0", d.between(0.15, 0.4)},
                       {"kappa", d.between(1, 4)},
                       {"theta", d.between(0.15, 0.4)},
                       {"sigma", d.between(0.05, 0.3)},
                       {"rho", d.between(-0.9, -0.1)}},
                      law_by([](const auto& v) {
                          return fourier::schobel_zhu{v[0], v[1], v[2], v[3], v[4]};
                      }),
                      small_steps},
                     0.25, 1);
}

known_trade draw_variance_gamma(dice& d) {
    return option_in(
        d,
        {d,
         "variance_gamma",
         {{"sigma", d.between(0.1, 0.4)}, {"nu", d.between(0.1, 0.5)}, {"theta", d.between(-0.3, -0.05)}},
         law_by([](const auto& v) {
             return fourier::variance_gamma{v[0], v[1], v[2]};
         })},
        0.25);
}

known_trade draw_nig(dice& d) {
    return option_in(d,
                     {d,
                      "nig",
                      {{"alpha", d.between(8, 25)}, {"beta", d.between(-6, 2)}, {"delta", d.between(0.3, 1)}},
                      law_by([](const auto& v) {
                          return fourier::nig{v[0], v[1], v[2]};
                      })},
                     0.2);
}

known_trade draw_cgmy(dice& d) {
    return option_in(d,
                     {d,
                      "cgmy",
                      {{"C", d.between(0.2, 1)},
                       {"G", d.between(3, 8)},
                       {"M", d.between(5, 12)},
                       {"Y", d.between(0.3, 1.2)}},
                      law_by([](const auto& v) {
                          return fourier::cgmy{v[0], v[1], v[2], v[3]};
                      })},
                     0.3);
}

}  // namespace tilewalk::verify
