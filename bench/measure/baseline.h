// SPDX-License-Identifier: Apache-2.0
// Compares two runs of benchmarks: finds rows that became slower by more than the noise of both runs.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

enum class finding {
    wrong,  // fails now, although it should have a result
    gone,   // had a result before, and has no row now
    regression,
    improvement,
    same,            // any change is within the noise
    added,           // has a result now, and had none before
    skipped,         // had a result before, and can't be measured now
    not_comparable,  // the runs have no common figure that is independent of the machine's state
};

struct compared_row {
    finding found = finding::same;
    std::string suite;
    json axes;
    // The compared figure, larger is faster: "ratio", or else "share_of_copy"; empty if there is none.
    std::string figure;
    double was = 0, is = 0;
    // The largest change that may be chance, relative to `was`; see chance_factor.
    double noise = 0;
    std::string why;  // for wrong, skipped and not_comparable

    double change() const { return is / was - 1; }
};

struct comparison {
    json now, before;                // facts about each run, see run::about
    std::vector<std::string> notes;  // differences between the runs' facts, such as the driver
    std::vector<compared_row> rows;  // in the order of the new run, followed by rows that are gone

    std::size_t count(finding of) const;
    bool is_bad() const;
};

// The smallest relative change that is reported: runs differ more than the samples of one run show.
inline constexpr double smallest_change = 0.03;

// Beyond `smallest_change`, a change must exceed this many times the root of the sum of squared noises of all
// timings involved: those of the row and of its reference row, now and before.
//
// Each noise is the half width of a 95 % interval, 1.96 standard deviations of a median, so the root is 1.96
// standard deviations of the change. 2.5 times that is 4.9; a normal change falls below -4.9 once in 2.1
// million rows. Two things make it more frequent:
// - Noises are estimates. An interval between order statistics m places apart has a relative error of about
//   1 / sqrt(m), hence m / 2 degrees of freedom: of 11 samples, the fewest, m is 8, and four timings have
//   about 16. Student's t of 16 degrees falls below -4.9 with a chance of 8e-5; but with 11 samples the
//   interval is one of 98.8 %, so the threshold is 6.3 standard deviations, and the chance 5e-6.
// - Sampling stops at the first interval that is narrow enough, possibly by chance. With stop_rule's numbers,
//   a false alarm has a chance of 1.3e-5 if samples vary by 2 %, 6e-5 if they vary by 5 % and 140 are taken.
// So a run of 500 rows without any change reports a slower row with a chance of at most 500 times that: 0.3 %
// for steady kernels, 3 % if every kernel varies by 5 %, also if rows depend on each other.
// tests/bench/bench_baseline_test.cpp counts false alarms.
inline constexpr double chance_factor = 2.5;

// Compares rows that measure the same (key_of). Throws tilewalk::error (usage) for runs of different devices.
comparison compare(const run& now, const run& before);

// Writes a report for people: the worst rows first, each with the old figure, the new figure and the noise.
void write(std::ostream& out, const comparison& c);

}  // namespace tilewalk::bench
