// SPDX-License-Identifier: Apache-2.0
// A figure from the paths of a run, with its means in the parts of the run. Sums, differences and multiples
// of estimates know what the errors of their terms have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk::studies {

// The parts into which a run is cut: each has the same number of consecutive paths, or is a randomisation of
// points, and the last has the paths that are left. Fewer parts than `least` show no error.
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
    double beside = 0;            // the error that the means do not show
    run_parts of{};

    estimate() = default;
    // The price of one unit: by its policy, if the trade can be ended early.
    estimate(const price_row& row, const run_parts& of_run);
    // The value is the mean of the parts.
    estimate(std::vector<double> by_part, const run_parts& of_run);
    // A sensitivity. The error is unknown if there is one that no part shows.
    estimate(const greek_row& row, const run_parts& of_run);

    // False if a term has an error and no parts, or other parts.
    bool has_known_parts() const { return is_figure(beside); }
    double mean(std::size_t part) const { return means.empty() ? value : means[part]; }
    // The mean of the parts, each by its paths; the value, if there are no parts.
    double mean_of_parts() const;
    // None if the run has too few parts.
    double error() const;

    // Adds the other one so many times. What their parts do not show is independent. The error is unknown if
    // the other one is of a run with other parts.
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
