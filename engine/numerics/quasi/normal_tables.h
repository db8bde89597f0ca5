// SPDX-License-Identifier: Apache-2.0
// Tables that turn bits of quasi-random points into normals (kernels/normal_table.h), made on first use.
#pragma once

#include "kernels/normal_table.h"

namespace tilewalk::quasi {

template <class shock>
const kernels::normal_table<shock>& normal_table();

}  // namespace tilewalk::quasi
