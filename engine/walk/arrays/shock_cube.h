// SPDX-License-Identifier: Apache-2.0
// Numbers by step and path in memory: shocks of one kind (normals or uniforms), recorded or read from a file,
// that replace random numbers; or the scenarios of a market.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace tilewalk::arrays {

// The shock for `slot` of `step` of path p is at first[step * step_stride + slot * slot_stride + p]. The
// maker of a cube guarantees that every shock within the three counts exists.
struct shock_cube {
    std::variant<const double*, const float*> first = static_cast<const double*>(nullptr);
    std::uint64_t step_stride = 0;  // in elements
    std::uint64_t slot_stride = 0;
    std::uint64_t steps = 0;
    std::uint64_t slots = 0;
    std::uint64_t paths = 0;

    // True unless the pointer is null, which stands for no cube.
    bool is_there() const {
        return std::visit([](const auto* p) { return p != nullptr; }, first);
    }
};

}  // namespace tilewalk::arrays
