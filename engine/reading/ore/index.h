// SPDX-License-Identifier: Apache-2.0
// Indices of floating rates: what a name such as EUR-EURIBOR-6M says of the rate.
#pragma once

#include <string>

#include "engine/reading/ore/fields.h"

namespace tilewalk::reading::ore {

struct floating_index {
    std::string name;
    std::string tenor;      // "6M"; empty: an overnight rate, compounded over the period
    std::string day_count;  // by which the rate is quoted; empty: not known here
};

// Throws where the rate is of another currency, or more than the growth of money over a period.
floating_index read_index(const fields& index, const std::string& currency);

}  // namespace tilewalk::reading::ore
