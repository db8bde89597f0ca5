// SPDX-License-Identifier: Apache-2.0
// The fingerprint of an input file: SHA-256 of its bytes, so that a result can name exactly what it was
// computed from.
#pragma once

#include <string>
#include <string_view>

namespace tilewalk::config {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace tilewalk::config
