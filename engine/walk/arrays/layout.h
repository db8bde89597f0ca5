// SPDX-License-Identifier: Apache-2.0
// Heads of files of shocks and of scenarios. A size in a head is used only after a check against the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/walk/arrays/element.h"

namespace tilewalk::arrays {

struct layout {
    arrays::element of = arrays::element::double_;
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::uint64_t data_at = 0;  // offset of the first number in bytes, a multiple of a number's size
};

inline constexpr std::size_t header_bytes = 64;  // head of Tilewalk's own form

// Scenarios have one number per time and path: a step of the layout is a time with one normal.
enum class contents { shocks, scenarios };

// The file has exactly the promised bytes, or tilewalk::error (input) with `name` is thrown.
layout read_layout(std::span<const std::byte> file, const std::string& name,
                   contents expected = contents::shocks);

std::string header_of(const layout& what);

}  // namespace tilewalk::arrays
