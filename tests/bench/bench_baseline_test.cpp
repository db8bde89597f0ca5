// SPDX-License-Identifier: Apache-2.0
// Comparison of a run with a baseline: changes that are reported or not, the rate of false alarms, messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "bench/measure/baseline.h"
#include "tests/made_run.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_baseline_test {
namespace {

std::string text_of(const comparison& c) {
    std::ostringstream out;
    write(out, c);
    return out.str();
}
bool says(const comparison& c, const std::string& what) {
    return text_of(c).find(what) != std::string::npos;
}

// A run of two rows: a reference at the share `copied` of the copy rate, and a row `ratio` times as fast.
run small(double copied, double ratio, double noise = 0.001) {
    run out;
    out.about = tests::made_about();
    const json reference{{"feed", "none"}, {"width", 1}}, other{{"feed", "unroll"}, {"width", 1}};
    out.rows.push_back({"prefetch",
                        reference,
                        {{"milliseconds", 2}, {"noise", noise}, {"share_of_copy", copied}},
                        nullptr,
                        {},
                        {}});
    out.rows.push_back({"prefetch",
                        other,
                        {{"milliseconds", 2 / ratio}, {"noise", noise}, {"ratio", ratio}},
                        reference,
                        {},
                        {}});
    return out;
}

TEST(bench_baseline, five_runs_of_the_same_stay_quiet) {
    std::vector<run> runs;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        tests::made_run_options how;
        how.seed = seed;
        runs.push_back(tests::made_run(how));
    }
    ASSERT_GT(runs[0].rows.size(), 500U);
    for (const run& now : runs) {
        for (const run& before : runs) {
            const comparison c = compare(now, before);
            EXPECT_FALSE(c.is_bad()) << text_of(c);
            EXPECT_EQ(c.count(finding::improvement), 0U) << text_of(c);
            EXPECT_EQ(c.count(finding::not_comparable), 0U) << text_of(c);
            EXPECT_EQ(c.count(finding::same), c.rows.size());
        }
    }
}

TEST(bench_baseline, one_feed_that_takes_a_tenth_longer_is_caught_in_every_row) {
    const run before = tests::made_run();
    tests::made_run_options how;
    how.seed = 2;
    how.slowed = 1.1;
    for (const std::string feed : {"unroll", "smem_rolling_async", "inline"}) {
        how.slowed_feed = feed;
        const comparison c = compare(tests::made_run(how), before);
        EXPECT_TRUE(c.is_bad());
        for (const compared_row& r : c.rows) {
            EXPECT_EQ(r.found, r.axes["feed"] == feed ? finding::regression : finding::same)
                << r.axes << " was " << r.was << ", is " << r.is << ", noise " << r.noise;
        }
        const comparison back = compare(before, tests::made_run(how));
        EXPECT_FALSE(back.is_bad());
        EXPECT_EQ(back.count(finding::improvement), c.count(finding::regression));
    }
}

TEST(bench_baseline, a_slower_reference_is_caught_by_its_share_of_the_copy_rate) {
    const comparison c = compare(small(0.5, 1.5), small(0.6, 1.5));
    ASSERT_EQ(c.rows.size(), 2U);
    EXPECT_EQ(c.rows[0].found, finding::regression);
    EXPECT_EQ(c.rows[0].figure, "share_of_copy");
    EXPECT_EQ(c.rows[1].found, finding::same);
}

// Counts false alarms against the probabilities that baseline.h states, on medians of samples without a
// change and without the 3 % floor. If these are right, such a count exceeds `most` once in a thousand times.
TEST(bench_baseline, cries_for_nothing_are_as_rare_as_said) {
    struct law {
        double sample_noise, chance;  // noise of a sample; chance of a false alarm on one side
        int rows, most;
    };
    for (const law& l : {law{0.01, 5e-6, 20000, 3}, law{0.02, 1.3e-5, 15000, 4}, law{0.05, 6e-5, 1000, 3}}) {
        ASSERT_LT(l.rows * 2 * l.chance, 0.25 * l.most) << "more are allowed than such a count can tell";
        tests::made_samples made(2026, l.sample_noise);
        int cries = 0;
        for (int i = 0; i < l.rows; ++i) {
            double change = 0, squared = 0;
            for (const int sign : {1, -1, -1, 1}) {
                const summary s = made.measured(1);
                change += sign * std::log(s.median);
                squared += s.noise * s.noise;
            }
            cries += std::abs(change) > chance_factor * std::sqrt(squared);
        }
        EXPECT_LE(cries, l.most) << "of " << l.rows << " that vary by " << l.sample_noise;
    }
}

