// SPDX-License-Identifier: Apache-2.0
// SHA-256 of an input file, by which a result names exactly what it was computed from.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::config {

// Returns 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tilewalk::config
