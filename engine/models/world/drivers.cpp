// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/drivers.h"

#include <map>

namespace tilewalk::models {

driver_correlations::driver_correlations(const markets::market_view& market, std::span<drivers* const> all) {
    std::map<std::string, std::size_t> numbers;
    for (drivers* const some : all) {
        for (driver& d : *some) d.number = numbers.try_emplace(d.name, numbers.size()).first->second;
    }
    names_ = numbers.size();
    correlations_.resize(names_ * names_);
    // Both orders: an own factor's correlation is a product, whose rounding depends on the order of names.
    for (const auto& [a, row] : numbers) {
        for (const auto& [b, column] : numbers)
            correlations_[row * names_ + column] = market.correlation(a, b);
    }
}

double driver_correlations::covariance(const drivers& a, const drivers& b, double from, double to) const {
    double sum = 0;
    for (const driver& x : a) {
        for (const driver& y : b) {
            sum += correlations_[x.number * names_ + y.number] * x.sign * y.sign *
                   models::covariance(*x.vol, x.by, *y.vol, y.by, from, to);
        }
    }
    return sum;
}

}  // namespace tilewalk::models
