// SPDX-License-Identifier: Apache-2.0
// Numbers on a page for people: errors with two digits, values down to the last digit of their errors, and
// powers of ten only for very large and very small numbers.
#pragma once

#include <string>

namespace tilewalk::page {

// A value with as many decimals as its error, but at most twelve digits. It has ten digits if the error is 0,
// and three if there is no error.
std::string value_text(double x, double error);
std::string error_text(double error);  // two digits; empty for an absent error
std::string interval_text(double low, double high, double error);
std::string rounded(double x, int digits);  // such as "0.0439", without zeros at the end
std::string exact(double x);                // with all its digits

}  // namespace tilewalk::page
