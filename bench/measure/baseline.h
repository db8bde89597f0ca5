// SPDX-License-Identifier: Apache-2.0
// A run of benchmarks against one that was kept: what became slower, by more than the noise of either.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/measure/row.h"

namespace tilewalk::bench {

enum class finding {
    wrong,  // no result now, where it should be one
    gone,   // a result before and not there now
    regression,
    improvement,
    same,            // within the noise
    added,           // a result now and none before
    skipped,         // a result before, and now says why it can't be measured
    not_comparable,  // no ratio in both runs that holds without the other machine's state
};

struct compared_row {
    finding found = finding::same;
    std::string suite;
    json axes;
    // What is compared, larger being better: "ratio", else "share_of_copy"; empty if nothing was.
    std::string figure;
    double was = 0, is = 0;
    // The largest change that chance is given, over `was`; see chance_factor.
    double noise = 0;
    std::string why;  // of wrong, skipped and not_comparable

    double change() const { return is / was - 1; }
};

struct comparison {
    json now, before;                // about the runs
    std::vector<std::string> notes;  // what else differs, such as the driver
    std::vector<compared_row> rows;  // in the order of `now`, then what is gone

    std::size_t count(finding of) const;
    // A row that is wrong, gone or slower.
    bool is_bad() const;
};

// A change counts if it is larger than this, however quiet the rows: two runs that follow each other differ
// by more than the samples of one can know, in where memory lies and how warm the chip is.
inline constexpr double smallest_change = 0.03;

// And only if it is larger than this many times the root of the sum of the squared noises of every timing
// that takes part: the row's and its reference's, now and before.
//
// Each noise is the half width of an interval of 95 %, so 1.96 standard deviations of a median, and the root
// is 1.96 standard deviations of the change. 2.5 times that is 4.9 of them, which a normal change falls below
// once in 2.1 million rows. Two things make it more often:
// - The noises are estimates. An interval between order statistics m places apart has a relative error of
//   about 1 / sqrt(m), hence m / 2 degrees of freedom: of 11 samples, the fewest, m is 8, and four timings
//   have about 16. Student's t of 16 degrees falls below -4.9 with a chance of 8e-5; but of 11 samples the
//   interval is one of 98.8 %, so the threshold is 6.3 standard deviations, and the chance 5e-6.
// - Sampling stops at the first interval that is narrow enough, and so at one too narrow by chance. That
//   matters where more than the fewest are needed; counted with the rule's own numbers, the chance is 1.3e-5
//   where samples vary by 2 %, and 6e-5 where they vary by 5 % and 140 are taken.
// So a sweep of 500 rows without any change reports one slower with a chance of at most 500 times that: 0.3 %
// for steady kernels, 3 % if every kernel varies by 5 %; whatever the rows share, as the sum of the chances
// bounds the chance of any. tests/bench_baseline_test.cpp counts.
inline constexpr double chance_factor = 2.5;

// Rows are matched by key_of. Throws tilewalk::error (usage) if the runs are of different devices.
comparison compare(const run& now, const run& before);

// For a person who is woken by it: worst first, what it was, what it is, the noise.
void write(std::ostream& out, const comparison& c);

}  // namespace tilewalk::bench
