// SPDX-License-Identifier: Apache-2.0
// Sums of derivatives over the paths of a tile. Derivatives with respect to numbers of a row are summed in
// the fixed tree over paths. Paths read different numbers of a table, so derivatives with respect to these
// are summed in fixed point: no order matters.
#pragma once

#include "kernels/tile.h"

namespace tilewalk::kernels {

// A fixed-point sum of up to 2^19 numbers, in units of 2^-64. NaN or a size of 2^43 or more makes it NaN.
struct fixed_sum {
    static constexpr double most = 0x1p43;

    long long high = 0;  // in units of 2^-20
    long long low = 0;   // in units of 2^-64
    bool is_spoilt = false;

    constexpr void add(double x) {
        if (!(x < most && x > -most)) {
            is_spoilt = true;
            return;
        }
        const long long units = static_cast<long long>(x * 0x1p20);  // towards zero
        high += units;
        low += static_cast<long long>((x - static_cast<double>(units) * 0x1p-20) * 0x1p64);
    }
    constexpr double value() const {
        return is_spoilt ? format<double>::nan : double(high) * 0x1p-20 + double(low) * 0x1p-64;
    }
};

}  // namespace tilewalk::kernels
