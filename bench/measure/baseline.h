// SPDX-License-Identifier: Apache-2.0
// Comparison of two runs of benchmarks: finds rows that became slower by more than the noise of both.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

enum class finding {
    wrong,  // no result now, although there should be one
    gone,   // a result before, and no row now
    regression,
    improvement,
    same,            // within the noise
    added,           // a result now, and none before
    skipped,         // a result before, and now a reason why it can't be measured
    not_comparable,  // no ratio in both runs that is independent of the machine's state
};

struct compared_row {
    finding found = finding::same;
    std::string suite;
    json axes;
    // The compared figure, larger being better: "ratio", or else "share_of_copy"; empty if there is none.
    std::string figure;
    double was = 0, is = 0;
    // The largest change that may be chance, relative to `was`; see chance_factor.
    double noise = 0;
    std::string why;  // for wrong, skipped and not_comparable

    double change() const { return is / was - 1; }
};

struct comparison {
    json now, before;                // about the runs
    std::vector<std::string> notes;  // other differences, such as the driver
    std::vector<compared_row> rows;  // in the order of `now`, followed by rows that are gone

    std::size_t count(finding of) const;
    bool is_bad() const;
};

// The smallest change that counts. Successive runs differ more than the samples of one can show.
inline constexpr double smallest_change = 0.03;

// A change must also exceed this many times the root of the sum of squared noises of all timings involved:
// the row's and its reference's, now and before.
//
// Each noise is the half width of a 95 % interval, 1.96 standard deviations of a median, so the root is 1.96
// standard deviations of the change. 2.5 times that is 4.9; a normal change falls below -4.9 once in 2.1
// million rows. Two things make it more frequent:
// - Noises are estimates. An interval between order statistics m places apart has a relative error of about
//   1 / sqrt(m), hence m / 2 degrees of freedom: of 11 samples, the fewest, m is 8, and four timings have
//   about 16. Student's t of 16 degrees falls below -4.9 with a chance of 8e-5; but with 11 samples the
//   interval is one of 98.8 %, so the threshold is 6.3 standard deviations, and the chance 5e-6.
// - Sampling stops at the first interval that is narrow enough, possibly by chance. With the rule's own
//   numbers, the chance is 1.3e-5 if samples vary by 2 %, and 6e-5 if they vary by 5 % and 140 are taken.
// A sweep of 500 rows without any change thus reports a slower one with a chance of at most 500 times that:
// 0.3 % for steady kernels, 3 % if every kernel varies by 5 %, for dependent rows too.
// tests/bench/bench_baseline_test.cpp counts.
inline constexpr double chance_factor = 2.5;

// Compares rows with equal key_of. Throws tilewalk::error (usage) if the runs are of different devices.
comparison compare(const run& now, const run& before);

// Writes a report for people: the worst rows first, each with the old figure, the new figure and the noise.
void write(std::ostream& out, const comparison& c);

}  // namespace tilewalk::bench
