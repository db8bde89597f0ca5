// SPDX-License-Identifier: Apache-2.0
// Tables of the library as topics of `tilewalk help`.
#pragma once

#include <string>

namespace tilewalk::cli {

std::string settings_text();
std::string models_text();

}  // namespace tilewalk::cli
