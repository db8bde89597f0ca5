// SPDX-License-Identifier: Apache-2.0
// Drivers: sources of noise under the names that correlations have for them, and covariances of sums of
// drivers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "engine/market/volatility.h"
#include "engine/models/loading.h"

namespace tilewalk::models {

// A source of noise: an asset's own, another of its model, a quoted pair of currencies, or a factor of
// interest rates.
struct driver {
    std::string name;  // as the correlations call it
    const markets::volatility* vol = nullptr;
    double sign = 1;  // -1: the pair is taken the other way round
    loading by{};
    std::size_t number = 0;  // of its name in the table of correlations
};
// The log of an asset moves with one driver; that of an exchange rate with one, or with two where it is a
// cross; the integral of a rate with one for each factor.
using drivers = std::vector<driver>;

// The correlations of all drivers of a trade. Each is looked up by name once a plan: a step asks for every
// pair.
class driver_correlations {
  public:
    driver_correlations() = default;
    // Gives the drivers their numbers.
    driver_correlations(const markets::market_view& market, std::span<drivers* const> all);

    double covariance(const drivers& a, const drivers& b, double from, double to) const;

  private:
    std::size_t names_ = 0;
    std::vector<double> correlations_;  // of each name, row by row
};

}  // namespace tilewalk::models
