// SPDX-License-Identifier: Apache-2.0
// The functions of reduce_stored.cu in a build without nvcc: they report that they are missing.
#include "kernels/reduce_stored.h"

namespace tilewalk::kernels {

bool can_reduce_stored() {
    return false;
}

int reduce_stored(const stored_payoffs&, void*, word64&, void*) {
    constexpr int not_supported = 801;  // cudaErrorNotSupported
    return not_supported;
}

}  // namespace tilewalk::kernels
