// SPDX-License-Identifier: Apache-2.0
// Device tables from which kernels make points: directions of dimensions, and normal numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/walk/arrays/element.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "kernels/philox.h"

namespace tilewalk::random {

class point_tables {
  public:
    point_tables(cuda::device& on, arrays::element of) : on_(on), of_(of) {}

    // A kernels::normal_table for shocks of the type, copied in stream `s` before this returns.
    const void* normals(cuda::stream s);
    // Directions of at least so many dimensions, likewise; earlier ones are gone if fewer. Null for none.
    const kernels::word32* directions(std::size_t dimensions, cuda::stream s);

  private:
    cuda::device& on_;
    arrays::element of_;
    std::optional<cuda::device_memory> directions_, normals_;
    std::vector<cuda::device_memory> arrays_;  // the table of normals points to them
    std::size_t known_ = 0;
};

}  // namespace tilewalk::random
