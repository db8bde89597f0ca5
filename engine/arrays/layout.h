// SPDX-License-Identifier: Apache-2.0
// The heads of files of shocks and of scenarios. No number of a head is used for a size before it is held
// against the bytes that there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/arrays/element.h"

namespace tilewalk::arrays {

// What a file holds.
struct layout {
    arrays::element of = arrays::element::double_;
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::uint64_t data_at = 0;  // bytes before the first number, a multiple of a number's
};

inline constexpr std::size_t header_bytes = 64;  // of Tilewalk's own form

// What somebody expects in a file. Scenarios have one number a time and path: a step of the layout is a time,
// and has one normal.
enum class contents { shocks, scenarios };

// The numbers that the layout promises are there, to the byte. Throws tilewalk::error (input) with `name` for
// a file that is not what it says, or not what is expected.
layout read_layout(std::span<const std::byte> file, const std::string& name,
                   contents expected = contents::shocks);

// The head of Tilewalk's own form.
std::string header_of(const layout& what);

}  // namespace tilewalk::arrays
