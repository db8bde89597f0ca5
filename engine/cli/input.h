// SPDX-License-Identifier: Apache-2.0
// Whole texts: of files that this program wrote and reads again, and of standard input.
#pragma once

#include <string>

namespace tilewalk::cli {

// The whole text, of up to 1 GiB. `what` it should hold is for the message. Throws tilewalk::error (io,
// input).
std::string text_of_file(const std::string& file, const std::string& what);
// The same of standard input, to its end.
std::string text_of_standard_input(const std::string& what);

}  // namespace tilewalk::cli