TEST(bench_baseline, a_change_counts_beyond_the_noise_and_beyond_three_percent) {
    const auto found = [](double was, double is, double noise) {
        return compare(small(0.5, is, noise), small(0.5, was, noise)).rows[1].found;
    };
    EXPECT_EQ(found(2, 1.942, 0), finding::same);
    EXPECT_EQ(found(2, 1.938, 0), finding::regression);
    EXPECT_EQ(found(2, 2.058, 0), finding::same);
    EXPECT_EQ(found(2, 2.062, 0), finding::improvement);
    // Four timings with a noise of 1 % each: the limit is 2.5 times 2 %.
    EXPECT_EQ(found(2, 1.902, 0.01), finding::same);
    EXPECT_EQ(found(2, 1.898, 0.01), finding::regression);
    EXPECT_EQ(found(2, 2.098, 0.01), finding::same);
    EXPECT_EQ(found(2, 2.102, 0.01), finding::improvement);
    EXPECT_EQ(found(2, 1, 1), finding::same) << "nothing is known of times this noisy";
}

TEST(bench_baseline, each_timing_that_takes_part_brings_its_noise) {
    for (int noisy = 0; noisy < 4; ++noisy) {
        run now = small(0.5, 1.8, 0), before = small(0.5, 2, 0);
        EXPECT_EQ(compare(now, before).rows[1].found, finding::regression);
        run& of = noisy < 2 ? now : before;
        of.rows[static_cast<std::size_t>(noisy % 2)].figures["noise"] = 0.05;
        const comparison c = compare(now, before);
        EXPECT_EQ(c.rows[1].found, finding::same) << noisy;
        EXPECT_DOUBLE_EQ(c.rows[1].noise, 2.5 * 0.05) << noisy;
    }
}

TEST(bench_baseline, rows_that_are_gone_are_bad_unless_they_say_why) {
    const run before = small(0.5, 2);
    run now = before;
    now.rows.pop_back();
    comparison c = compare(now, before);
    EXPECT_TRUE(c.is_bad());
    EXPECT_EQ(c.count(finding::gone), 1U);
    EXPECT_TRUE(says(c, "neither measured nor skipped now:\n  prefetch: unroll, width 1\n")) << text_of(c);
    now.rows.push_back(before.rows[1]);
    now.rows[1].skipped = "needs compute capability 9.0";
    c = compare(now, before);
    EXPECT_FALSE(c.is_bad());
    EXPECT_EQ(c.count(finding::skipped), 1U);
    EXPECT_TRUE(says(c, "skipped now:\n  prefetch: unroll, width 1: needs compute capability 9.0\n"))
        << text_of(c);
    run unmeasured = before;
    unmeasured.rows[1].skipped = "no";
    now = before;
    now.rows.pop_back();
    c = compare(now, unmeasured);
    EXPECT_FALSE(c.is_bad());
    EXPECT_EQ(c.rows.size(), 1U);
}

TEST(bench_baseline, rows_that_are_wrong_now_are_bad_whatever_they_were) {
    for (const bool known : {true, false}) {
        run before = small(0.5, 2);
        run now = before;
        now.rows[1].wrong = "other bits than feed none";
        if (!known) before.rows.pop_back();
        const comparison c = compare(now, before);
        EXPECT_TRUE(c.is_bad());
        EXPECT_EQ(c.count(finding::wrong), 1U);
        EXPECT_TRUE(says(c, "wrong now:\n  prefetch: unroll, width 1: other bits than feed none\n"))
            << text_of(c);
    }
}

TEST(bench_baseline, rows_that_are_new_are_counted) {
    run before = small(0.5, 2);
    const run now = before;
    before.rows[1].wrong = "launch failed";
    comparison c = compare(now, before);
    EXPECT_FALSE(c.is_bad());
    EXPECT_EQ(c.count(finding::added), 1U);
    before.rows.clear();
    c = compare(now, before);
    EXPECT_FALSE(c.is_bad());
    EXPECT_EQ(c.count(finding::added), 2U);
    EXPECT_TRUE(says(c, "2 new")) << text_of(c);
}

