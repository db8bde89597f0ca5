// SPDX-License-Identifier: Apache-2.0
// Reads whole texts: files that this program wrote before, and standard input.
#pragma once

#include <string>

namespace tilewalk::cli {

// Reads up to 1 GiB of a file; messages call its contents `what`. Throws tilewalk::error (io, input).
std::string text_of_file(const std::string& file, const std::string& what);
// Reads standard input to its end, under the same limits.
std::string text_of_standard_input(const std::string& what);

}  // namespace tilewalk::cli
