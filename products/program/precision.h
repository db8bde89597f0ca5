// SPDX-License-Identifier: Apache-2.0
// Precisions, the kinds of numbers that a path is walked in: their only list, and their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewalk::program {

enum class precision {
    double_,      // everything in double
    single,       // shocks, states, numbers and operations in float, with our own functions
    single_fast,  // the same with the approximations of a GPU's hardware: on a GPU alone
    mixed,        // single's shocks converted to double, everything else in double
};

// "double", "single", "single_fast", "mixed".
std::string_view name_of(precision p);
// In the order of the enumerators.
std::vector<std::string> precision_names();

}  // namespace tilewalk::program
