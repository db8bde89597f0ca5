// SPDX-License-Identifier: Apache-2.0
#include "products/program/precision.h"

#include <array>
#include <cstddef>

namespace tilewalk::program {

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

}  // namespace tilewalk::program
