// SPDX-License-Identifier: Apache-2.0
// Mixes the bits of a word, so that seeds close to each other give unrelated words.
#pragma once

#include <cstdint>

namespace tilewalk::run {

// The finaliser of SplitMix64. Each step can be inverted, so two words never give the same result.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}
// The odd number by which SplitMix64 advances its state before mixing.
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

}  // namespace tilewalk::run
