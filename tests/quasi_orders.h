// SPDX-License-Identifier: Apache-2.0
// Makes trades with given shocks, for tests of the order of quasi-random dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/numerics/quasi/order.h"

namespace tilewalk::tests {

struct made_trade {
    program::path_program code;
    program::path_data data;
    program::timeline when;
};
// A trade with `normals` and `uniforms` on each step. Steps end at `times`; events follow those in `events`.
inline made_trade trade_of(int normals, int uniforms, const std::vector<double>& times,
                           const std::set<std::size_t>& events) {
    made_trade out;
    out.code.normals_per_step = normals;
    out.code.uniforms_per_step = uniforms;
    for (int s = 0; s < normals; ++s) {
        out.code.normal_streams.push_back(static_cast<std::uint32_t>(s));
        out.data.normal_names.emplace_back("asset " + std::to_string(s));
    }
    for (int s = 0; s < uniforms; ++s) {
        out.code.uniform_streams.push_back(static_cast<std::uint32_t>(s));
        out.data.uniform_names.emplace_back("jumps " + std::to_string(s));
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
        out.when.times.push_back(times[i]);
        if (events.contains(i)) out.when.add({1, 0});
        out.when.close_step();
    }
    return out;
}
// A trade of several assets: on each of `steps` steps asset i moves by the sum of roots[i][j] times normal j.
inline made_trade correlated_trade_of(const std::vector<std::vector<double>>& roots, int steps) {
    using program::operation;
    std::vector<double> times;
    for (int s = 1; s <= steps; ++s) times.push_back(s);
    made_trade out =
        trade_of(static_cast<int>(roots.size()), 0, times, {static_cast<std::size_t>(steps - 1)});
    program::lane_section step;
    const auto add = [&](operation what, std::array<std::uint32_t, 3> args, double number = 0) {
        step.nodes.push_back({what, args, number});
        return static_cast<std::uint32_t>(step.nodes.size() - 1);
    };
    std::vector<std::uint32_t> normals;
    for (std::uint32_t j = 0; j < roots.size(); ++j) normals.push_back(add(operation::normal, {j}));
    for (std::uint32_t i = 0; i < roots.size(); ++i) {
        std::uint32_t move = add(operation::constant, {}, 0.01);
        for (std::size_t j = 0; j < roots[i].size(); ++j)
            move = add(operation::fma, {normals[j], add(operation::constant, {}, roots[i][j]), move});
        step.writes.push_back({i, add(operation::add, {add(operation::state, {i}), move})});
        out.code.states.push_back("x" + std::to_string(i));
    }
    out.code.sections.push_back(std::move(step));
    out.data.runs.push_back(static_cast<std::size_t>(steps));
    out.data.widths.push_back(0);
    out.data.rows.emplace_back();
    return out;
}
inline quasi::order order_of(const made_trade& t, quasi::construction how = quasi::construction::bridge) {
    return quasi::order_maker().made_for(t.code, t.data, t.when, {how});
}

inline std::vector<double> uneven_times(int count) {
    std::vector<double> out;
    double now = 0;
    for (int i = 0; i < count; ++i) out.push_back(now += 0.01 + 0.05 * (i % 3));
    return out;
}

}  // namespace tilewalk::tests
