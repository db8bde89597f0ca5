// SPDX-License-Identifier: Apache-2.0
// Numbers by step and path in memory: shocks of one kind (normals or uniforms) made before, recorded or read
// from a file, instead of random numbers; or the scenarios of a market.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace tilewalk::arrays {

// The shock for `slot` of `step` of path p stands at first[step * step_stride + slot * slot_stride + p]. Who
// makes a cube answers for every one of them that the three counts promise.
struct shock_cube {
    std::variant<const double*, const float*> first = static_cast<const double*>(nullptr);
    std::uint64_t step_stride = 0;  // in elements
    std::uint64_t slot_stride = 0;
    std::uint64_t steps = 0;
    std::uint64_t slots = 0;
    std::uint64_t paths = 0;

    // A null pointer stands for no cube.
    bool is_there() const {
        return std::visit([](const auto* p) { return p != nullptr; }, first);
    }
};

}  // namespace tilewalk::arrays
