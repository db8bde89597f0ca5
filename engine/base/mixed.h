// SPDX-License-Identifier: Apache-2.0
// A word of which every bit depends on all bits of another: seeds that are near have nothing in common then.
#pragma once

#include <cstdint>

namespace tilewalk::run {

// Steps of the finaliser of SplitMix64, of which each can be undone: no two words become one.
constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}
// The odd number by which words are spread before they are mixed, as SplitMix64 has it.
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

}  // namespace tilewalk::run
