// SPDX-License-Identifier: Apache-2.0
// Floating rate indices: reads what a name such as EUR-EURIBOR-6M implies.
#pragma once

#include <string>

#include "engine/reading/ore/fields.h"

namespace tilewalk::reading::ore {

struct floating_index {
    std::string name;
    std::string tenor;      // "6M"; empty for an overnight rate compounded over the period
    std::string day_count;  // day count of the index's rate; empty if unknown
};

// Throws if the index is of another currency, or is not simply the growth of money over its period.
floating_index read_index(const fields& index, const std::string& currency);

}  // namespace tilewalk::reading::ore
