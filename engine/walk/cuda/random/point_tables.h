// SPDX-License-Identifier: Apache-2.0
// Tables on a device from which kernels make points: direction numbers of dimensions, and normals.
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

    // A kernels::normal_table for the type of the shocks. It is copied in stream `s`, which is waited for.
    const void* normals(cuda::stream s);
    // Direction numbers of at least `dimensions` dimensions, copied likewise; null for 0. May release the
    // table that an earlier call returned.
    const kernels::word32* directions(std::size_t dimensions, cuda::stream s);

  private:
    cuda::device& on_;
    arrays::element of_;
    std::optional<cuda::device_memory> directions_, normals_;
    std::vector<cuda::device_memory> arrays_;  // what the table of normals points to
    std::size_t known_ = 0;
};

}  // namespace tilewalk::random
