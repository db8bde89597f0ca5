// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/point_rows.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::cuda {

namespace {

using kernels::word32;
using random::shock_kind;

// The order in which a thread visits the nodes of a bridge so that its steps come in the order of time. With
// components, the first `known` nodes are given by them, in the order of their steps.
struct way_in_time {
    std::vector<kernels::point_visit> visits;
    word32 stack = 0;

    way_in_time(std::span<const kernels::bridge_node> nodes, std::size_t known) {
        std::map<std::pair<int, int>, word32> between;  // node between a left and a right step
        for (word32 n = 0; n < nodes.size(); ++n) {
            const bool is_known = n < known;
            const int left = !is_known ? nodes[n].left : n == 0 ? -1 : nodes[n - 1].step;
            between.emplace(std::pair(left, is_known ? -1 : nodes[n].right), n);
        }
        int left = -1;
        std::vector<int> ahead{-1};
        while (true) {
            const auto found = between.find({left, ahead.back()});
            if (found != between.end()) {
                const kernels::bridge_node& of = nodes[found->second];
                visits.push_back({of.by_left, of.by_right, of.deviation, found->second,
                                  static_cast<word32>(of.step), 0, 0});
                ahead.push_back(of.step);
            } else if (ahead.size() == 1) {
                break;
            } else {
                // The first node left after a visit is the one just visited, which needs no place in the
                // stack.
                if (visits.back().leaves++ > 0)
                    stack = std::max(stack, static_cast<word32>(ahead.size()) - 1);
                left = ahead.back();
                ahead.pop_back();
            }
        }
        if (visits.size() != nodes.size())
            throw error(error_kind::internal, "a bridge has no way in the order of time");
    }

    // Splits the visits into at most `most` segments of about equal length, followed by their end.
    std::vector<kernels::point_segment> segments(std::size_t known, std::size_t most) const {
        std::vector<kernels::point_segment> out;
        word32 next = 0, dates = 0;
        for (word32 v = 0; v < visits.size(); ++v) {
            if (visits[v].node >= known) continue;
            if (v * most >= out.size() * visits.size()) out.push_back({v, next, dates});
            next = visits[v].step + 1;
            ++dates;
        }
        out.push_back({static_cast<word32>(visits.size()), 0, 0});
        return out;
    }
};

word32 walkers_of(word32 stack, std::size_t components, const device& on) {
    const auto most = static_cast<word32>(kernels::warps_of_points(components > 0));
    if (stack == 0) return most;
    const std::uint64_t taken =
        kernels::kept_normals<double>::bytes + 2 * components * kernels::bytes_of_place;
    const std::uint64_t room = on.properties().shared_bytes_per_block;
    const std::uint64_t warps = room > taken ? (room - taken) / (stack * kernels::bytes_of_place) : 0;
    return static_cast<word32>(std::clamp<std::uint64_t>(warps, 1, most));
}

// Most bytes lost to alignment between the arrays of one order and after them.
constexpr std::size_t room_between = 1024;

// Arrays one after another in one block of memory. Offset 0 is never used.
class arrays_of_orders {
  public:
    template <class value>
    std::size_t add(std::span<const value> all) {
        const std::size_t at = (bytes_.size() + 15) / 16 * 16;
        bytes_.resize(at + all.size_bytes());
        if (!all.empty()) std::memcpy(bytes_.data() + at, all.data(), all.size_bytes());
        return at;
    }
    const std::byte* uploaded(device& on, std::vector<device_memory>& memory, stream s) const {
        memory.emplace_back(on, bytes_.size());
        std::byte* const there = memory.back().as<std::byte>();
        const in_flight guard(on, {s});
        on.upload(there, bytes_.data(), bytes_.size(), s);
        on.wait(s);
        return there;
    }

  private:
    std::vector<std::byte> bytes_{16};
};

}  // namespace

std::uint64_t point_rows::shared_order::rows(shock_kind kind) const {
    if (way == point_way::made) return 0;
    const std::size_t places = targets ? targets->nodes.size() : order.steps();
    if (kind == shock_kind::normal) return places * order.normals();
    return order.has_quasi_uniforms() ? order.steps() * order.uniforms() : 0;
}

