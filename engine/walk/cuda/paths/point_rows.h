// SPDX-License-Identifier: Apache-2.0
// Plans rows of quasi-random points. Trades with the same order of dimensions share rows: the normals of all
// steps, or the targets that paths meet. Paths that compute their own points have tables instead.
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
    // Adds an order and returns the number of its share. All orders must come from one order_maker.
    std::size_t add(quasi::order order, point_way way = point_way::read);
    const quasi::order& order_of(std::size_t share) const { return shares_[share].order; }

    std::uint64_t rows(random::shock_kind kind) const;
    std::uint64_t first_row(random::shock_kind kind, std::size_t share) const;

    // Rows of every order that has shocks of this kind, for a random source. Uploads the tables that kernels
    // read, bytes() in all, to `memory` in stream `s`, and waits.
    std::vector<random::placed_points> placed(random::shock_kind kind, std::uint64_t first_row, device& on,
                                              std::vector<device_memory>& memory, stream s) const;
    std::size_t bytes() const;

    // Tables of all shares' steps to targets, in the type of the shocks; null if no share has targets.
    std::uint64_t first_target_step(std::size_t share) const { return first_[share].target_steps; }
    struct target_tables {
        const void* steps = nullptr;
        const kernels::word32* ahead = nullptr;
    };
    target_tables tables_of_targets(arrays::element of, device& on, std::vector<device_memory>& memory,
                                    stream s) const;

    // For shares whose paths compute their points:
    bool is_made(std::size_t share) const { return shares_[share].way == point_way::made; }
    std::uint64_t first_made_point(std::size_t share) const { return first_[share].made_points; }
    const kernels::made_point* table_of_made_points(device& on, std::vector<device_memory>& memory,
                                                    stream s) const;
    std::size_t dimensions_made() const;  // dimensions up to the last that such a path takes

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
    std::map<std::vector<std::uint64_t>, std::size_t> known_;  // by order::identity
    std::vector<shared_order> shares_;
    std::vector<first_rows> first_{{}};  // by share, and one for the end
};

}  // namespace tilewalk::cuda
