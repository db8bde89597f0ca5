// SPDX-License-Identifier: Apache-2.0
#include "products/program/precision.h"

namespace tilewalk::program {

std::vector<std::string> precision_names() {
    std::vector<std::string> names;
    for (const precision_traits& of : precision_table) names.emplace_back(of.name);
    return names;
}

}  // namespace tilewalk::program
