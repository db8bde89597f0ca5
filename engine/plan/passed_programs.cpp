// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/passed_programs.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace tilewalk::plan {

namespace {

// Leaves out names and tables, by which is_same_program() tells programs apart.
std::uint64_t hash_of(const program::program& p) {
    std::uint64_t hash = p.states.size();
    const auto add = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
    };
    add(p.terms.size());
    for (const program::section& s : p.sections) {
        add(s.nodes.size());
        for (const program::node& n : s.nodes) {
            add(static_cast<std::uint64_t>(n.code) << 32 | n.args[0]);
            add(std::uint64_t{n.args[1]} << 32 | n.args[2]);
            add(std::bit_cast<std::uint64_t>(n.number));
        }
        for (const program::state_write& w : s.writes) add(std::uint64_t{w.state} << 32 | w.node);
    }
    for (const std::uint32_t o : p.outputs) add(o);
    return hash;
}

}  // namespace

bool is_same_program(const program::program& a, const program::program& b) {
    // Compares numbers by bits, since 0 and -0 are different numbers.
    const auto same_node = [](const program::node& v, const program::node& w) {
        return v.code == w.code && v.args == w.args &&
               std::bit_cast<std::uint64_t>(v.number) == std::bit_cast<std::uint64_t>(w.number);
    };
    const auto same_section = [&](const program::section& x, const program::section& y) {
        const auto same_write = [](const program::state_write& v, const program::state_write& w) {
            return v.state == w.state && v.node == w.node;
        };
        const auto same_table = [](const program::table& v, const program::table& w) {
            return v.name == w.name && v.size == w.size;
        };
        return std::ranges::equal(x.nodes, y.nodes, same_node) &&
               std::ranges::equal(x.writes, y.writes, same_write) && x.rows == y.rows &&
               std::ranges::equal(x.tables, y.tables, same_table);
    };
    return a.states == b.states && a.terms == b.terms && a.outputs == b.outputs && a.crossed == b.crossed &&
           a.normals_per_step == b.normals_per_step && a.uniforms_per_step == b.uniforms_per_step &&
           a.scenarios_per_step == b.scenarios_per_step && a.normal_streams == b.normal_streams &&
           a.uniform_streams == b.uniform_streams && a.lone_normals == b.lone_normals &&
           std::ranges::equal(a.sections, b.sections, same_section);
}

passed_program::passed_program(const program::program& recorded, bool is_fast)
    : plain(program::optimise(recorded, {.is_fast = is_fast})),
      with_logarithms(program::hoist(program::compare_logarithms(plain))) {}

std::shared_ptr<const passed_program> passed_programs::find(std::uint64_t key,
                                                            const program::program& recorded,
                                                            bool is_fast) const {
    const auto [first, end] = known_.equal_range(key);
    for (auto at = first; at != end; ++at) {
        const known& k = at->second;
        if (k.is_fast == is_fast && is_same_program(k.recorded, recorded)) return k.passed;
    }
    return nullptr;
}

// Runs passes outside the lock. If two threads pass one program, the first to end keeps its result.
std::shared_ptr<const passed_program> passed_programs::passed(const program::program& recorded,
                                                              bool is_fast) {
    const std::uint64_t key = hash_of(recorded);
    {
        const std::shared_lock guard(lock_);
        if (auto found = find(key, recorded, is_fast)) return found;
    }
    auto made = std::make_shared<const passed_program>(recorded, is_fast);
    const std::unique_lock guard(lock_);
    if (auto found = find(key, recorded, is_fast)) return found;
    if (known_.size() < most) known_.emplace(key, known{recorded, is_fast, made});
    return made;
}

std::size_t passed_programs::size() const {
    const std::shared_lock guard(lock_);
    return known_.size();
}

}  // namespace tilewalk::plan
