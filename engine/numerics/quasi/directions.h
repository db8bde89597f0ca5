// SPDX-License-Identifier: Apache-2.0
// Direction numbers of Sobol points, from the table of Joe and Kuo (joe_kuo.txt).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/sobol.h"

namespace tilewalk::quasi {

inline constexpr std::uint32_t most_dimensions = 21201;

// The directions of the first so many dimensions, or of some more: [dimension][bit of the index], reversed
// (see kernels/sobol.h). They are made when they are first asked for, those of a degree together, because
// there is time to be lost with the last ones; they stay where they are.
std::span<const kernels::word32> directions(std::uint32_t dimensions);

inline const kernels::word32* directions_of(std::uint32_t dimension) {
    return directions(dimension + 1).data() + std::size_t{dimension} * kernels::bits_of_index;
}

}  // namespace tilewalk::quasi