std::size_t point_rows::add(quasi::order order, point_way way) {
    std::vector<std::uint64_t> identity = order.identity();
    identity.push_back(static_cast<std::uint64_t>(way));
    const auto [at, is_new] = known_.try_emplace(std::move(identity), shares_.size());
    if (!is_new) return at->second;
    std::optional<quasi::steps_to_targets> targets;
    if (way == point_way::targets) targets = order.steps_to_targets();
    shares_.push_back({std::move(order), way, std::move(targets)});
    const shared_order& made = shares_.back();
    first_rows next = first_.back();
    next.normals += made.rows(shock_kind::normal);
    next.uniforms += made.rows(shock_kind::uniform);
    if (way == point_way::targets) next.target_steps += made.order.steps();
    if (way == point_way::made) next.made_points += kernels::points_of_trade;
    first_.push_back(next);
    return at->second;
}

std::uint64_t point_rows::rows(shock_kind kind) const {
    return first_row(kind, shares_.size());
}

std::uint64_t point_rows::first_row(shock_kind kind, std::size_t share) const {
    return kind == shock_kind::normal ? first_[share].normals : first_[share].uniforms;
}

std::size_t point_rows::bytes() const {
    std::size_t bytes = 0;
    for (const shared_order& one : shares_) {
        const quasi::order& of = one.order;
        const std::size_t numbers =
            (one.targets ? 4 : 1) * of.steps() + of.loadings().size() + of.rotated().rotation.size();
        const std::size_t words = 3 * of.steps() + of.rotated().slots.size() +
                                  of.dimensions_of_normals().size() + of.dimensions_of_uniforms().size();
        bytes += of.steps() * sizeof(kernels::point_visit) + numbers * sizeof(double) +
                 words * sizeof(word32) + (of.normals() + of.uniforms()) * sizeof(kernels::slot_of_points) +
                 room_between;
    }
    bytes += first_.back().made_points * sizeof(kernels::made_point);
    return bytes;
}

std::vector<random::placed_points> point_rows::placed(shock_kind kind, std::uint64_t first_row, device& on,
                                                      std::vector<device_memory>& memory, stream s) const {
    const bool is_normal = kind == shock_kind::normal;
    struct places {
        std::size_t slots = 0, dimensions = 0, visits = 0, roots = 0, loadings = 0, steps = 0, segments = 0,
                    rotated = 0, rotation = 0;
    };
    std::vector<random::placed_points> out;
    std::vector<places> at;
    arrays_of_orders all;
    for (const shared_order& one : shares_) {
        const quasi::order& of = one.order;
        const std::uint64_t rows = one.rows(kind);
        if (rows == 0) continue;
        const std::span<const kernels::bridge_node> nodes =
            one.targets ? std::span(one.targets->nodes) : of.nodes();
        std::vector<kernels::slot_of_points> slots;
        for (const quasi::order::place_of_slot& x : is_normal ? of.normal_slots() : of.uniform_slots())
            slots.push_back({x.key, x.in_stream.dimension, x.in_stream.dimensions, x.is_lone});
        const auto dimensions = is_normal ? of.dimensions_of_normals() : of.dimensions_of_uniforms();
        random::placed_points& p = out.emplace_back();
        places& in = at.emplace_back();
        in.slots = all.add(std::span<const kernels::slot_of_points>(slots));
        in.dimensions = all.add(dimensions);
        if (is_normal && of.is_bridged()) {
            const std::size_t known = of.components();
            const way_in_time way(nodes, known);
            in.visits = all.add(std::span<const kernels::point_visit>(way.visits));
            if (!one.targets) in.roots = all.add(of.inverse_roots());
            p.stack = way.stack;
            p.walkers = walkers_of(way.stack, known, on);
            p.components = static_cast<word32>(known);
            if (known > 0) {
                const auto segments = way.segments(known, p.walkers);
                std::vector<word32> steps;
                for (const kernels::bridge_node& n : nodes.first(known))
                    steps.push_back(static_cast<word32>(n.step));
                in.loadings = all.add(of.loadings());
                in.steps = all.add(std::span<const word32>(steps));
                in.segments = all.add(std::span<const kernels::point_segment>(segments));
                p.walkers = static_cast<word32>(segments.size()) - 1;
            }
        }
        if (const quasi::rotated_slots& rotated = of.rotated(); is_normal && !rotated.slots.empty()) {
            in.rotated = all.add(std::span(rotated.slots));
            in.rotation = all.add(std::span(rotated.rotation));
            p.rotated = static_cast<word32>(rotated.slots.size());
        }
        p.first_row = first_row;
        p.steps = static_cast<word32>(one.targets ? nodes.size() : of.steps());
        p.slot_count = static_cast<word32>(slots.size());
        for (const word32 d : dimensions)
            if (d != kernels::no_dimension) p.directions = std::max<std::size_t>(p.directions, d + 1);
        first_row += rows;
    }
    if (out.empty()) return out;
    const std::byte* const there = all.uploaded(on, memory, s);
    const auto point = [&]<class value>(const value*& to, std::size_t place) {
        if (place != 0) to = reinterpret_cast<const value*>(there + place);
    };
    for (std::size_t i = 0; i < out.size(); ++i) {
        random::placed_points& p = out[i];
        point(p.slots, at[i].slots);
        point(p.dimensions, at[i].dimensions);
        point(p.visits, at[i].visits);
        point(p.inverse_roots, at[i].roots);
        point(p.loadings, at[i].loadings);
        point(p.steps_of_components, at[i].steps);
        point(p.segments, at[i].segments);
        point(p.rotated_slots, at[i].rotated);
        point(p.rotation, at[i].rotation);
    }
    return out;
}

