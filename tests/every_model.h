// SPDX-License-Identifier: Apache-2.0
// A book with an asset for every model of assets, each also beside others in a basket of three, and a
// currency with stochastic rates for every rate model. A model of a catalogue that is missing here makes
// every test of the book fail, so that no model goes untested on either back end.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "tests/market_text.h"

namespace tilewalk {

// The YAML of an asset for each model, by the model's name. Throws if a model of the catalogue is missing.
inline const std::map<std::string, std::string, std::less<>>& every_model() {
    static const std::map<std::string, std::string, std::less<>> all{
        {"black_scholes", "volatility: {0.5: 0.2, 2.0: 0.22}"},
        {"heston", "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}}"},
        {"schobel_zhu", "model: {schobel_zhu: {vol0: 0.2, kappa: 2, theta: 0.22, sigma: 0.3, rho: -0.5}}"},
        {"local_volatility",
         "model: {local_volatility: {surface: {svi: {0.5: {a: 0.005, b: 0.06, rho: -0.55, m: 0.02, sigma: "
         "0.15}, 1.0: "
         "{a: 0.012, b: 0.08, rho: -0.5, m: 0.03, sigma: 0.2}}}, steps_per_year: 25}}"},
        {"cev", "model: {cev: {volatility: 2, beta: 0.5}}"},
        {"sabr", "model: {sabr: {alpha: 2, beta: 0.5, rho: -0.4, nu: 0.6}}"},
        {"stochastic_local_volatility",
         "model: {stochastic_local_volatility: {surface: {svi: {0.5: {a: 0.005, b: 0.06, rho: -0.55, m: "
         "0.02, sigma: 0.15}, 1.0: {a: 0.012, b: 0.08, rho: -0.5, m: 0.03, sigma: 0.2}}}, heston: {v0: 0.04, "
         "kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}, particles: 1024, steps_per_year: 25}}"},
        {"merton",
         "model: {merton: {volatility: 0.18, jump_intensity: 0.5, jump_mean: -0.1, jump_sd: 0.12}}"},
        {"kou", "model: {kou: {volatility: 0.18, jump_intensity: 1, p_up: 0.4, eta_up: 12, eta_down: 8}}"},
        {"bates",
         "model: {bates: {v0: 0.04, kappa: 2, theta: 0.04, sigma: 0.4, rho: -0.6, jump_intensity: 0.3, "
         "jump_mean: -0.1, "
         "jump_sd: 0.1}}"},
        {"variance_gamma", "model: {variance_gamma: {sigma: 0.2, nu: 0.3, theta: -0.1}}"},
        {"rough_bergomi",
         "model: {rough_bergomi: {xi: {0.25: 0.04, 1.0: 0.05}, eta: 1.9, rho: -0.9, hurst: 0.07, "
         "steps_per_year: 250}}"},
        {"nig", "model: {nig: {alpha: 14, beta: -4, delta: 0.6}}"},
        {"cgmy", "model: {cgmy: {C: 0.3, G: 6, M: 12, Y: 0.9}}"},
    };
    for (const auto& entry : models::catalogue()) {
        if (!all.contains(entry.name)) {
            throw std::logic_error("tests/every_model.h has no asset of the model " +
                                   std::string(entry.name));
        }
    }
    return all;
}

// The YAML of a currency's rates for each rate model, by the model's name. Throws if one is missing.
inline const std::map<std::string, std::string, std::less<>>& every_rate_model() {
    static const std::map<std::string, std::string, std::less<>> all{
        {"hull_white", "model: {hull_white: {mean_reversion: 0.05, volatility: {0.5: 0.01, 30: 0.015}}}"},
        {"g2", "model: {g2: {a: 0.5, sigma: 0.01, b: 0.04, eta: {0.5: 0.01, 30: 0.012}, rho: -0.7}}"},
        {"forward_market",
         "model: {forward_market: {tenor: 1, until: 15, volatility: {0.5: 0.3, 30: 0.25}, displacement: "
         "0.02, correlation_decay: 0.1, factors: 3}}"},
    };
    for (const auto& entry : models::rate_catalogue()) {
        if (!all.contains(entry.name)) {
            throw std::logic_error("tests/every_model.h has no currency of the model " +
                                   std::string(entry.name));
        }
    }
    return all;
}

// The book. The ids of a model's trades begin with its name: heston_asian, heston_paid_in_eur,
// heston_barrier.
inline std::string book_of_every_model() {
    static const std::vector<std::string> others{"AUD", "CAD", "CHF", "GBP", "JPY", "NOK", "SEK"};
    std::string currencies = "USD: {rate: 0.03}, EUR: {rate: 0.02}",
                pairs = "EURUSD: {rate: 1.1, volatility: 0.1}", assets, trades, correlations;
    std::size_t next = 0;
    for (const auto& [model, moves] : every_rate_model()) {
        const std::string currency = others.at(next++), pair = currency + "USD", rate = currency + ".rate";
        currencies += ", " + currency + ": {rate: 0.025, " + moves + "}";
        pairs += ", " + pair + ": {rate: 0.8, volatility: 0.1}";
        correlations += "    - [" + rate + ", " + pair + ", 0.2]\n";
        for (const char* const of_asset : {"black_scholes", "heston"}) {
            const std::string name = std::string(of_asset) + "_" + model;
            assets += "    " + name + ": {currency: " + currency + ", spot: 100, dividend_yield: 0.01, " +
                      every_model().find(of_asset)->second + "}\n";
            correlations += "    - [" + name + ", " + rate + ", -0.3]\n";
            trades += "  - {id: rates_" + name + ", product: asian, underlying: " + name +
                      ", strike: 100, averaging_dates: {start: 0, end: 1, count: 6}" +
                      (name.starts_with("heston") ? "" : ", currency: USD") + "}\n";
        }
        trades += "  - {id: rates_" + model + "_calls, product: swap_rate_calls, currency: " + currency +
                  ", dates: {start: 0, end: 2, count: 4}}\n";
        trades += "  - {id: rates_" + model + "_barrier, product: barrier, underlying: black_scholes_" +
                  model + ", strike: 100, maturity: 0.5, direction: down, barrier: 85}\n";
    }
    std::string text = "market:\n  as_of: 2026-01-15\n  currencies: {" + currencies + "}\n  fx: {" + pairs +
                       "}\n  assets:\n" + assets;
    std::vector<std::string> basket;
    for (const auto& [model, moves] : every_model()) {
        text += "    " + model + ": {currency: USD, spot: 100, dividend_yield: 0.01, " + moves + "}\n";
        correlations += "    - [" + model + ", EURUSD, 0.1]\n";
        const std::string asian = ", product: asian, underlying: " + model +
                                  ", strike: 100, averaging_dates: {start: 0, end: 1, count: 6}";
        trades += "  - {id: " + model + "_asian" + asian + "}\n";
        trades += "  - {id: " + model + "_paid_in_eur" + asian + ", currency: EUR}\n";
        basket.push_back(model);
        if (basket.size() == 3) {
            trades += "  - {id: basket_with_" + model + ", product: basket, basket: [" + basket[0] + ", " +
                      basket[1] + ", " + basket[2] + "], weights: 0.33, strike: 98, maturity: 0.5}\n";
            basket.erase(basket.begin(), basket.begin() + 2);  // the last asset is in the next basket too
        }
        if (model == "variance_gamma" || model == "nig" || model == "cgmy") continue;
        trades += "  - {id: " + model + "_barrier, product: barrier, underlying: " + model +
                  ", strike: 100, maturity: 0.5, direction: down, barrier: 85}\n";
    }
    return text + "  correlations:\n" + correlations + "products:\n" +
           tests::product_in_words("swap_rate_calls", "Calls on the swap rate of ten years.",
                                   "dates: schedule",
                                   "on dates:\n"
                                   "    pay max(constant_maturity_rate(currency, 10, 1) - 0.02, 0)\n") +
           "trades:\n" + trades;
}

}  // namespace tilewalk
