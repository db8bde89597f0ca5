// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greek_sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "engine/study/estimate.h"
#include "tilewalk/measures.h"

namespace tilewalk::report {

greek_row sum_of(const std::vector<greek_term>& terms, greek_row as, const run_manifest& manifest) {
    greek_row& out = as;
    out.bias = 0;
    out.paths = 0;
    out.method = terms.front().row->method;
    out.part_means.clear();
    std::vector<const greek_row*> rows;
    for (const greek_term& t : terms) rows.push_back(t.row);
    out.walk = walk_of_all(rows);
    studies::estimate sum;
    for (const auto& [row, factor] : terms) {
        if (row->has_failed()) {
            out.value = out.standard_error = no_figure;
            out.bias = 0;
            out.part_means.clear();
            out.message = row->key + " has no value: " + row->message;
            out.kind = row->kind;
            return out;
        }
        sum.add(studies::estimate(*row, studies::run_parts(manifest)), factor);
        out.bias += std::abs(factor) * row->bias;
        out.paths = std::max(out.paths, row->paths);
        if (row->method != out.method) out.method = "mixed";
    }
    out.value = sum.value;
    out.standard_error = sum.error();
    if (sum.has_known_parts()) out.part_means = std::move(sum.means);
    return out;
}

std::optional<greek_row> sum_of(const std::vector<const greek_row*>& rows, const run_manifest& manifest) {
    const auto is_summable = [&](const greek_row* r) {
        return !r->has_failed() && r->unit == rows.front()->unit;
    };
    if (rows.empty() || !std::ranges::all_of(rows, is_summable)) return std::nullopt;
    std::vector<greek_term> terms;
    for (const greek_row* r : rows) terms.push_back({r, 1});
    return sum_of(terms, *rows.front(), manifest);
}

void add_with_totals(results& to, std::vector<greek_row> of_trade) {
    std::map<std::string_view, std::vector<greek_row*>> by_measure;
    for (const greek_measure& m : greek_measures())
        for (greek_row& r : of_trade)
            if (r.measure == m.name) by_measure[m.name].push_back(&r);
    for (const greek_measure& m : greek_measures()) {
        const std::vector<greek_row*>& all = by_measure[m.name];
        std::optional<greek_row> total;
        if (all.size() >= 2 && m.has_total) total = sum_of({all.begin(), all.end()}, to.manifest);
        for (greek_row* r : all) to.greeks.push_back(std::move(*r));
        if (!total) continue;
        total->key.clear();
        to.greeks.push_back(*std::move(total));
    }
}

}  // namespace tilewalk::report
