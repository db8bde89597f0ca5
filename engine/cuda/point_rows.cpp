// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/point_rows.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using random::shock_kind;

std::uint64_t rows_of(const quasi::order& of, shock_kind kind) {
    if (kind == shock_kind::normal) return of.steps() * of.normals();
    return of.has_quasi_uniforms() ? of.steps() * of.uniforms() : 0;
}

// The numbers of nodes behind the first, which are known, those first that wait for no other, and where each
// such level ends.
struct node_levels {
    std::vector<word32> numbers, ends;

    node_levels(std::span<const kernels::bridge_node> nodes, std::size_t known) {
        std::vector<word32> level_of_step(nodes.size()), level(nodes.size());
        for (std::size_t n = known; n < nodes.size(); ++n) {
            for (const int other : {nodes[n].left, nodes[n].right})
                if (other >= 0)
                    level[n] = std::max(level[n], level_of_step[static_cast<std::size_t>(other)] + 1);
            level_of_step[static_cast<std::size_t>(nodes[n].step)] = level[n];
        }
        for (word32 l = 0; known + numbers.size() < nodes.size(); ++l) {
            for (std::size_t n = known; n < nodes.size(); ++n)
                if (level[n] == l) numbers.push_back(static_cast<word32>(n));
            ends.push_back(static_cast<word32>(numbers.size()));
        }
    }
};

// The most that is lost between arrays of an order, and behind them.
constexpr std::size_t room_between = 1024;

// Arrays that stand one behind the other in one block of memory.
class arrays_of_order {
  public:
    template <class value>
    std::size_t add(std::span<const value> all) {
        const std::size_t at = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(at + all.size_bytes());
        if (!all.empty()) std::memcpy(bytes_.data() + at, all.data(), all.size_bytes());
        return at;
    }
    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace

std::size_t point_rows::add(quasi::order order) {
    const auto [at, is_new] = known_.try_emplace(order.identity(), orders_.size());
    if (!is_new) return at->second;
    const first_rows last = first_.back();
    first_.push_back({last.normals + rows_of(order, shock_kind::normal),
                      last.uniforms + rows_of(order, shock_kind::uniform)});
    orders_.push_back(std::move(order));
    return at->second;
}

std::uint64_t point_rows::rows(shock_kind kind) const {
    return first_row(kind, orders_.size());
}

std::uint64_t point_rows::first_row(shock_kind kind, std::size_t share) const {
    return kind == shock_kind::normal ? first_[share].normals : first_[share].uniforms;
}

std::size_t point_rows::bytes() const {
    std::size_t bytes = 0;
    for (const quasi::order& of : orders_) {
        const std::size_t numbers =
            of.loadings().size() + of.rotated().rotation.size() + of.inverse_roots().size();
        const std::size_t words = 2 * of.steps() + of.rotated().slots.size() +
                                  of.dimensions_of_normals().size() + of.dimensions_of_uniforms().size();
        bytes += of.steps() * sizeof(kernels::bridge_node) + numbers * sizeof(double) +
                 words * sizeof(word32) + (of.normals() + of.uniforms()) * sizeof(kernels::slot_of_points) +
                 room_between;
    }
    return bytes;
}

std::vector<random::placed_points> point_rows::placed(shock_kind kind, std::uint64_t first_row, device& on,
                                                      std::vector<device_memory>& memory, stream s) const {
    std::vector<random::placed_points> out;
    for (const quasi::order& of : orders_) {
        const std::uint64_t rows = rows_of(of, kind);
        if (rows == 0) continue;
        const bool is_normal = kind == shock_kind::normal;
        const auto slots_of_order = is_normal ? of.normal_slots() : of.uniform_slots();
        const bool is_bridged = is_normal && of.is_bridged();
        std::vector<kernels::slot_of_points> slots;
        for (const quasi::order::place_of_slot& x : slots_of_order)
            slots.push_back({x.key, x.in_stream.dimension, x.in_stream.dimensions, x.is_lone});
        const auto dimensions = is_normal ? of.dimensions_of_normals() : of.dimensions_of_uniforms();
        const quasi::rotated_slots& rotated = of.rotated();
        const bool is_rotated = is_normal && !rotated.slots.empty();
        arrays_of_order all;
        const std::size_t at_slots = all.add(std::span<const kernels::slot_of_points>(slots)),
                          at_dimensions = all.add(dimensions);
        std::size_t at_nodes = 0, at_numbers = 0, at_ends = 0, at_roots = 0, at_loadings = 0, at_rotated = 0,
                    at_rotation = 0;
        random::placed_points& p = out.emplace_back();
        if (is_bridged) {
            const node_levels levels(of.nodes(), of.components());
            at_nodes = all.add(of.nodes());
            at_numbers = all.add(std::span<const word32>(levels.numbers));
            at_ends = all.add(std::span<const word32>(levels.ends));
            at_roots = all.add(of.inverse_roots());
            at_loadings = all.add(of.loadings());
            p.components = static_cast<word32>(of.components());
            p.levels = static_cast<word32>(levels.ends.size());
        }
        if (is_rotated) {
            at_rotated = all.add(std::span(rotated.slots));
            at_rotation = all.add(std::span(rotated.rotation));
            p.rotated = static_cast<word32>(rotated.slots.size());
        }
        memory.emplace_back(on, all.bytes().size());
        std::byte* const there = memory.back().as<std::byte>();
        const in_flight guard(on, {s});
        on.upload(there, all.bytes().data(), all.bytes().size(), s);
        on.wait(s);
        p.slots = reinterpret_cast<const kernels::slot_of_points*>(there + at_slots);
        p.dimensions = reinterpret_cast<const word32*>(there + at_dimensions);
        if (is_bridged) {
            p.nodes = reinterpret_cast<const kernels::bridge_node*>(there + at_nodes);
            p.by_level = reinterpret_cast<const word32*>(there + at_numbers);
            p.level_ends = reinterpret_cast<const word32*>(there + at_ends);
            p.inverse_roots = reinterpret_cast<const double*>(there + at_roots);
            p.loadings = reinterpret_cast<const double*>(there + at_loadings);
        }
        if (is_rotated) {
            p.rotated_slots = reinterpret_cast<const word32*>(there + at_rotated);
            p.rotation = reinterpret_cast<const double*>(there + at_rotation);
        }
        p.first_row = first_row;
        p.steps = static_cast<word32>(of.steps());
        p.slot_count = static_cast<word32>(slots.size());
        for (const word32 d : dimensions)
            if (d != kernels::no_dimension) p.directions = std::max<std::size_t>(p.directions, d + 1);
        first_row += rows;
    }
    return out;
}

}  // namespace tilewalk::cuda
