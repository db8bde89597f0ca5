// SPDX-License-Identifier: Apache-2.0
// The reduction `atomic`: every thread adds its lanes' sums to the block's by atomics in shared memory. Their
// order changes the last bits from run to run. A baseline for comparisons.
#pragma once

#include "kernels/reductions/reduction.h"

namespace tilewalk::kernels::reductions {

template <int threads>
struct atomic {
    static constexpr word32 shared_bytes() { return 3 * sizeof(double); }

    static void finish(const double* payoffs, int count, const tile_site& site, char* shared) {
        reduce_tile<threads, atomic>(payoffs, count, site, shared);
    }

    template <int values>
    static void sum(double (&sums)[3], double* scratch) {
        sum_by_atomics<values>(sums, true, scratch);
    }
};

}  // namespace tilewalk::kernels::reductions
