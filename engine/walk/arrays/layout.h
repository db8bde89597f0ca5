// SPDX-License-Identifier: Apache-2.0
// The heads of files of shocks and of scenarios. A number from a head is compared with the bytes that there
// are before it is used as a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/walk/arrays/element.h"

namespace tilewalk::arrays {

// The layout of a file's numbers.
struct layout {
    arrays::element of = arrays::element::double_;
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::uint64_t data_at = 0;  // offset of the first number in bytes, a multiple of a number's size
};

inline constexpr std::size_t header_bytes = 64;  // the size of the head of Tilewalk's own form

// The contents that a reader expects. Scenarios have one number per time and path: a step of the layout is a
// time, and has one normal.
enum class contents { shocks, scenarios };

// Reads the head of a file; the numbers that the layout promises are there, to the byte. Throws
// tilewalk::error (input) with `name` if the file does not match its head or does not have the expected
// contents.
layout read_layout(std::span<const std::byte> file, const std::string& name,
                   contents expected = contents::shocks);

// The head of Tilewalk's own form.
std::string header_of(const layout& what);

}  // namespace tilewalk::arrays