point_rows::target_tables point_rows::tables_of_targets(arrays::element of, device& on,
                                                        std::vector<device_memory>& memory, stream s) const {
    std::vector<word32> ahead;
    arrays_of_orders all;
    std::size_t at_steps = 0, at_ahead = 0;
    const auto add_as = [&]<class shock>(shock) {
        std::vector<kernels::step_to_target<shock>> steps;
        for (const shared_order& one : shares_) {
            if (!one.targets) continue;
            ahead.insert(ahead.end(), one.targets->ahead.begin(), one.targets->ahead.end());
            for (const kernels::step_to_target<double>& x : one.targets->steps)
                steps.push_back({static_cast<shock>(x.by_left), static_cast<shock>(x.by_right),
                                 static_cast<shock>(x.deviation), static_cast<shock>(x.inverse_root)});
        }
        at_steps = all.add(std::span<const kernels::step_to_target<shock>>(steps));
        at_ahead = all.add(std::span<const word32>(ahead));
    };
    of == arrays::element::double_ ? add_as(double{}) : add_as(float{});
    if (ahead.empty()) return {};
    const std::byte* const there = all.uploaded(on, memory, s);
    return {there + at_steps, reinterpret_cast<const word32*>(there + at_ahead)};
}

const kernels::made_point* point_rows::table_of_made_points(device& on, std::vector<device_memory>& memory,
                                                            stream s) const {
    static_assert(kernels::points_of_trade == quasi::few_dimensions);
    std::vector<kernels::made_point> points(first_.back().made_points);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        if (!is_made(i)) continue;
        const quasi::order& of = shares_[i].order;
        const auto dimensions = of.dimensions_of_normals();
        for (std::size_t n = 0; n < dimensions.size(); ++n)
            points[first_made_point(i) + n] = {of.normal_slots()[n % of.normals()].key, dimensions[n], 0};
    }
    if (points.empty()) return nullptr;
    arrays_of_orders all;
    const std::size_t at = all.add(std::span<const kernels::made_point>(points));
    return reinterpret_cast<const kernels::made_point*>(all.uploaded(on, memory, s) + at);
}

std::size_t point_rows::dimensions_made() const {
    std::size_t out = 0;
    for (const shared_order& one : shares_) {
        if (one.way != point_way::made) continue;
        for (const word32 d : one.order.dimensions_of_normals()) out = std::max<std::size_t>(out, d + 1);
    }
    return out;
}

}  // namespace tilewalk::cuda
