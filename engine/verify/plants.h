// SPDX-License-Identifier: Apache-2.0
// Mistakes that an engine could make, each made on purpose: what would go unnoticed can't be trusted to be
// right.
#pragma once

#include <span>
#include <string_view>

#include "engine/verbs/price.h"

namespace tilewalk::verify {

struct plant {
    std::string_view name;
    std::string_view what;          // is wrong
    stages (*made)();               // an engine that makes the mistake and no other
    bool of_sensitivities = false;  // prices are right
};

// The catalogue.
std::span<const plant> plants();

}  // namespace tilewalk::verify
