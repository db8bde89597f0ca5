// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "products/program/evaluate.h"
#include "products/program/passes.h"

namespace tilewalk::program {

namespace {

void compute(const uniform_code& code, number_type walked_in, const double* terms, const double* row,
             std::vector<double>& scratch, double* out) {
    scratch.resize(code.nodes.size());
    for (std::size_t i = 0; i < code.nodes.size(); ++i) {
        const node& n = code.nodes[i];
        switch (n.code) {
            case operation::constant:
                scratch[i] = n.number;
                break;
            case operation::term:
                scratch[i] = terms[n.args[0]];
                break;
            case operation::row:
                scratch[i] = row[n.args[0]];
                break;
            default: {
                std::array<double, 3> x{};
                std::ranges::transform(operands(n), x.begin(),
                                       [&](std::uint32_t arg) { return scratch[arg]; });
                scratch[i] = is_ahead_of_paths(n.code) ? least_logarithm(n.code, walked_in, x[0], x[1], x[2])
                                                       : evaluate(n.code, x[0], x[1], x[2]);
            }
        }
    }
    for (std::size_t c = 0; c < code.columns.size(); ++c) out[c] = scratch[code.columns[c]];
}

}  // namespace

path_data bind(const path_program& p, const program_data& data, number_type walked_in) {
    path_data out;
    std::vector<double> scratch;
    out.terms.resize(p.per_trade.columns.size());
    compute(p.per_trade, walked_in, data.terms.data(), nullptr, scratch, out.terms.data());
    out.rows.resize(p.sections.size());
    out.runs = data.runs;
    for (std::size_t s = 0; s < p.sections.size(); ++s) {
        const uniform_code& code = p.sections[s].per_run;
        const std::size_t width = p.sections[s].row_width();
        out.widths.push_back(width);
        if (width == 0) continue;
        const std::size_t recorded_width = data.widths[s];
        const std::size_t runs = data.runs[s];
        out.rows[s].resize(runs * width);
        for (std::size_t r = 0; r < runs; ++r) {
            double* row = out.rows[s].data() + r * width;
            compute(code, walked_in, out.terms.data(), data.rows[s].data() + r * recorded_width, scratch,
                    row);
            row += code.columns.size();
            for (const lane_table& t : p.sections[s].tables)
                row = std::copy_n(data.tables[s][t.source].data() + r * t.size, t.size, row);
        }
    }
    for (const std::uint32_t from : p.state_sources) out.initial_states.push_back(data.initial_states[from]);
    out.scenarios = data.scenarios;
    out.normal_names = data.normal_names;
    out.uniform_names = data.uniform_names;
    return out;
}

}  // namespace tilewalk::program
