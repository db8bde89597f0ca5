// SPDX-License-Identifier: Apache-2.0
// Numbers as text, in any locale: for machines with all bits, for people with the digits that are known.
#pragma once

#include <cstdint>
#include <string>

namespace tilewalk::report {

// Returns the shortest decimal that reads back as the same bits.
std::string shortest(double x);
std::string fixed(double x, int decimals);
std::string significant(double x, int digits);  // "0.0123", "1.42e-14"

// Returns x with the digits that `error` justifies and two more, at most 12; 10 for an error of 0, 3 for NaN.
std::string justified(double x, double error);
inline constexpr int digits_without_error = 3;

std::string duration(double seconds);                           // "412 ms", "1.73 s", "4 min 12 s"
std::string rate(double per_second);                            // "3.15e8"
std::string counted(std::uint64_t n, const std::string& noun);  // "1 trade", "2 trades"
std::string counted(std::uint64_t n, const std::string& one, const std::string& many);

}  // namespace tilewalk::report
