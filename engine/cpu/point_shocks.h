// SPDX-License-Identifier: Apache-2.0
// The shocks of 256 paths that are quasi-random points, in the order in which a trade takes their dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cpu/lane_operations.h"
#include "engine/quasi/directions.h"
#include "engine/quasi/normal_tables.h"
#include "engine/quasi/order.h"

namespace tilewalk::cpu {

// A run of points: each randomisation is so many paths, a power of two of tiles.
struct run_of_points {
    const quasi::order* order = nullptr;  // null: shocks are independent
    std::uint64_t paths_of_randomisation = 0;
};

template <class shock>
class point_shocks {
  public:
    explicit point_shocks(const lane_points<shock>& functions) : functions_(functions) {}

    // `draw(step, slot, out)` makes normals that are no points.
    template <class other_draw>
    void begin_normals(const run_of_points& of, std::uint64_t seed, std::uint64_t first_path,
                       const other_draw& draw) {
        begin(of, seed, first_path, of.order->normals());
        if (!of.order->is_bridged()) return;
        const std::size_t slots = slots_, steps = of.order->steps();
        resize(steps * slots);
        const auto place = [&](int step, std::size_t slot) -> shock* {
            return step < 0 ? nullptr : at(static_cast<std::size_t>(step) * slots + slot);
        };
        const auto nodes = of.order->nodes();
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            for (std::size_t s = 0; s < slots; ++s) {
                shock* const here = place(nodes[n].step, s);
                make_normals(n, s, here, draw);
                functions_.place(here, place(nodes[n].left, s), place(nodes[n].right, s), nodes[n]);
            }
        }
        for (std::size_t step = steps; step-- > 0;) {
            for (std::size_t s = 0; s < slots; ++s) {
                shock* const here = place(static_cast<int>(step), s);
                functions_.move(here, place(static_cast<int>(step) - 1, s), here,
                                of.order->inverse_roots()[step]);
            }
        }
    }
    // The shocks of a slot on a step, until the next call for the slot.
    template <class other_draw>
    const shock* normals(std::size_t step, std::size_t slot, const other_draw& draw) {
        if (of_.order->is_bridged()) return at(step * slots_ + slot);
        make_normals(step, slot, at(slot), draw);
        return at(slot);
    }

    void begin_uniforms(const run_of_points& of, std::uint64_t seed, std::uint64_t first_path) {
        begin(of, seed, first_path, of.order->uniforms());
    }
    const shock* uniforms(std::size_t step, std::size_t slot) {
        functions_.uniforms(
            at(slot), quasi::directions_of(of_.order->dimension_of_uniform(step, slot)),
            scramble(of_.order->dimension_of_uniform(step, slot), of_.order->uniform_slots()[slot].key),
            first_index_, *table_);
        return at(slot);
    }

  private:
    struct alignas(64) shock_array {
        shock of[lanes];
    };
    void begin(const run_of_points& of, std::uint64_t seed, std::uint64_t first_path, std::size_t slots) {
        of_ = of;
        seed_ = seed;
        slots_ = slots;
        table_ = &quasi::normal_table<shock>();
        randomisation_ = static_cast<std::uint32_t>(first_path / of.paths_of_randomisation);
        first_index_ = static_cast<std::uint32_t>(first_path % of.paths_of_randomisation);
        resize(slots);
    }
    void resize(std::size_t arrays) {
        if (arrays_.size() < arrays) arrays_.resize(arrays);
    }
    shock* at(std::size_t array) { return arrays_[array].of; }
    kernels::scramble scramble(std::uint32_t dimension, kernels::stream_key factor) const {
        return kernels::scramble_of(seed_, randomisation_, dimension, factor);
    }
    template <class other_draw>
    void make_normals(std::size_t node, std::size_t slot, shock* out, const other_draw& draw) {
        if (node >= of_.order->quasi_nodes()) {
            draw(static_cast<std::size_t>(of_.order->nodes()[node].step), slot, out);
            return;
        }
        const std::uint32_t dimension = of_.order->dimension_of_normal(node, slot);
        functions_.normals(out, quasi::directions_of(dimension),
                           scramble(dimension, of_.order->normal_slots()[slot].key), first_index_, *table_);
    }

    const lane_points<shock>& functions_;
    const kernels::normal_table<shock>* table_ = nullptr;  // made when it is first needed
    run_of_points of_;
    std::uint64_t seed_ = 0;
    std::uint32_t randomisation_ = 0, first_index_ = 0;
    std::size_t slots_ = 0;
    std::vector<shock_array> arrays_;
};

}  // namespace tilewalk::cpu
