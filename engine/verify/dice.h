// SPDX-License-Identifier: Apache-2.0
// Random numbers to make up trades with. They are the same on every machine, unlike those by the
// distributions of the standard library.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace tilewalk::verify {

class dice {
  public:
    explicit dice(std::uint64_t seed) : bits_(seed) {}
    double between(double low, double high) {
        return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
    }
    bool coin() { return (bits_() >> 63) != 0; }
    // A whole number from 1 to `most`, all equally likely.
    int up_to(int most) { return 1 + static_cast<int>(between(0, most)); }

  private:
    std::mt19937_64 bits_;
};

}  // namespace tilewalk::verify
