// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of millions of path-steps)
// The suite `steps` on the CPU: every model with steps of its own is there, a poor scheme is called wrong,
// and steps are counted and shortened as the rows say.
#include "bench/suites/steps.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "tilewalk/benchmark.h"

namespace tilewalk::bench::bench_steps_test {
namespace {

using steps::example;

std::vector<row> measured(const std::vector<example>& of, std::uint64_t paths) {
    std::vector<row> out;
    steps::measure(
        of, {paths, paths}, "cpu", [](const std::string&) {}, nullptr,
        [&](row r) { out.push_back(std::move(r)); });
    return out;
}

std::vector<example> first_of(const std::string& model, std::size_t count = 1) {
    std::vector<example> out;
    for (const example& e : steps::examples()) {
        if (e.model == model && out.size() < count) out.push_back(e);
    }
    EXPECT_EQ(out.size(), count) << model;
    return out;
}

TEST(bench_steps, have_every_model_that_takes_steps_of_its_own) {
    std::set<std::string> there, keys;
    for (const example& e : steps::examples()) {
        there.insert(e.model);
        EXPECT_TRUE(keys.insert(e.model + e.set).second) << e.model << ", " << e.set;
    }
    // Models without a row: they are exact between dates, and exact under continuous monitoring, too.
    std::set<std::string> known{"black_scholes", "variance_gamma", "nig", "hull_white", "g2"};
    for (const std::string& name : there) EXPECT_TRUE(known.insert(name).second) << name;
    std::set<std::string> all;
    for (const auto& m : models::catalogue()) all.emplace(m.name);
    for (const auto& m : models::rate_catalogue()) all.emplace(m.name);
    EXPECT_EQ(known, all);
}

TEST(bench_steps, are_off_by_the_difference_and_both_errors) {
    const auto [off, error] = steps::compared({0.1, 3e-4}, {0.0995, 4e-4});
    EXPECT_NEAR(off, 5e-4, 1e-15);
    EXPECT_NEAR(error, 5e-4, 1e-15);
}

// 2^12 paths for two options in two ways: a sound engine's rows are called wrong for one seed in 400,000.
TEST(bench_steps, are_wrong_beyond_two_basis_points_and_chance) {
    std::vector<example> of = first_of("heston");
    of.front().years = {0.5};
    const std::vector<row> sound = measured(of, 4096);
    ASSERT_EQ(sound.size(), 3u);
    for (const row& r : sound) {
        EXPECT_EQ(r.wrong, "") << key_of(r);
        EXPECT_EQ(r.figures.at("reference"), "truth");
        EXPECT_LT(std::abs(r.figures.at("off_bp").get<double>()),
                  5 * r.figures.at("off_bp_error").get<double>());
        EXPECT_GT(r.figures.at("off_bp_error").get<double>(), 0);
        EXPECT_EQ(r.figures.at("paths"), 4096);
    }
    const auto truth = of.front().put;
    of.front().put = [truth](double strike, double years) { return truth(strike, years) + 0.05; };
    const std::vector<row> far_off = measured(of, 4096);
    ASSERT_EQ(far_off.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NE(far_off[i].wrong.find("basis points, expected at most 2"), std::string::npos)
            << far_off[i].wrong;
        EXPECT_NEAR(far_off[i].figures.at("off_bp").get<double>(),
                    sound[i].figures.at("off_bp").get<double>() - 500, 1e-6);
    }
}

TEST(bench_steps, without_a_truth_are_held_against_shorter_ones_and_other_paths) {
    std::vector<example> of = first_of("cev");
    of.front().years = {0.5};
    const std::vector<row> rows = measured(of, 4096);
    ASSERT_EQ(rows.size(), 3u);
    for (const row& r : rows) {
        EXPECT_EQ(r.wrong, "") << key_of(r);
        EXPECT_EQ(r.figures.at("reference"), "shorter steps");
        EXPECT_EQ(r.figures.at("steps"), 16);
        EXPECT_NE(r.figures.at("off_bp").get<double>(), 0);
    }
}

TEST(bench_steps, prices_are_those_of_the_options) {
    std::vector<example> of = first_of("local_volatility");
    of.front().years = {0.5};
    std::vector<row> with = measured(of, 1 << 14);
    of.front().volatility = 0;
    const std::vector<row> alone = measured(of, 1 << 14);
    ASSERT_EQ(with.size(), 3u);
    ASSERT_EQ(alone.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        // A sound engine exceeds 4.5 errors for one seed in 25,000.
        for (const row& r : {with[i], alone[i]}) {
            EXPECT_LT(std::abs(r.figures.at("off_bp").get<double>()),
                      4.5 * r.figures.at("off_bp_error").get<double>() + 2)
                << key_of(r);
        }
        EXPECT_LT(with[i].figures.at("off_bp_error").get<double>(),
                  alone[i].figures.at("off_bp_error").get<double>());
    }
}

TEST(bench_steps, take_a_model_and_a_number_of_paths) {
    benchmark_request asked;
    asked.suite = "steps";
    asked.subject = "heston";
    asked.paths = 1024;
    EXPECT_NO_THROW(check(asked));
    asked.subject = "hestn";
    try {
        check(asked);
        ADD_FAILURE() << "a model that is not known was taken";
    } catch (const error& e) {
        EXPECT_NE(e.message().find("did you mean 'heston'"), std::string::npos) << e.message();
    }
    asked.subject = "heston";
    asked.precisions = {"single"};
    EXPECT_THROW(check(asked), error);
}

}  // namespace
}  // namespace tilewalk::bench::bench_steps_test
