// SPDX-License-Identifier: Apache-2.0
// Measures: the kinds of sensitivities.
#pragma once

#include <span>
#include <string_view>

namespace tilewalk {

struct greek_measure {
    std::string_view name, to;  // `to`: the kind of number
    int order;                  // 1: change of a price; 2: change of a first-order sensitivity
    bool has_total;             // if the sum over numbers is the sensitivity to a move of all together
};
std::span<const greek_measure> greek_measures();

}  // namespace tilewalk
