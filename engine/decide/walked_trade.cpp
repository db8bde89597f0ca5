// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/walked_trade.h"

#include <cmath>
#include <cstddef>

#include "engine/decide/controls/control.h"
#include "engine/decide/quarters.h"
#include "engine/plan/ways_back.h"
#include "kernels/quarters.h"
#include "kernels/tile.h"
#include "tilewalk/rows.h"

namespace tilewalk::studies {

namespace {

// Returns the means, by part of the run, of the outputs from `first` on; no_figure if a path is not finite.
std::vector<std::vector<double>> means_of_tangents(const run::tally& of, std::size_t first) {
    std::vector<std::vector<double>> out;
    for (std::size_t row = first; row < of.outputs(); ++row) {
        std::vector<double>& means = out.emplace_back();
        const bool is_finite = of.whole(row).not_finite == 0;
        for (const kernels::moments& m : of.parts(row)) means.push_back(is_finite ? m.mean : no_figure);
    }
    return out;
}

}  // namespace

walked_trade::walked_trade(const run::tally& of, bool is_quasi, const planned& p)
    : result(of.whole()), part_paths(of.part_tiles() * kernels::paths_per_tile) {
    std::vector<kernels::moments> parts = of.parts();
    is_quasi = is_quasi && parts.size() > 1;  // one randomisation has no spread
    if (is_quasi && p.subtracts() != nullptr && p.subtracts()->has_share) {
        const std::vector<kernels::moments> payoffs = of.parts(1);
        const std::vector<double> means = run::means_less_a_share(parts, payoffs);
        double changes = 0, controls = 0;
        for (std::size_t u = 0; u < parts.size(); ++u) {
            changes += std::pow(means[u] - parts[u].mean, 2);
            controls += std::pow(payoffs[u].mean - parts[u].mean, 2);
            parts[u].mean = means[u];
        }
        if (controls > 0) added_back = std::sqrt(changes / controls);
        quasi = run::estimate_of_units(parts);
        if (result.not_finite == 0) result.moments.mean = quasi->mean;
    } else if (is_quasi) {
        quasi = run::estimate_of_units(parts);
    }
    part_means = means_of_quarters(of);
    if (!part_means.empty()) {
        part_paths = kernels::paths_of_quarter;
    } else {
        part_means.reserve(parts.size());
        for (const kernels::moments& m : parts) part_means.push_back(m.mean);
    }
    if (p.back) derivatives = p.back->means_by_number(of);
    if (p.with_tangents) derivatives = means_of_tangents(of, p.ready->code->outputs.size());
}

}  // namespace tilewalk::studies
