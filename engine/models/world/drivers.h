// SPDX-License-Identifier: Apache-2.0
// Drivers, which are named sources of noise, and covariances of their sums.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/market/volatility.h"
#include "engine/models/loading.h"

namespace tilewalk::models {

// A source of noise: an asset's, a second one of its model, a currency pair's, or a rate factor's.
struct driver {
    std::string name;  // name by which correlations state it
    const markets::volatility* vol = nullptr;
    double sign = 1;  // -1 if opposite to the quoted pair
    loading by{};
    std::size_t number = 0;  // index in the table of correlations
};
// Summands of a noise: a driver for an asset, one or two (a cross) for an exchange rate, one per rate factor.
using drivers = std::vector<driver>;

// Correlations of all drivers of a trade. They are looked up once per plan, since each step needs every pair.
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
