// SPDX-License-Identifier: Apache-2.0
// Direction numbers of Sobol points, from the table of Joe and Kuo (joe_kuo.txt).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/sobol.h"

namespace tilewalk::quasi {

inline constexpr std::uint32_t most_dimensions = 21201;

// The directions of all dimensions, [dimension][bit of the index], reversed (see kernels/sobol.h). They are
// made when they are first asked for.
std::span<const kernels::word32> directions();

inline const kernels::word32* directions_of(std::uint32_t dimension) {
    return directions().data() + std::size_t{dimension} * kernels::bits_of_index;
}

}  // namespace tilewalk::quasi
