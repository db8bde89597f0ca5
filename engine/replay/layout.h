// SPDX-License-Identifier: Apache-2.0
// The heads of files of shocks. No number of a head is used for a size before it is held against the bytes
// that there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/random/element.h"

namespace tilewalk::replay {

// What a file holds.
struct layout {
    random::element of = random::element::double_;
    std::uint64_t steps = 0;
    std::uint64_t normals_per_step = 0;
    std::uint64_t uniforms_per_step = 0;
    std::uint64_t paths = 0;
    std::uint64_t data_at = 0;  // bytes before the first number, a multiple of a number's
};

inline constexpr std::size_t header_bytes = 64;  // of Tilewalk's own form

// The numbers that the layout promises are there, to the byte. Throws tilewalk::error (input) with `name` for
// a file that is not what it says.
layout read_layout(std::span<const std::byte> file, const std::string& name);

// The head of Tilewalk's own form.
std::string header_of(const layout& what);

}  // namespace tilewalk::replay
