// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/parts_with_policies.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/study/estimate.h"

namespace tilewalk::verbs {

namespace {

constexpr std::size_t wanted_policies = 16;

struct mean_and_error {
    double mean = 0, error = 0;
};
mean_and_error mean_of(std::span<const double> all) {
    const auto count = static_cast<double>(all.size());
    mean_and_error out;
    double squares = 0;
    for (const double one : all) out.mean += one / count;
    for (const double one : all) squares += (one - out.mean) * (one - out.mean);
    out.error = std::sqrt(squares / (count * (count - 1)));
    return out;
}

}  // namespace

cut_by_policies::cut_by_policies(std::size_t parts_of_run)
    : each(std::max<std::size_t>(parts_of_run / wanted_policies, 1)), parts(parts_of_run / each) {}

void found_by_parts::add(const results& found, std::size_t part, exercise::fitting by) {
    for (const greek_row& g : found.greeks) {
        values& to = by_row_[{g.trade, {g.measure, g.key}}];
        to.any_failed = to.any_failed || g.has_failed();
        (by == exercise::fitting::by_half_the_degree ? to.coarse : to.fine)[part] = g.value;
    }
}

double found_by_parts::at(const std::map<std::size_t, double>& of, std::size_t part) {
    const auto found = of.find(part);
    return found == of.end() ? 0 : found->second;
}

void found_by_parts::fill(greek_row& row, const run_manifest& told, double own_error) const {
    const auto found = by_row_.find({row.trade, {row.measure, row.key}});
    if (found == by_row_.end() || found->second.any_failed) {
        row.standard_error = no_figure;
        row.part_means.clear();
        return;
    }
    const values& of = found->second;
    row.walk = 0;
    std::vector<double> fine, coarser;
    for (std::size_t p = 0; p < cut_.parts; ++p) {
        fine.push_back(at(of.fine, p));
        if (cut_by_policies::is_also_coarse(p)) coarser.push_back(at(of.coarse, p) - at(of.fine, p));
    }
    const mean_and_error found_mean = mean_of(fine), change = mean_of(coarser);
    const double mean = found_mean.mean;
    row.value = mean;
    row.standard_error = std::hypot(found_mean.error, own_error);
    // What policies are worth on two days is off to the second order alone.
    if (row.measure != "theta") row.bias += std::abs(change.mean) + change.error;
    // Parts of the run as others know them: with this mean and this error.
    for (std::size_t p = 0; p < row.part_means.size(); ++p)
        row.part_means[p] = at(of.fine, std::min(p / cut_.each, cut_.parts - 1));
    const studies::estimate of_parts(row.part_means, studies::run_parts(told));
    const double middle = of_parts.value, shown = of_parts.error();
    for (double& m : row.part_means) m = mean + (shown > 0 ? row.standard_error / shown : 0) * (m - middle);
}

}  // namespace tilewalk::verbs
