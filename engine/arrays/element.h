// SPDX-License-Identifier: Apache-2.0
// The type of stored shocks: float in the precisions single and mixed, double in double.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewalk::arrays {

enum class element : std::uint8_t { single_, double_ };

constexpr std::size_t bytes_of(element of) {
    return of == element::double_ ? sizeof(double) : sizeof(float);
}

}  // namespace tilewalk::arrays
