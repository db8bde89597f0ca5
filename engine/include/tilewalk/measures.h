// SPDX-License-Identifier: Apache-2.0
// Measures: the kinds of sensitivities.
#pragma once

#include <span>
#include <string_view>

namespace tilewalk {

struct greek_measure {
    std::string_view name, to;  // such as "delta"; `to`: the kind of market number
    int order;                  // 1: derivative of a price; 2: of a first-order sensitivity
    bool has_total;  // true if the sum over market numbers is the sensitivity to moving all of them
};
std::span<const greek_measure> greek_measures();

}  // namespace tilewalk
