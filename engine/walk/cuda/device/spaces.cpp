// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/spaces.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

using enum residence;

constexpr const char* ptx = "kernels/ptx.h";
// The lowest limit of a linear texture on devices of compute capability 8.0 and later.
constexpr std::uint64_t most_texels = std::uint64_t{1} << 27;

// name, summary; residence, type, header; has addresses, holds paths, holds rows; most bytes, most elements
constexpr auto space_catalogue = std::to_array<space_entry>({
    {"global", "device memory, plain loads",  //
     memory, "global", ptx, true, true, true, 0, 0},
    {"read_only", "device memory through the read-only path",  //
     memory, "read_only", ptx, true, true, true, 0, 0},
    {"constant", "constant memory, for what all paths read alike: one word serves a warp",  //
     constant_variable, "constant", "kernels/constant_rows.h", false, false, true, 61440, 0},
    {"texture", "device memory through a linear texture",  //
     texture_object, "texture", ptx, false, true, true, 0, most_texels},
    {"l2_persisting", "device memory that the second-level cache keeps",  //
     persisting_memory, "read_only", ptx, true, true, true, 0, 0},
    {"mapped", "page-locked memory of the host, read across the bus",  //
     mapped_memory, "global", ptx, true, true, true, 0, 0},
});

}  // namespace

std::span<const space_entry> spaces() {
    return space_catalogue;
}

const space_entry& space_named(std::string_view name) {
    const auto found = std::ranges::find(space_catalogue, name, &space_entry::name);
    if (found != space_catalogue.end()) return *found;
    const auto known = names_of_spaces([](const space_entry&) { return true; });
    throw error(error_kind::usage, fmt::format("there is no space {}{}", config::shown(name),
                                               config::alternatives(name, "there are", known)));
}

void check_fits(const space_entry& space, std::uint64_t elements, int element_bytes) {
    const auto size = static_cast<std::uint64_t>(element_bytes);
    const std::uint64_t by_bytes = space.most_bytes > 0 ? space.most_bytes / size : elements;
    const std::uint64_t by_elements = space.most_elements > 0 ? space.most_elements : elements;
    const std::uint64_t most = std::min(by_bytes, by_elements);
    if (elements <= most) return;
    const auto others = names_of_spaces([&](const space_entry& other) {
        return other.most_bytes == 0 && other.most_elements == 0 && other.holds_paths >= space.holds_paths &&
               other.holds_rows >= space.holds_rows;
    });
    throw error(error_kind::usage,
                fmt::format("an array of {} numbers of {} bytes is too large for space {}, which holds {}; "
                            "these hold it: {}",
                            elements, element_bytes, space.name, most, config::joined(others)));
}

}  // namespace tilewalk::cuda
