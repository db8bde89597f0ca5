// SPDX-License-Identifier: Apache-2.0
// The rough cost of operations in additions, the same for either back end.
#pragma once

#include "products/program/operation.h"

namespace tilewalk::program {

constexpr int cost(operation code) {
    switch (code) {
        case operation::norm_cdf:
        case operation::norm_inv:
        case operation::normal_to_exponential:
        case operation::pow:
            return 40;
        case operation::exp:
        case operation::log:
        case operation::sin:
        case operation::cos:
            return 20;
        case operation::div:
        case operation::sqrt:
            return 8;
        default:
            return is_leaf(code) ? 0 : 1;
    }
}

}  // namespace tilewalk::program
