// SPDX-License-Identifier: Apache-2.0
// Drivers: named sources of noise, and covariances of their sums.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/market/volatility.h"
#include "engine/models/loading.h"

namespace tilewalk::models {

// A source of noise: an asset's own, a second one of its model, a currency pair, or a rate factor.
struct driver {
    std::string name;  // name in correlations
    const markets::volatility* vol = nullptr;
    double sign = 1;  // -1: against the quote of the pair
    loading by{};
    std::size_t number = 0;  // index in the table of correlations
};
// A driver for an asset's logarithm, one or (a cross) two for an exchange rate, one a factor for a rate.
using drivers = std::vector<driver>;

// Correlations of all drivers of a trade, looked up once a plan because every step needs every pair.
class driver_correlations {
  public:
    driver_correlations() = default;
    driver_correlations(const markets::market_view& market, std::span<drivers* const> all);

    double covariance(const drivers& a, const drivers& b, double from, double to) const;

  private:
    std::size_t names_ = 0;
    std::vector<double> correlations_;  // matrix, row by row
};

}  // namespace tilewalk::models
