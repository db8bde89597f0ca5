// SPDX-License-Identifier: Apache-2.0
#include "products/program/trial.h"

#include <array>

#include "products/program/activity.h"

namespace tilewalk::program {

namespace {

bool is_share(double truth) {
    return truth > 0 && truth < 1;
}

}  // namespace

trial::trial(const path_program& p, const path_data& data) : p_(p), data_(data) {
    const active_values active(p, no_number_of(p));
    for (std::size_t s = 0; s < p.sections.size(); ++s) is_truth_.push_back(active.truths(s));
}

std::vector<double> trial::values(std::size_t section, const place_on_path& at, std::uint32_t given,
                                  double value) const {
    const lane_section& of = p_.sections[section];
    std::vector<double> v(of.nodes.size());
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = i == given ? value : value_of(of, is_truth_[section], at, v, i);
    return v;
}

double trial::value_of(const lane_section& of, const std::vector<bool>& is_truth, const place_on_path& at,
                       const std::vector<double>& v, std::size_t i) const {
    const auto is_shared = [&](std::uint32_t arg) { return is_truth[arg] && is_share(v[arg]); };
    const node& n = of.nodes[i];
    switch (n.code) {
        case operation::constant:
            return n.number;
        case operation::term:
            return data_.terms[n.args[0]];
        case operation::row:
            return at.row[n.args[0]];
        case operation::state:
            return at.states[n.args[0]];
        case operation::normal:
            return at.normals[n.args[0]];
        case operation::uniform:
            return at.uniforms[n.args[0]];
        case operation::scenario:
            return 0;
        case operation::flaw:  // a NaN would spoil the sum if no path takes this side
            return v[n.args[2]];
        case operation::interpolate:
            return interpolated(at.row + of.place_of_table(n.args[1]), of.tables[n.args[1]].size,
                                v[n.args[0]]);
        default: {
            std::array<double, 3> x{};
            std::ranges::transform(operands(n), x.begin(), [&](std::uint32_t arg) { return v[arg]; });
            if (n.code == operation::select && is_shared(n.args[0])) return x[0] * x[1] + (1 - x[0]) * x[2];
            if (n.code == operation::equal && is_truth[n.args[0]] && is_truth[n.args[1]] &&
                std::ranges::any_of(operands(n), is_shared))
                return x[0] * x[1] + (1 - x[0]) * (1 - x[1]);
            if (combines_truths(n.code) && std::ranges::any_of(operands(n), is_shared)) {
                if (n.code == operation::logical_not) return 1 - x[0];
                return n.code == operation::logical_and ? x[0] * x[1] : x[0] + x[1] - x[0] * x[1];
            }
            return evaluate(n.code, x[0], x[1], x[2]);
        }
    }
}

}  // namespace tilewalk::program
