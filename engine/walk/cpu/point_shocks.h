// SPDX-License-Identifier: Apache-2.0
// Quasi-random shocks of 256 paths. A trade's order says which dimension of a point serves which shock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/numerics/quasi/directions.h"
#include "engine/numerics/quasi/normal_tables.h"
#include "engine/numerics/quasi/order.h"
#include "engine/walk/cpu/lane_operations.h"

namespace tilewalk::cpu {

// The points of a run. A randomisation has a power of two of tiles, or few_points paths in a pilot run.
struct run_of_points {
    const quasi::order* order = nullptr;  // null: shocks are independent random numbers
    std::uint64_t paths_of_randomisation = 0;
};

template <class shock>
class point_shocks {
  public:
    explicit point_shocks(const lane_points<shock>& functions) : functions_(functions) {}

    // Begins 256 paths. Shocks without a dimension of the points are drawn by draw(step, slot, out).
    template <class other_draw>
    void begin_normals(const run_of_points& of, std::uint64_t seed, std::uint64_t first_path,
                       const other_draw& draw) {
        begin(of, seed, first_path, of.order->normals());
        const quasi::order& order = *of.order;
        if (!are_made_ahead()) return;
        resize(order.steps() * slots_ + std::max(order.components(), order.rotated().slots.size()));
        scratch_ = order.steps() * slots_;
        for (std::size_t s = 0; s < slots_; ++s) {
            if (order.is_bridged() && !order.normal_slots()[s].is_lone) {
                make_path(s, draw);
            } else {
                for (std::size_t n = 0; n < order.steps(); ++n)
                    make_normals(n, s, place(step_of(n), s), draw);
            }
        }
        for (std::size_t step = 0; step < order.steps(); ++step) rotate(step);
    }
    // The shocks of one step and slot, valid until the next call for this slot.
    template <class other_draw>
    const shock* normals(std::size_t step, std::size_t slot, const other_draw& draw) {
        if (are_made_ahead()) return at(step * slots_ + slot);
        make_normals(step, slot, at(slot), draw);
        return at(slot);
    }

    void begin_uniforms(const run_of_points& of, std::uint64_t seed, std::uint64_t first_path) {
        begin(of, seed, first_path, of.order->uniforms());
    }
    const shock* uniforms(std::size_t step, std::size_t slot) {
        make(functions_.uniforms, functions_.few_uniforms, at(slot),
             of_.order->dimension_of_uniform(step, slot), of_.order->uniform_slots()[slot].key);
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
    bool are_made_ahead() const { return of_.order->is_bridged() || !of_.order->rotated().slots.empty(); }

    int step_of(std::size_t node) const { return of_.order->nodes()[node].step; }
    shock* place(int step, std::size_t slot) {
        return step < 0 ? nullptr : at(static_cast<std::size_t>(step) * slots_ + slot);
    }
    template <class other_draw>
    void make_path(std::size_t slot, const other_draw& draw) {
        const quasi::order& order = *of_.order;
        const std::size_t components = order.components();
        for (std::size_t i = 0; i < components; ++i) make_normals(i, slot, at(scratch_ + i), draw);
        for (std::size_t k = 0; k < components; ++k)
            functions_.sum(place(step_of(k), slot), at(scratch_), lanes,
                           order.loadings().data() + k * components, components);
        for (std::size_t n = components; n < order.steps(); ++n) {
            const kernels::bridge_node& node = order.nodes()[n];
            shock* const here = place(node.step, slot);
            make_normals(n, slot, here, draw);
            functions_.place(here, place(node.left, slot), place(node.right, slot), node);
        }
        for (std::size_t step = order.steps(); step-- > 0;) {
            shock* const here = place(static_cast<int>(step), slot);
            functions_.move(here, place(static_cast<int>(step) - 1, slot), here, order.inverse_roots()[step]);
        }
    }
    void rotate(std::size_t step) {
        const quasi::rotated_slots& by = of_.order->rotated();
        const std::size_t n = by.slots.size();
        for (std::size_t j = 0; j < n; ++j)
            std::ranges::copy_n(at(step * slots_ + by.slots[j]), lanes, at(scratch_ + j));
        for (std::size_t a = 0; a < n; ++a)
            functions_.sum(at(step * slots_ + by.slots[a]), at(scratch_), lanes, by.rotation.data() + a * n,
                           n);
    }
    void resize(std::size_t arrays) {
        if (arrays_.size() < arrays) arrays_.resize(arrays);
    }
    shock* at(std::size_t array) { return arrays_[array].of; }
    using points_of_dimension = typename lane_points<shock>::draw;
    void make(points_of_dimension all, points_of_dimension few, shock* out, std::uint32_t dimension,
              kernels::stream_key factor) {
        const kernels::word32* const directions = quasi::directions_of(dimension);
        if (of_.paths_of_randomisation != few_points) {
            all(out, directions, kernels::scramble_of(seed_, randomisation_, dimension, factor), first_index_,
                *table_);
            return;
        }
        for (std::uint32_t k = 0; k < lanes / few_points; ++k)
            few(out + k * few_points, directions,
                kernels::scramble_of(seed_, randomisation_ + k, dimension, factor), 0, *table_);
    }
    template <class other_draw>
    void make_normals(std::size_t node, std::size_t slot, shock* out, const other_draw& draw) {
        const std::uint32_t dimension = of_.order->dimension_of_normal(node, slot);
        if (dimension == kernels::no_dimension) {
            draw(static_cast<std::size_t>(step_of(node)), slot, out);
            return;
        }
        make(functions_.normals, functions_.few_normals, out, dimension, of_.order->normal_slots()[slot].key);
    }

    const lane_points<shock>& functions_;
    const kernels::normal_table<shock>* table_ = nullptr;  // set by begin()
    run_of_points of_;
    std::uint64_t seed_ = 0;
    std::uint32_t randomisation_ = 0, first_index_ = 0;
    std::size_t slots_ = 0, scratch_ = 0;  // the arrays from scratch_ on hold intermediate results
    std::vector<shock_array> arrays_;
};

}  // namespace tilewalk::cpu
