// SPDX-License-Identifier: Apache-2.0
// Measures: the kinds of sensitivities.
#pragma once

#include <span>
#include <string_view>

namespace tilewalk {

// A row of the table of measures.
struct greek_measure {
    std::string_view name, to;  // what the sensitivity is to
    int order;                  // 1: how a price changes; 2: how a sensitivity of the first order does
    bool has_total;             // the sum over numbers says what happens where all move together
};
std::span<const greek_measure> greek_measures();

}  // namespace tilewalk
