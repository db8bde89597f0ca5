// SPDX-License-Identifier: Apache-2.0
// The tables by which bits of points become normal numbers, made when they are first asked for.
#pragma once

#include "kernels/normal_table.h"

namespace tilewalk::quasi {

template <class shock>
const kernels::normal_table<shock>& normal_table();

}  // namespace tilewalk::quasi
