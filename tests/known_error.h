// SPDX-License-Identifier: Apache-2.0
// The standard error by which a test judges a price, even if all its paths paid the same.
#pragma once

#include <cmath>
#include <string>

#include "tilewalk/results.h"

namespace tilewalk {

// 0 if `standard_error` is NaN because all paths paid the same: the price must then equal the truth.
inline double known_error(double standard_error) {
    return std::isnan(standard_error) ? 0 : standard_error;
}
inline double known_error(const price_row& row) {
    return known_error(row.standard_error);
}

// True for a finite price with a finite standard error. The error may be missing only if the row's message
// says that all paths paid the same.
inline bool is_sound(const price_row& row) {
    const bool all_alike = row.message.find("no path paid") != std::string::npos ||
                           row.message.find("every path pa") != std::string::npos;
    return std::isfinite(row.price) && (std::isfinite(row.standard_error) || (!row.has_error() && all_alike));
}

}  // namespace tilewalk
