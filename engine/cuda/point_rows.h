// SPDX-License-Identifier: Apache-2.0
// The rows of cubes of shocks that are quasi-random points, by the orders in which trades take dimensions.
// Trades of one order share their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/cuda/device.h"
#include "engine/cuda/memory.h"
#include "engine/cuda/random/random_source.h"
#include "engine/quasi/order.h"

namespace tilewalk::cuda {

class point_rows {
  public:
    // Returns the number of the order's share; all orders are of one maker.
    std::size_t add(quasi::order order);
    const quasi::order& order_of(std::size_t share) const { return orders_[share]; }

    std::uint64_t rows(random::shock_kind kind) const;
    std::uint64_t first_row(random::shock_kind kind, std::size_t share) const;

    // Every order that has such shocks, for a source whose rows of points begin at `first_row`. All that
    // kernels read of them is copied to the device, into `memory`, in the stream `s`, before it returns; it
    // takes so many bytes there.
    std::vector<random::placed_points> placed(random::shock_kind kind, std::uint64_t first_row, device& on,
                                              std::vector<device_memory>& memory, stream s) const;
    std::size_t bytes() const;

  private:
    struct first_rows {
        std::uint64_t normals = 0, uniforms = 0;
    };
    std::map<std::vector<std::uint64_t>, std::size_t> known_;  // by identity
    std::vector<quasi::order> orders_;
    std::vector<first_rows> first_{{}};  // by share; the last are those of the next one
};

}  // namespace tilewalk::cuda
