// SPDX-License-Identifier: Apache-2.0
// Options for sensitivities.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/choices.h"

namespace tilewalk {

struct greek_options {
    // Measures ("delta") and patterns of market keys ("ACME.*", "*.rate@2y"). Empty: all of first order.
    std::vector<std::string> wanted{};
    greek_method method = greek_method::automatic;
    // Under the view `quotes`, patterns in `wanted` match keys of quotes ("INDEX.quote@*").
    greek_view view = greek_view::market;
};
// Throw tilewalk::error (usage) with the nearest known name.
greek_method greek_method_named(const std::string& name);
greek_view greek_view_named(const std::string& name);

}  // namespace tilewalk
