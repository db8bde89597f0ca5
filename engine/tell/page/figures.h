// SPDX-License-Identifier: Apache-2.0
// Numbers on a page for people: errors to two digits, values to the last digit that their errors leave, and
// powers of ten only for very large and very small numbers.
#pragma once

#include <string>

namespace tilewalk::page {

// A value known to within `error`: with as many decimals as the error, at most twelve digits; with ten digits
// if the error is 0, and three if it is absent.
std::string value_text(double x, double error);
std::string error_text(double error);  // two digits; empty if absent
std::string interval_text(double low, double high, double error);
std::string rounded(double x, int digits);  // "0.0439", without zeros at the end
std::string exact(double x);                // all digits

}  // namespace tilewalk::page
