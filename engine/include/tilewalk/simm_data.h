// SPDX-License-Identifier: Apache-2.0
// The `simm:` of a market: data for ISDA SIMM beside figures.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tilewalk/error.h"

namespace tilewalk {

struct simm_data {
    struct name {
        std::string qualifier, bucket;  // equities only
        std::string fx{};               // exchange rates only: the currency priced by the asset
    };
    std::string currency;                            // calculation currency
    std::map<std::string, name, std::less<>> names;  // by asset
    location where;
};

}  // namespace tilewalk
