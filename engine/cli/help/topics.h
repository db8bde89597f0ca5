// SPDX-License-Identifier: Apache-2.0
// Tables of the library as topics of `tilewalk help`.
#pragma once

#include <string>
#include <vector>

namespace tilewalk::cli {

std::string settings_text();
std::string models_text();
std::vector<std::string> model_names();
// Returns the parameters of a model.
std::string model_text(const std::string& name);

}  // namespace tilewalk::cli
