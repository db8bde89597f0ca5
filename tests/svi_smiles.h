// SPDX-License-Identifier: Apache-2.0
// A volatility surface of SVI smiles, and a product to test local volatility against it.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/market_text.h"

namespace tilewalk::tests {

// One smile: total variance as a function of x = log(strike / forward).
struct svi {
    double a, b, rho, m, sigma;
    double variance(double x) const { return a + b * (rho * (x - m) + std::hypot(x - m, sigma)); }
};

// Smiles by expiry in years; the skew flattens with time.
inline const std::vector<std::pair<double, svi>> smiles{{0.25, {0.002, 0.045, -0.55, 0.02, 0.12}},
                                                        {0.5, {0.005, 0.06, -0.55, 0.02, 0.15}},
                                                        {1.0, {0.012, 0.08, -0.5, 0.03, 0.2}},
                                                        {2.0, {0.03, 0.105, -0.45, 0.05, 0.28}}};

inline std::string svi_surface() {
    std::string text;
    for (const auto& [years, s] : smiles) {
        text += fmt::format("{}{}: {{a: {}, b: {}, rho: {}, m: {}, sigma: {}}}", text.empty() ? "" : ", ",
                            years, s.a, s.b, s.rho, s.m, s.sigma);
    }
    return "surface: {svi: {" + text + "}}";
}

// An option on the tested asset less the same option on a lognormal asset on the same noise. Its standard
// error is small, and the second option's price is known.
inline const std::string beside_product =
    product_in_words("beside", "An option on one asset less the same on another.",
                     "one: asset, other: asset, option: {type: choice, choices: [call, put]}, strike: "
                     "amount, maturity: date",
                     "on maturity:\n"
                     "    if option == call:\n"
                     "        pay max(spot(one) - strike, 0) - max(spot(other) - strike, 0)\n"
                     "    else:\n"
                     "        pay max(strike - spot(one), 0) - max(strike - spot(other), 0)\n");

}  // namespace tilewalk::tests
