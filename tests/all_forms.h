// SPDX-License-Identifier: Apache-2.0
// A market with every form in which a market writes numbers, and a book that looks at all of them.
#pragma once

#include <string>

namespace tilewalk::tests {

// A market text with every form in which a market writes numbers, except scenarios, which need a file.
inline const std::string all_forms = R"(as_of: 2026-01-15
currencies:
  USD: {rate: 0.03, model: {hull_white: {mean_reversion: 0.05, volatility: {1.0: 0.01, 30.0: 0.012}}}}
  EUR: {zero_rates: {0.5: 0.02, 2027-01-15: 0.021}, day_count: ACT/360}
  GBP:
    discount_factors: {1.0: 0.96, 2028-01-15: 0.92}
    model:
      forward_market:
        dates: [1.0, 2.0, 3.0, 4.0]
        loadings: [[0.15, 0.05], [0.12, 0.06]]
  CHF: {rate: 0.03, model: {forward_market: {tenor: 1, until: 4, volatility: [0.2, 0.19, 0.18]}}}
  JPY: {rate: 0.01, model: {g2: {a: 0.5, sigma: 0.01, b: 0.04, eta: 0.01, rho: -0.7}}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}
  BETA:
    currency: EUR
    spot: 50
    volatility: {0.5: 0.2, 2027-07-15: 0.25}
    dividend_yield: {zero_rates: {1.0: 0.01}}
    dividends:
      - {date: 1.5, proportion: 0.01}
      - {date: 2026-06-01, amount: 0.5}
      - {date: 2026-06-01, amount: 0.25}
      - {date: 2025-06-01, amount: 0.5}
  HEST: {currency: USD, spot: 80, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}}}
  ROUGH:
    currency: USD
    spot: 90
    model: {rough_bergomi: {xi: {0.25: 0.04, 1.0: 0.05}, eta: 1.9, rho: -0.9, hurst: 0.07, steps_per_year: 100}}
  STRIKES:
    currency: USD
    spot: 6000
    model:
      local_volatility:
        surface:
          by_strike:
            0.5: {5000: 0.24, 6000: 0.2, 7000: 0.18}
            2027-01-15: {5000: 0.23, 6000: 0.205, 7000: 0.19}
        steps_per_year: 25
  MONEY:
    currency: USD
    spot: 100
    model: {local_volatility: {surface: {by_moneyness: {1.0: {0.8: 0.24, 1: 0.2, 1.2: 0.18}}}, steps_per_year: 25}}
  SVI:
    currency: USD
    spot: 100
    model:
      stochastic_local_volatility:
        surface: {svi: {0.5: {a: 0.005, b: 0.06, rho: -0.55, m: 0.02, sigma: 0.15}}}
        heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}
        particles: 256
        steps_per_year: 20
  GRID:
    currency: USD
    spot: 100
    model:
      local_volatility:
        surface: {local: {times: [0, 2027-01-15], spots: [80, 120], volatilities: [[0.3, 0.2], [0.28, 0.22]]}}
        steps_per_year: 25
fx:
  EURUSD: {rate: 1.25, volatility: 0.1}
  GBPUSD: {rate: 1.5, volatility: {1.0: 0.08}}
  CHFUSD: {rate: 1.1, volatility: 0.07}
  USDJPY: {rate: 150, volatility: 0.09}
correlations:
  complete: false
  pairs:
    - [BETA, ACME, 0.5]
    - [BETA, EURUSD, -0.2]
    - [USD.rate, ACME, 0.1]
    - [HEST.variance, ACME, -0.3]
fixings:
  ACME: {2026-01-02: 99.5, 2026-01-15: 100}
  EURUSD: {2026-01-02: 1.15}
)";

// A book with a trade on every asset of that market; some trades have several assets.
inline std::string book_on_all_forms() {
    std::string trades;
    for (const char* const asset : {"ACME", "BETA", "HEST", "ROUGH", "STRIKES", "MONEY", "SVI", "GRID"}) {
        trades += std::string("  - {id: ") + asset + ", product: european, underlying: " + asset +
                  ", strike: " + (asset == std::string("BETA") ? "50" : "100") + ", maturity: 1.0}\n";
    }
    trades +=
        "  - {id: quanto, product: european, underlying: BETA, strike: 50, maturity: 1.0, "
        "currency: USD}\n"
        "  - {id: both, product: basket, basket: [ACME, BETA], weights: 0.5, strike: 75, maturity: "
        "0.75, currency: USD}\n"
        "  - {id: seen, product: asian, underlying: ACME, strike: 100, averaging_dates: [2026-01-02, "
        "2026-07-15]}\n";
    for (const char* const currency : {"USD", "EUR", "GBP", "CHF", "JPY"}) {
        trades += std::string("  - {id: paid_in_") + currency +
                  ", product: swap_rate_calls, currency: " + currency + ", dates: [0.5, 1.0]}\n";
    }
    return R"(products:
  - product: swap_rate_calls
    summary: Calls on the swap rate of two years.
    parameters:
      dates: {type: schedule, help: The dates of fixing.}
    example: {dates: [1.0, 2.0]}
    script: |
      on dates:
          pay max(constant_maturity_rate(currency, 2, 1) - 0.02, 0)
trades:
)" + trades;
}

}  // namespace tilewalk::tests
