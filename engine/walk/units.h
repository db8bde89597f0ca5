// SPDX-License-Identifier: Apache-2.0
// Units: consecutive paths whose shocks are made together, by a generator that starts anew for each unit.
// Units make a cube independent of the chunks in which it is made. In a quasi-random run each unit is one
// randomisation, and the standard error comes from the spread of their means.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/moments.h"
#include "kernels/tile.h"

namespace tilewalk::run {

// Paths [from, from + paths) of unit `unit`; the first is path `at` of the chunk.
struct unit_piece {
    std::uint64_t unit = 0;
    std::uint64_t from = 0;
    std::uint64_t paths = 0;
    std::uint64_t at = 0;
};

template <class body>
void for_each_piece(std::uint64_t unit_paths, std::uint64_t first_path, std::uint64_t paths,
                    const body& use) {
    for (std::uint64_t at = 0; at < paths;) {
        unit_piece p;
        p.unit = (first_path + at) / unit_paths;
        p.from = (first_path + at) % unit_paths;
        const std::uint64_t left = unit_paths - p.from;
        p.paths = left < paths - at ? left : paths - at;
        p.at = at;
        use(p);
        at += p.paths;
    }
}

// A quasi-random run is cut into 32 to 63 units, or fewer (down to 8) if it has fewer tiles; the last may be
// shorter. A unit is a power of two of tiles, the sizes at which Sobol points are spread most evenly.
inline constexpr std::uint64_t most_wanted_randomisations = 32;
inline constexpr std::uint64_t least_randomisations = 8;
inline constexpr std::uint64_t least_quasi_paths = least_randomisations * kernels::paths_per_tile;

// Paths of a unit of a quasi-random run; throws tilewalk::error (usage) if the run has too few.
std::uint64_t quasi_unit_paths(std::uint64_t run_paths);

// Runs of fewer paths take independent ones where the choice is open.
inline constexpr std::uint64_t least_paths_of_points = 16384;

// Paths of each of so many randomisations, a power of two of tiles, for a run of at least so many paths.
std::uint64_t paths_of_randomisation(std::uint64_t run_paths, std::uint64_t randomisations);

// The standard error of the mean of independent paths; 0 for fewer than two.
double standard_error_of(const kernels::moments& paths);

// Half the width of a 95 % interval in standard errors that were found with so many degrees of freedom: the
// 97.5 % quantile of Student's t. It is 1e-5 too small at 7, the fewest there are here.
double width_95(double freedom);
// The same of an interval of any confidence above a half.
double width_of(double confidence, double freedom);

// The ends of an interval about a mean, in its standard errors. Means of few skewed numbers miss the truth on
// one side more often than on the other, as a long tail is in the sample or not: `lean` is the skewness of
// these numbers over the root of how many they are. The ends are those of Student's law through the inverse
// of a cubic that takes the skewness out (Hall 1992, On the removal of skewness by transformation).
struct ends_of_interval {
    double below, above;
};
ends_of_interval ends_of(double confidence, double freedom, double lean);
// The lean of these numbers, from their unbiased third moment; 0 for fewer than three, or if all are equal.
double lean_of(std::span<const double> numbers);

// Turns a number of Student's law into one that is as likely beyond in the standard normal law (Wallace
// 1959): up to 6, off by less than 3e-3 of its size for 15 degrees of freedom, and by less than 2e-4 for 63.
double normal_of_student(double t, double degrees);

struct estimate {
    double mean = 0;
    double standard_error = 0;
    std::size_t units = 0;
    double lean = 0;  // see ends_of
};

// The price of a quasi-random run and its standard error, from the moments of each unit. Points of one unit
// depend on each other, so that their spread says nothing; units are independent. A shorter last unit has a
// proportionally smaller weight.
//
// Units are a power of two of tiles: they are the parts of the run's tally (see engine/walk/tally.h).
estimate estimate_of_units(std::span<const kernels::moments> units);
// The same error from the means of parts of `part_paths` paths; the last part has the rest of the run's.
double error_of_parts(std::span<const double> means, std::uint64_t part_paths, std::uint64_t run_paths);
// The error of a figure that the means of its parts do not show, such as that of rounding; 0 where they show
// half of it, or, of few parts, as little of it as they do by chance once in a million times. Parts are taken
// to be of one size.
double error_beside_parts(double error, std::span<const double> means);

// Fewer units say too little of a share.
inline constexpr std::size_t least_units_of_share = 16;
// Payoffs less the share of a control that suits the points of units, by unit: the units, of the payoffs and
// of what is left of them when all of the control is subtracted, show it. Each unit has the share that the
// others show, which it knows nothing of: the mean of the control is 0, and so that of all units stays
// unbiased. Shares have units in common, and where the means of a control lean to one side, as the asset's
// under a stochastic volatility do, units with their shares differ by less than their mean errs. So numbers
// by unit are what the mean owes to each (Tukey's pseudo-values, moved to that mean): their spread says by
// how much it errs, and never too little on average (Efron and Stein 1981).
std::vector<double> means_less_a_share(std::span<const kernels::moments> left,
                                       std::span<const kernels::moments> payoffs);

}  // namespace tilewalk::run
