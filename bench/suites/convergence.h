// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"

namespace tilewalk::bench::convergence {

struct example {
    std::string_view name;   // the case's name in rows
    std::string (*book)();   // market and trade, in YAML
    std::string_view bp_of;  // name of the amount that basis points refer to
    double size = 100;       // that amount
};
std::span<const example> examples();

// Statistics of independent, identically distributed numbers: payoffs, or means of randomisations.
struct sample {
    double mean = 0, variance = 0;
    double count = 0;
    double noise = 0;  // relative standard error of the variance
};
// Statistics of the values. Throws tilewalk::error (internal) for fewer than two.
sample sample_of(std::span<const double> values);

// Says why randomised means are wrong: no spread, or too far from independent payoffs; empty if right.
std::string why_wrong(const sample& means, const sample& payoffs);

struct point {
    double paths = 0, error = 0;
    double milliseconds = 0;  // 0: not timed
};
using line = std::vector<point>;  // from few paths to many

// The least-squares slope of log(error) against log(paths), with its standard error if each point has the
// relative error `noise`. Empty for fewer than two points.
struct slope {
    double value = 0, noise = 0;
};
std::optional<slope> slope_of(const line& of, std::span<const double> noise);

// The place where a line reaches an error, by a power law between two points. Beyond the last point the error
// falls with the slope `falls_by` and the time grows with the paths. Never before the first point, because a
// run can't have fewer paths. Empty if the error doesn't fall.
struct place_on_line {
    double paths = 0, milliseconds = 0;
    std::string_view found;  // "interpolated", "extrapolated", or "at most" (first point)
};
std::optional<place_on_line> place_of(double error, const line& of, double falls_by);

inline constexpr std::uint64_t randomisations = 16;  // of a price in a row
// The fewest paths of a row: each randomisation takes at least a tile of 1024.
inline constexpr std::uint64_t fewest_paths = randomisations * 1024;

struct place {
    std::string device, precision;
    std::uint64_t most_paths = fewest_paths;  // lines go from fewest_paths to this, by powers of two
    int seeds = 4;                            // runs of 64 randomisations, whose spread gives the error
    bool is_timed = true;
};

void measure(const place& at, const example& of, const stop_rule& until,
             const std::function<void(const std::string&)>& says, const std::atomic<bool>* cancel,
             const sink& to);

}  // namespace tilewalk::bench::convergence
