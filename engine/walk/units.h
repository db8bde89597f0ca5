// SPDX-License-Identifier: Apache-2.0
// Consecutive paths whose shocks are made together, by a generator that starts anew for each unit, so that
// chunks do not matter. A quasi-random run's units are randomisations, whose spread gives the standard error.
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

// A quasi-random run has 32 to 63 units, or down to 8 if it has few tiles; the last may be shorter. A unit is
// a power of two of tiles, the sizes at which Sobol points are spread most evenly.
inline constexpr std::uint64_t most_wanted_randomisations = 32;
inline constexpr std::uint64_t least_randomisations = 8;
inline constexpr std::uint64_t least_quasi_paths = least_randomisations * kernels::paths_per_tile;

// Throws tilewalk::error (usage) if the run has too few paths.
std::uint64_t quasi_unit_paths(std::uint64_t run_paths);

// Runs of fewer paths take independent ones if the choice is open.
inline constexpr std::uint64_t least_paths_of_points = 16384;

// Paths of a randomisation, a power of two of tiles, for a run of at least run_paths paths.
std::uint64_t paths_of_randomisation(std::uint64_t run_paths, std::uint64_t randomisations);

// Standard error of the mean of independent paths; 0 for fewer than two.
double standard_error_of(const kernels::moments& paths);

// Half the width of a 95 % interval in standard errors with `freedom` degrees of freedom: the 97.5 % quantile
// of Student's t, 1e-5 too small at 7, the fewest used.
double width_95(double freedom);
// For any confidence above 1/2.
double width_of(double confidence, double freedom);

// Ends of an interval about a mean, in standard errors. Means of few skewed numbers miss the truth more often
// on one side, as a long tail is in the sample or not; `lean` is the numbers' skewness over the root of their
// count. Student's ends go through the inverse of a cubic that removes the skewness (Hall 1992, On the
// removal of skewness by transformation).
struct ends_of_interval {
    double below, above;
};
ends_of_interval ends_of(double confidence, double freedom, double lean);
// From the unbiased third moment; 0 for fewer than three numbers, or if all are equal.
double lean_of(std::span<const double> numbers);

// Turns a number of Student's law into one that is as likely exceeded in the standard normal law (Wallace
// 1959). Up to 6, relative errors are below 3e-3 for 15 degrees of freedom, below 2e-4 for 63.
double normal_of_student(double t, double degrees);

struct estimate {
    double mean = 0;
    double standard_error = 0;
    std::size_t units = 0;
    double lean = 0;  // see ends_of
};

// Mean and standard error of a quasi-random run from its units' moments. Points of a unit depend on each
// other, so their spread says nothing; units are independent. A shorter last unit has a smaller weight. Units
// are the parts of the run's tally (see engine/walk/tally.h).
estimate estimate_of_units(std::span<const kernels::moments> units);
// The standard error from means of parts of `part_paths` paths; the last part has the rest of the run's.
double error_of_parts(std::span<const double> means, std::uint64_t part_paths, std::uint64_t run_paths);
// The part of an error, such as rounding's, that the means of parts do not show. 0 if they show half of it
// or, for few parts, as little as chance explains once in a million times. Assumes parts of one size.
double error_beside_parts(double error, std::span<const double> means);

// Fewer units say too little about a share.
inline constexpr std::size_t least_units_of_share = 16;
// By unit, payoffs minus the share of a control that suits the units' points. Units of the payoffs, and of
// the rest when all of the control is subtracted, show that share. A unit gets the share that the others
// show, independent of it; the control's mean is 0, so the mean of all units stays unbiased. Shares have
// units in common, and if a control's means lean to one side, as the asset's under stochastic volatility,
// units with their shares differ by less than their mean errs. The numbers returned are therefore Tukey's
// pseudo-values, moved to that mean: their spread shows the error, on average never too small (Efron and
// Stein 1981).
std::vector<double> means_less_a_share(std::span<const kernels::moments> left,
                                       std::span<const kernels::moments> payoffs);

}  // namespace tilewalk::run
