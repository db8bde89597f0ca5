// SPDX-License-Identifier: Apache-2.0
// Numbers as a page shows them to people: errors to two digits, values to the last digit that their errors
// leave, and powers of ten for none that is read more easily without.
#pragma once

#include <string>

namespace tilewalk::page {

// A value that is known to within `error`: with as many decimals as that has, and twelve digits at most; to
// ten digits if the error is 0, and to three if there is none.
std::string value_text(double x, double error);
std::string error_text(double error);  // to two digits, or empty
std::string interval_text(double low, double high, double error);
std::string rounded(double x, int digits);  // "0.0439", without zeros at the end
std::string exact(double x);                // all digits

}  // namespace tilewalk::page
