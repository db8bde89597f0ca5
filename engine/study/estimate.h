// SPDX-License-Identifier: Apache-2.0
// A figure with its means by part of the run, so that sums know what errors have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk::studies {

// The parts of a run: each has the same number of consecutive paths, or is a randomisation of points, and the
// last has the rest. Fewer parts than `least` show no error.
struct run_parts {
    std::uint64_t part_paths = 0, paths = 0;
    std::size_t least = least_parts;

    run_parts() = default;
    run_parts(std::uint64_t of_part, std::uint64_t of_run, std::size_t least_to_show = least_parts)
        : part_paths(of_part), paths(of_run), least(least_to_show) {}
    explicit run_parts(const run_manifest& told) : run_parts(told.part_paths, told.paths) {}
};

struct estimate {
    double value = 0;
    std::vector<double> means{};  // by part; empty: the value in each part
    double beside = 0;            // error that the means do not show
    run_parts of{};

    estimate() = default;
    // The price of one unit, or the policy's worth if the trade can be ended early.
    estimate(const price_row& row, const run_parts& of_run);
    estimate(std::vector<double> by_part, const run_parts& of_run);
    // A sensitivity. The error is unknown if no part shows it.
    estimate(const greek_row& row, const run_parts& of_run);

    // False if a term has an error and no parts, or other parts.
    bool has_known_parts() const { return is_figure(beside); }
    double mean(std::size_t part) const { return means.empty() ? value : means[part]; }
    // The mean of the parts, weighted by their paths; the value without parts.
    double mean_of_parts() const;
    // No figure if the run has too few parts.
    double error() const;

    // Errors that parts do not show are independent; unknown if the other run has other parts.
    estimate& add(const estimate& other, double times);
    estimate& operator+=(const estimate& other) { return add(other, 1); }
    estimate& operator-=(const estimate& other) { return add(other, -1); }
    estimate& operator*=(double by);
    estimate& operator/=(double by);

    friend estimate operator+(estimate a, const estimate& b) { return a += b; }
    friend estimate operator-(estimate a, const estimate& b) { return a -= b; }
    friend estimate operator*(double by, estimate a) { return a *= by; }
};

}  // namespace tilewalk::studies
