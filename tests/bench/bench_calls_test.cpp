// SPDX-License-Identifier: Apache-2.0
// The suite `calls` (times of API calls): its percentiles, and its rows on a machine without a GPU.
#include "bench/suites/calls.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tilewalk::bench::bench_calls_test {
namespace {

TEST(bench_calls, percentiles_are_samples_by_nearest_rank) {
    std::vector<double> samples;
    for (int i = 200; i > 0; --i) samples.push_back(i);
    const calls::percentiles p = calls::percentiles_of(samples);
    EXPECT_EQ(p.p50, 100);
    EXPECT_EQ(p.p95, 190);
    EXPECT_EQ(p.p99, 198);
    const calls::percentiles one = calls::percentiles_of({3});
    EXPECT_EQ(one.p50, 3);
    EXPECT_EQ(one.p99, 3);
}

TEST(bench_calls, rows_of_the_processor) {
    std::vector<row> rows;
    calls::sizes few;
    few.calls = 3;
    few.readings = 2;
    few.stops = 2;
    const sink to = [&](row r) { rows.push_back(std::move(r)); };
    calls::measure_reading(few, to);
    calls::measure(
        "cpu", few, [](const std::string&) {}, nullptr, to);
    ASSERT_EQ(rows.size(), 5U);
    std::set<std::string> keys;
    for (const row& r : rows) {
        EXPECT_TRUE(r.is_result()) << key_of(r) << ": " << r.wrong << r.skipped;
        EXPECT_TRUE(keys.insert(key_of(r)).second) << key_of(r);
        for (const char* figure : {"milliseconds", "p95_milliseconds", "p99_milliseconds"})
            EXPECT_TRUE(r.figures.contains(figure)) << key_of(r) << " " << figure;
        EXPECT_LE(r.figures.at("milliseconds"), r.figures.at("p99_milliseconds")) << key_of(r);
    }
    EXPECT_EQ(rows.at(1).figures.at("samples"), 3);
}

}  // namespace
}  // namespace tilewalk::bench::bench_calls_test
