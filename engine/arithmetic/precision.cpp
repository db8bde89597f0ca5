// SPDX-License-Identifier: Apache-2.0
#include "engine/arithmetic/precision.h"

#include <array>
#include <cstddef>

#include "engine/config/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::arithmetic {

namespace {

constexpr std::array<std::string_view, 4> names{"double", "single", "single_fast", "mixed"};
static_assert(names[static_cast<std::size_t>(precision::mixed)] == "mixed");

}  // namespace

std::string_view name_of(precision p) {
    return names[static_cast<std::size_t>(p)];
}

std::vector<std::string> precision_names() {
    return {names.begin(), names.end()};
}

precision precision_named(std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<precision>(i);
    }
    const auto known = precision_names();
    throw error(error_kind::usage,
                "unknown precision " + config::shown(name) + config::alternatives(name, "known:", known));
}

}  // namespace tilewalk::arithmetic
