// SPDX-License-Identifier: Apache-2.0
// A figure with its mean in each part of the run, so that sums know which errors their terms share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk::studies {

// The parts of a run: each is a randomisation of points, or `part_paths` consecutive paths; the last part has
// the rest. With fewer parts than `least`, no error is known.
struct run_parts {
    std::uint64_t part_paths = 0, paths = 0;
    std::size_t least = least_parts;

    run_parts() = default;
    run_parts(std::uint64_t of_part, std::uint64_t of_run, std::size_t least_to_show = least_parts)
        : part_paths(of_part), paths(of_run), least(least_to_show) {}
    explicit run_parts(const run_manifest& manifest) : run_parts(manifest.part_paths, manifest.paths) {}
};

struct estimate {
    double value = 0;
    std::vector<double> means{};  // by part; empty if `value` holds in each part
    double beside = 0;            // error that the part means do not show
    run_parts of{};

    estimate() = default;
    // Takes the price of one unit, or the policy's worth if the trade can be ended early.
    estimate(const price_row& row, const run_parts& of_run);
    estimate(std::vector<double> by_part, const run_parts& of_run);
    // Takes a sensitivity. If it has an error but no part means, `beside` is no figure.
    estimate(const greek_row& row, const run_parts& of_run);

    // False if a term had an error without part means, or the parts of another run.
    bool has_known_parts() const { return is_figure(beside); }
    double mean(std::size_t part) const { return means.empty() ? value : means[part]; }
    // Returns the mean over parts, weighted by their paths; `value` if there are none.
    double mean_of_parts() const;
    // Returns the standard error; no figure if the run has too few parts.
    double error() const;

    // Errors in `beside` are taken as independent. The error becomes unknown if `other` has other parts.
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