TEST(bench_baseline, what_has_nothing_to_be_held_against_says_so) {
    const auto why = [](const run& now, const run& before) {
        const comparison c = compare(now, before);
        EXPECT_FALSE(c.is_bad());
        return c.rows.back().found == finding::not_comparable ? c.rows.back().why : "compared";
    };
    const run good = small(0.5, 2);
    EXPECT_EQ(why(good, good), "compared");
    run other = good;
    other.rows[1].figures.erase("ratio");
    EXPECT_EQ(why(other, good), "it has neither a ratio nor a share of the copy rate");
    EXPECT_EQ(why(good, other), "in the baseline it has neither a ratio nor a share of the copy rate");
    other.rows[1].figures["ratio"] = nullptr;
    EXPECT_EQ(why(other, good), "it has neither a ratio nor a share of the copy rate");
    other.rows[1].figures["share_of_copy"] = 0.5;
    EXPECT_EQ(why(other, good), "the baseline holds it against something else");
    other = good;
    other.rows[1].over = other.rows[1].axes;
    EXPECT_EQ(why(other, good), "the baseline holds it against something else");
    other.rows[1].over = {{"feed", "nobody"}};
    EXPECT_EQ(why(other, good), "the row that its ratio is over is missing");
    other = good;
    other.rows[1].figures.erase("noise");
    EXPECT_EQ(why(other, good), "it says no noise");
}

TEST(bench_baseline, another_device_is_refused_and_both_are_named) {
    const run before = small(0.5, 2);
    run now = before;
    now.about["device"] = "NVIDIA A100";
    try {
        compare(now, before);
        ADD_FAILURE();
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_EQ(
            e.message(),
            "the baseline was measured on 'NVIDIA H100 80GB HBM3', this run on 'NVIDIA A100'; they can't "
            "be compared: keep a baseline for each device");
    }
    now.about.erase("device");
    EXPECT_THROW(compare(now, before), error);
    EXPECT_THROW(compare(now, now), error) << "two devices without a name need not be one";
}

TEST(bench_baseline, another_driver_runtime_or_version_is_noted) {
    const run before = small(0.5, 2);
    run now = before;
    EXPECT_TRUE(compare(now, before).notes.empty());
    now.about["driver"] = "590.1";
    now.about.erase("runtime");
    now.about["version"] = "0.2.0";
    const comparison c = compare(now, before);
    EXPECT_FALSE(c.is_bad());
    EXPECT_EQ(c.notes,
              (std::vector<std::string>{"driver is 590.1, was 580.65.06", "runtime is not known, was 13.0",
                                        "version is 0.2.0, was 0.1.0"}));
    EXPECT_TRUE(says(c, "note: driver is 590.1, was 580.65.06\n"));
}

TEST(bench_baseline, the_worst_stands_first) {
    run before, now;
    before.about = now.about = tests::made_about();
    const double factors[] = {0.9, 0.5, 1.3, 0.8, 1.0};
    for (int i = 0; i < 5; ++i) {
        row r{"copy", {{"width", i}}, {{"noise", 0.004}, {"share_of_copy", 0.8}}, nullptr, {}, {}};
        before.rows.push_back(r);
        r.figures["share_of_copy"] = 0.8 * factors[i];
        now.rows.push_back(r);
    }
    const std::string expected =
        R"(WORSE than the baseline, on NVIDIA H100 80GB HBM3: 0 rows wrong, 0 gone, 3 slower; 1 faster, 1 the same, 0 new, 0 skipped, 0 not comparable
baseline: date 2026-11-21, commit 0123abc, version 0.1.0
now:      date 2026-11-21, commit 0123abc, version 0.1.0

slower:
row            compared          was      is   change  noise
-------------  -------------  ------  ------  -------  -----
copy: width 1  share of copy  80.0 %  40.0 %  -50.0 %  3.8 %
copy: width 3  share of copy  80.0 %  64.0 %  -20.0 %  3.8 %
copy: width 0  share of copy  80.0 %  72.0 %  -10.0 %  3.8 %

faster:
row            compared          was       is   change  noise
-------------  -------------  ------  -------  -------  -----
copy: width 2  share of copy  80.0 %  104.0 %  +30.0 %  3.8 %

a change counts beyond 3 % and beyond the noise shown, which is 2.5 times that of all the timings behind it
)";
    EXPECT_EQ(text_of(compare(now, before)), expected);
}

TEST(bench_baseline, a_long_list_says_how_many_more_there_are) {
    const run before = tests::made_run();
    run now = before;
    now.rows.resize(1);
    const comparison c = compare(now, before);
    EXPECT_TRUE(c.is_bad());
    EXPECT_GT(c.count(finding::gone), 100U);
    EXPECT_TRUE(says(c, "  and " + std::to_string(c.count(finding::gone) - 40) + " more\n")) << text_of(c);
}

TEST(bench_baseline, hostile_names_do_not_reach_the_terminal) {
    run before = small(0.5, 2);
    before.rows[1].axes["feed"] = "\x1b[2Jx";
    run now = before;
    now.rows[1].wrong = "a\x1b]0;b\x07";
    const std::string text = text_of(compare(now, before));
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_NE(text.find("\\x1b[2Jx"), std::string::npos) << text;
}

}  // namespace
}  // namespace tilewalk::bench::bench_baseline_test
