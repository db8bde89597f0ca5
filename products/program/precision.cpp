// SPDX-License-Identifier: Apache-2.0
#include "products/program/precision.h"

namespace tilewalk::program {

std::vector<std::string> precision_names() {
    return {choice_names<precision>.begin(), choice_names<precision>.end()};
}

}  // namespace tilewalk::program
