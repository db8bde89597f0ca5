// SPDX-License-Identifier: Apache-2.0
// Files that this program wrote and reads again.
#pragma once

#include <string>

namespace tilewalk::cli {

// The whole text, of up to 1 GiB. `what` it should hold is for the message. Throws tilewalk::error (io,
// input).
std::string text_of_file(const std::string& file, const std::string& what);

}  // namespace tilewalk::cli
