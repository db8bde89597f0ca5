// SPDX-License-Identifier: Apache-2.0
// Headers of files of shocks and of scenarios. Sizes in a header are checked against the file before use.
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
    std::uint64_t data_at = 0;  // byte offset of the first number in the file, a multiple of a number's size
};

inline constexpr std::size_t header_bytes = 64;  // size of the header of Tilewalk's own format

// A file of scenarios has one number per time and path: its steps are the times, with one normal each.
enum class contents { shocks, scenarios };

// Throws tilewalk::error (input), naming `name`, unless the file has exactly the bytes its header promises.
layout read_layout(std::span<const std::byte> file, const std::string& name,
                   contents expected = contents::shocks);

std::string header_of(const layout& what);

}  // namespace tilewalk::arrays
