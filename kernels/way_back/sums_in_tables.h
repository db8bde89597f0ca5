// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/derivative_sums.h"
#include "kernels/path_kernel.h"

namespace tilewalk::kernels {

// Sums over a tile of derivatives with respect to numbers of tables. Until end(), a sum's three words lie in
// its places of the tile's first three warps. Zeroed memory is an empty sum.
class sums_in_tables {
  public:
    static constexpr int words = 3;

    sums_in_tables(double* of_tile, word64 places)
        : words_(reinterpret_cast<word64*>(of_tile)), places_(places) {}

    void add(word64 place, double x) const {
        fixed_sum one;
        one.add(x);
        word64* const to = words_ + place;
        atomicAdd(to, word64(one.high));
        atomicAdd(to + places_, word64(one.low));
        if (one.is_spoilt) to[2 * places_] = 1;
    }
    void end(word64 place) const {
        static_assert(sizeof(word64) == sizeof(double));
        word64* const at = words_ + place;
        fixed_sum sum;
        sum.high = static_cast<long long>(at[0]);
        sum.low = static_cast<long long>(at[places_]);
        sum.is_spoilt = at[2 * places_] != 0;
        *reinterpret_cast<double*>(at) = sum.value();
        at[places_] = at[2 * places_] = 0;
    }

  private:
    word64* const words_;
    const word64 places_;
};

}  // namespace tilewalk::kernels
