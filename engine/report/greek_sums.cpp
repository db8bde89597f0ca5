// SPDX-License-Identifier: Apache-2.0
#include "engine/report/greek_sums.h"

#include <algorithm>
#include <functional>
#include <span>

#include "engine/run/units.h"

namespace tilewalk::report {

std::optional<greek_row> sum_of(const std::vector<const greek_row*>& rows, const run_manifest& told) {
    const auto is_summable = [&](const greek_row* r) {
        return !r->has_failed() && r->unit == rows.front()->unit;
    };
    if (rows.empty() || !std::ranges::all_of(rows, is_summable)) return std::nullopt;
    greek_row out = *rows.front();
    out.value = out.bias = out.standard_error = 0;
    out.part_means.clear();
    bool are_known = true;
    for (const greek_row* r : rows) {
        out.value += r->value;
        out.bias += r->bias;
        out.paths = std::max(out.paths, r->paths);
        if (r->method != out.method) out.method = "mixed";
        if (r->standard_error == 0) continue;
        if (out.part_means.empty()) out.part_means.resize(r->part_means.size());
        are_known = are_known && !r->part_means.empty() && r->part_means.size() == out.part_means.size();
        if (are_known)
            std::ranges::transform(out.part_means, r->part_means, out.part_means.begin(), std::plus<>());
    }
    if (!are_known) {
        out.standard_error = no_figure;
        out.part_means.clear();
    } else if (!out.part_means.empty()) {
        out.standard_error = out.part_means.size() < least_parts
                                 ? no_figure
                                 : run::error_of_parts(out.part_means, told.part_paths, told.paths);
    }
    return out;
}

}  // namespace tilewalk::report
