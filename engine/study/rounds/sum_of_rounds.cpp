// SPDX-License-Identifier: Apache-2.0
#include "engine/study/rounds/sum_of_rounds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace tilewalk::studies {

namespace {

double variance_of(const estimate& e) {
    return std::pow(e.error(), 2);
}
double covariance(const estimate& a, const estimate& b) {
    return (variance_of(a + b) - variance_of(a) - variance_of(b)) / 2;
}

}  // namespace

void sum_of_rounds::add(estimate of_unit, double times, std::uint64_t paths, bool is_of_points) {
    is_of_one_round_ = is_of_one_round_ && paths == first_.paths;
    beside_parts_ = std::hypot(beside_parts_, times * std::exchange(of_unit.beside, 0));
    for (estimate* to : {&all_, is_of_points ? &of_points_ : &of_paths_[paths]}) to->add(of_unit, times);
}

double sum_of_rounds::error() const {
    return std::hypot(error_by_parts(), beside_parts_);
}

double sum_of_rounds::error_by_parts() const {
    if (is_of_one_round_) return all_.error();
    double variance = variance_of(of_points_);
    for (auto a = of_paths_.begin(); a != of_paths_.end(); ++a) {
        variance += variance_of(a->second) * share_of(a->first);
        // `b` has more paths than `a`, so its factor applies to the covariance.
        for (auto b = std::next(a); b != of_paths_.end(); ++b)
            variance += 2 * covariance(a->second, b->second) * share_of(b->first);
    }
    return std::sqrt(std::max(variance, 0.0));
}

// Returns the variance of a mean of so many paths, relative to the first round's mean.
double sum_of_rounds::share_of(std::uint64_t paths) const {
    return static_cast<double>(first_.paths) / static_cast<double>(paths);
}

}  // namespace tilewalk::studies
