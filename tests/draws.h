// SPDX-License-Identifier: Apache-2.0
// Random parameters, the same for a seed on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace tilewalk {

class random_parameters {
  public:
    explicit random_parameters(std::uint64_t seed) : bits_(seed) {}

    double between(double low, double high) {
        return low + (high - low) * std::ldexp(static_cast<double>(bits_() >> 11), -53);
    }
    // Log-uniform between two positive numbers.
    double over_decades(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
    int below(int n) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(n)); }

  private:
    std::mt19937_64 bits_;
};

}  // namespace tilewalk
