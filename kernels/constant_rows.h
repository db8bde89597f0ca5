// SPDX-License-Identifier: Apache-2.0
// The memory space `constant`: numbers that all paths share, which a launch copies to this variable. In its
// own header, since it takes 60 KiB of constant memory; 4 KiB are left for coefficients of functions.
#pragma once

#include "kernels/ptx.h"

extern "C" {
__constant__ __align__(16) char tilewalk_rows[61440];
}

namespace tilewalk::kernels::spaces {

struct constant {
    template <class element>
    using place = const element*;

    template <class element>
    static place<element> begin(const void*, word64) {
        return reinterpret_cast<const element*>(tilewalk_rows);
    }
    template <class value, class element>
    static value load(const element* from) {
        return __builtin_bit_cast(value, *reinterpret_cast<const load_unit_of<value>*>(from));
    }
};

}  // namespace tilewalk::kernels::spaces
