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

// A trade whose price is looked for on more and more paths.
struct example {
    std::string_view name;   // in its rows
    std::string (*book)();   // market and trade, in YAML
    std::string_view bp_of;  // basis points are of this
    double size = 100;       // of it
};
std::span<const example> examples();

// Numbers that are drawn alike and independently, such as payoffs of paths or means of randomisations.
struct sample {
    double mean = 0, variance = 0;
    double count = 0;
    double noise = 0;  // standard error of the variance, over the variance
};
// Throws tilewalk::error (internal) for fewer than two.
sample sample_of(std::span<const double> values);

// Why a price from randomisations is none: beyond chance it is away from that of independent paths, or it has
// no spread. Empty if nothing is wrong.
std::string why_wrong(const sample& means, const sample& payoffs);

// Prices by paths from one source of random numbers.
struct point {
    double paths = 0, error = 0;
    double milliseconds = 0;  // 0: nobody timed it
};
using line = std::vector<point>;  // from few paths to many

// The slope of the logarithm of the error against that of the paths, by least squares, with its standard
// error where each point's error is off by `noise` of itself. None of fewer than two points.
struct slope {
    double value = 0, noise = 0;
};
std::optional<slope> slope_of(const line& of, std::span<const double> noise);

// The point of a line with this error: by a power law between two neighbours. Beyond the last point the error
// falls with the slope `falls_by` and the time grows with the paths. A line whose first point has less error
// gives that point, because a run can't have fewer paths. None where the error doesn't fall.
struct place_on_line {
    double paths = 0, milliseconds = 0;
    std::string_view found;  // "interpolated", "extrapolated", "at most"
};
std::optional<place_on_line> place_of(double error, const line& of, double falls_by);

inline constexpr std::uint64_t randomisations = 16;  // of the price whose error is told
// A randomisation has a tile of paths at least.
inline constexpr std::uint64_t fewest_paths = randomisations * 1024;

struct place {
    std::string device, precision;
    std::uint64_t most_paths = fewest_paths;  // lines go from the fewest to these by powers of two
    int seeds = 4;                            // of 64 randomisations each, whose spread is the error
    bool is_timed = true;
};

// Rows of all points and all lines of an example.
void measure(const place& at, const example& of, const stop_rule& until,
             const std::function<void(const std::string&)>& says, const std::atomic<bool>* cancel,
             const sink& to);

}  // namespace tilewalk::bench::convergence
