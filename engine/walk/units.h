// SPDX-License-Identifier: Apache-2.0
// Units: consecutive paths whose shocks are made together, by a generator that restarts for each unit, so
// that results do not depend on how a device cuts the run into chunks. A quasi-random run's units are its
// randomisations, whose spread gives the standard error.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/moments.h"
#include "kernels/tile.h"

namespace tilewalk::run {

// A chunk's paths in one unit: `paths` paths, from path `from` of the unit and path `at` of the chunk on.
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

// A quasi-random run has 32 to 64 units, or fewer, at least 8, if it has few tiles; the last may be shorter.
// A unit is a power of two of tiles, the sizes at which Sobol points are spread most evenly.
inline constexpr std::uint64_t most_wanted_randomisations = 32;
inline constexpr std::uint64_t least_randomisations = 8;
inline constexpr std::uint64_t least_quasi_paths = least_randomisations * kernels::paths_per_tile;

// Paths of a unit of a quasi-random run. Throws tilewalk::error (usage) if the run has too few paths.
std::uint64_t quasi_unit_paths(std::uint64_t run_paths);

// Runs of fewer paths take independent random numbers, unless the user asked for points.
inline constexpr std::uint64_t least_paths_of_points = 16384;

// Paths of a randomisation, a power of two of tiles, so that `randomisations` of them cover run_paths paths.
std::uint64_t paths_of_randomisation(std::uint64_t run_paths, std::uint64_t randomisations);

// Standard error of the mean of independent paths; 0 for fewer than two.
double standard_error_of(const kernels::moments& paths);

// Half the width of a 95 % interval in standard errors with `freedom` degrees of freedom: the 97.5 % quantile
// of Student's t, 1e-5 too small at 7, the fewest used.
double width_95(double freedom);
// As width_95, for any confidence above 1/2.
double width_of(double confidence, double freedom);

// Ends of a confidence interval about a mean, in standard errors. The mean of few skewed numbers misses the
// truth more often on one side, since the sample may lack the long tail. `lean` is their skewness over the
// square root of their count. Student's ends go through the inverse of a cubic that removes the skewness
// (Hall 1992, On the removal of skewness by transformation).
struct ends_of_interval {
    double below, above;
};
ends_of_interval ends_of(double confidence, double freedom, double lean);
// The lean for ends_of, from the unbiased third moment; 0 for fewer than three numbers, or if all are equal.
double lean_of(std::span<const double> numbers);

// Turns a value of Student's t into the standard normal value with the same tail probability (Wallace 1959).
// The relative error of normal values up to 6 is below 3e-3 at 15 degrees of freedom, 2e-4 at 63.
double normal_of_student(double t, double degrees);

struct estimate {
    double mean = 0;
    double standard_error = 0;
    std::size_t units = 0;
    double lean = 0;  // skewness of the units' means, see ends_of
};

// Mean and standard error of a quasi-random run, from the moments of its units (the parts of its tally, see
// engine/walk/tally.h). Points within a unit depend on each other, so the spread within a unit says nothing;
// units are independent of each other. A shorter last unit has a smaller weight.
estimate estimate_of_units(std::span<const kernels::moments> units);
// Standard error from means of parts of `part_paths` paths; the last part has the rest of `run_paths`.
double error_of_parts(std::span<const double> means, std::uint64_t part_paths, std::uint64_t run_paths);
// All of `error`, such as rounding's, if the spread of parts' means does not show it; 0 if they show half of
// it or, for few parts, as little as chance explains once in a million times. Assumes parts of equal size.
double error_beside_parts(double error, std::span<const double> means);

// With fewer units, the coefficient of a control can't be estimated well enough.
inline constexpr std::size_t least_units_of_share = 16;
// Means by unit, with a control variate applied whose coefficient is fitted to the units. `payoffs` are
// moments without the control, `left` with all of it subtracted (coefficient 1); both are needed for the fit.
// Each unit takes the coefficient that the other units give, which is independent of it; as the control's
// mean is 0, the mean of all units stays unbiased. Coefficients of two units share most of their data, and if
// the control's means are skewed, as the asset's are under stochastic volatility, the units then differ by
// less than their mean errs. The numbers returned are therefore Tukey's pseudo-values, moved to that mean:
// their spread gives the error, on average never too small (Efron and Stein 1981).
std::vector<double> means_less_a_share(std::span<const kernels::moments> left,
                                       std::span<const kernels::moments> payoffs);

}  // namespace tilewalk::run
