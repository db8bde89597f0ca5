// SPDX-License-Identifier: Apache-2.0
// The rows of cubes of shocks that are quasi-random points, by the orders in which trades take dimensions.
// Trades of one order share their rows. Rows have the normals of all steps, or the targets that paths meet;
// where paths make their points there are tables instead of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/numerics/quasi/order.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/random/random_source.h"
#include "kernels/arguments.h"

namespace tilewalk::cuda {

class point_rows {
  public:
    // Returns the number of the order's share; all orders are of one maker.
    std::size_t add(quasi::order order, point_way way = point_way::read);
    const quasi::order& order_of(std::size_t share) const { return shares_[share].order; }

    std::uint64_t rows(random::shock_kind kind) const;
    std::uint64_t first_row(random::shock_kind kind, std::size_t share) const;

    // Every order that has such shocks, for a source whose rows of points begin at `first_row`. All that
    // kernels read of them is copied to the device, into `memory`, in the stream `s`, before it returns; it
    // takes so many bytes there.
    std::vector<random::placed_points> placed(random::shock_kind kind, std::uint64_t first_row, device& on,
                                              std::vector<device_memory>& memory, stream s) const;
    std::size_t bytes() const;

    // The first of a share's steps to targets in the tables of all, which stand on the device as shocks have
    // their type. They are null where no share has any.
    std::uint64_t first_target_step(std::size_t share) const { return first_[share].target_steps; }
    struct target_tables {
        const void* steps = nullptr;
        const kernels::word32* ahead = nullptr;
    };
    target_tables tables_of_targets(arrays::element of, device& on, std::vector<device_memory>& memory,
                                    stream s) const;

    // The same for shares whose paths make their points.
    bool is_made(std::size_t share) const { return shares_[share].way == point_way::made; }
    std::uint64_t first_made_point(std::size_t share) const { return first_[share].made_points; }
    // Null where there are none.
    const kernels::made_point* table_of_made_points(device& on, std::vector<device_memory>& memory,
                                                    stream s) const;
    std::size_t dimensions_made() const;  // up to the last

  private:
    struct shared_order {
        quasi::order order;
        point_way way;
        std::optional<quasi::steps_to_targets> targets;
        std::uint64_t rows(random::shock_kind kind) const;
    };
    struct first_rows {
        std::uint64_t normals = 0, uniforms = 0, target_steps = 0, made_points = 0;
    };
    std::map<std::vector<std::uint64_t>, std::size_t> known_;  // by identity
    std::vector<shared_order> shares_;
    std::vector<first_rows> first_{{}};  // by share; the last are those of the next one
};

}  // namespace tilewalk::cuda
