// SPDX-License-Identifier: Apache-2.0
// An array of numbers by step, slot and path: shocks of one kind that replace random ones, or scenarios.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace tilewalk::arrays {

// The number of a step, slot and path, each below its count, is
// first[step * step_stride + slot * slot_stride + path].
struct shock_cube {
    std::variant<const double*, const float*> first = static_cast<const double*>(nullptr);
    std::uint64_t step_stride = 0;  // strides in elements
    std::uint64_t slot_stride = 0;
    std::uint64_t steps = 0;
    std::uint64_t slots = 0;
    std::uint64_t paths = 0;

    bool is_there() const {
        return std::visit([](const auto* p) { return p != nullptr; }, first);
    }
};

}  // namespace tilewalk::arrays
