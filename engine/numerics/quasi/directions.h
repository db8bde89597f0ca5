// SPDX-License-Identifier: Apache-2.0
// Direction numbers of Sobol points, from the table of Joe and Kuo (joe_kuo.txt).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/sobol.h"

namespace tilewalk::quasi {

inline constexpr std::uint32_t most_dimensions = 21201;

// Direction numbers of at least `dimensions` dimensions: [dimension][bit of the index], bit-reversed as in
// kernels/sobol.h. Made when first asked for, as the last take long. Addresses never change. Thread-safe.
std::span<const kernels::word32> directions(std::uint32_t dimensions);

inline const kernels::word32* directions_of(std::uint32_t dimension) {
    return directions(dimension + 1).data() + std::size_t{dimension} * kernels::bits_of_index;
}

}  // namespace tilewalk::quasi
