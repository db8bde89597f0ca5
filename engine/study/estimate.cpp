// SPDX-License-Identifier: Apache-2.0
#include "engine/study/estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/walk/units.h"

namespace tilewalk::studies {

namespace {

double beside(double error, const std::vector<double>& means) {
    return means.empty() ? error : run::error_beside_parts(error, means);
}

}  // namespace

estimate::estimate(const price_row& row, const run_parts& of_run)
    : value(row.early ? row.early->policy_value : row.price),
      means(row.early ? row.early->part_means : row.part_means),
      beside(studies::beside(row.early ? row.early->policy_error : row.standard_error, means)),
      of(of_run) {}

estimate::estimate(std::vector<double> by_part, const run_parts& of_run)
    : means(std::move(by_part)), of(of_run) {
    value = mean_of_parts();
}

estimate::estimate(const greek_row& row, const run_parts& of_run)
    : value(row.value),
      means(row.part_means),
      beside(means.empty() && row.standard_error != 0 ? no_figure
                                                      : studies::beside(row.standard_error, means)),
      of(of_run) {}

double estimate::mean_of_parts() const {
    if (means.empty()) return value;
    double sum = 0;
    for (std::size_t p = 0; p < means.size(); ++p) {
        const std::uint64_t first = std::min(of.paths, p * of.part_paths);
        sum += means[p] * static_cast<double>(std::min(of.part_paths, of.paths - first));
    }
    return sum / static_cast<double>(of.paths);
}

double estimate::error() const {
    if (means.empty()) return beside;
    if (means.size() < of.least) return no_figure;
    return std::hypot(run::error_of_parts(means, of.part_paths, of.paths), beside);
}

estimate& estimate::add(const estimate& other, double times) {
    if (means.empty() && !other.means.empty()) {
        means.assign(other.means.size(), value);
        of = other.of;
    }
    const bool are_alike = other.means.empty() || other.means.size() == means.size();
    for (std::size_t p = 0; are_alike && p < means.size(); ++p) means[p] += times * other.mean(p);
    value += times * other.value;
    beside = are_alike ? std::hypot(beside, times * other.beside) : no_figure;
    return *this;
}

estimate& estimate::operator*=(double by) {
    value *= by;
    for (double& m : means) m *= by;
    beside *= std::abs(by);
    return *this;
}

estimate& estimate::operator/=(double by) {
    value /= by;
    for (double& m : means) m /= by;
    beside /= std::abs(by);
    return *this;
}

}  // namespace tilewalk::studies
