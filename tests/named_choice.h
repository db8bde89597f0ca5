// SPDX-License-Identifier: Apache-2.0
// A choice of the API by its name, so that a test can report the name with its findings.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "tilewalk/choices.h"

namespace tilewalk::tests {

struct named {
    std::string_view name;

    template <choice type>
    operator type() const {
        if (const auto found = choice_named<type>(name)) return *found;
        throw std::invalid_argument("no choice is called " + std::string(name));
    }
};

}  // namespace tilewalk::tests
