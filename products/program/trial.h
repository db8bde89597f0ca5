// SPDX-License-Identifier: Apache-2.0
// Trials: some paths of a program, walked one operation at a time, where a node may be given another value
// than its own. Trials analyse programs; no price comes from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/philox.h"
#include "products/program/evaluate.h"
#include "products/program/passes.h"
#include "products/program/timeline.h"

namespace tilewalk::program {

inline bool combines_truths(operation code) {
    return code == operation::logical_not || code == operation::logical_and || code == operation::logical_or;
}

struct place_on_path {
    const double* row;
    std::vector<double> states;
    std::vector<double> normals, uniforms;  // by slot
};

// A trial's truth may be a number between 0 and 1: a select then mixes both sides in this proportion, and two
// truths combine as the product of their shares.
class trial {
  public:
    trial(const path_program& p, const path_data& data);

    // The values of a section's nodes, with `value` in place of node `given`.
    std::vector<double> values(std::size_t section, const place_on_path& at, std::uint32_t given,
                               double value) const;
    static constexpr std::uint32_t no_node = ~std::uint32_t{0};

  private:
    double value_of(const lane_section& of, const std::vector<bool>& is_truth, const place_on_path& at,
                    const std::vector<double>& v, std::size_t i) const;

    const path_program& p_;
    const path_data& data_;
    std::vector<std::vector<bool>> is_truth_;  // by section and node
};

// Shocks of a path for a trial, the same on every machine.
class trial_numbers {
  public:
    explicit trial_numbers(std::uint64_t path) : counter_(path << 32) {}
    double uniform() {
        const kernels::philox_block b =
            kernels::path_block(0, counter_++, 0, kernels::uniform_stream, kernels::stream_key{});
        return (static_cast<double>(b.x0) + 0.5) * 0x1p-32;
    }
    double normal() { return evaluate(operation::norm_inv, uniform(), 0, 0); }

  private:
    std::uint64_t counter_;
};

// Walks one path, whose shocks come from numbers.normal() and numbers.uniform(). values_of(section, run,
// place on the path) returns the values of the section's nodes. Returns the first output.
template <class source, class function>
double walk_numbers(const path_program& p, const path_data& data, const timeline& when, source numbers,
                    const function& values_of) {
    place_on_path at{};
    at.normals.resize(static_cast<std::size_t>(p.normals_per_step));
    at.uniforms.resize(static_cast<std::size_t>(p.uniforms_per_step));
    at.states = data.initial_states;
    const auto run = [&](std::size_t section, std::size_t row) {
        at.row = data.rows[section].data() + row * data.widths[section];
        const std::vector<double> v = values_of(section, row, at);
        for (const state_write& w : p.sections[section].writes) at.states[w.state] = v[w.node];
    };
    for (std::size_t step = 0; step < when.steps(); ++step) {
        std::ranges::generate(at.normals, [&] { return numbers.normal(); });
        std::ranges::generate(at.uniforms, [&] { return numbers.uniform(); });
        run(0, step);
        for (const event& e : when.events_after(step)) run(e.section, e.row);
    }
    return at.states[p.outputs[0]];
}

template <class function>
double walk_path(const path_program& p, const path_data& data, const timeline& when, std::uint64_t path,
                 const function& values_of) {
    return walk_numbers(p, data, when, trial_numbers(path), values_of);
}

}  // namespace tilewalk::program
