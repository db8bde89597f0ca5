// SPDX-License-Identifier: Apache-2.0
// The catalogue of benchmarks: each suite accepts the choices it leaves open, and refuses the others.
#include "bench/measure/suites.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tilewalk/error.h"

namespace tilewalk::bench::bench_suites_test {
namespace {

// The message with which a suite refuses a request; empty if it accepts.
std::string complaint(const suite_entry& suite, const request& asked) {
    try {
        check(suite, asked);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        return e.message();
    }
    return "";
}

struct choice {
    std::function<bool(const open_choices&)> is_open;
    std::function<void(request&)> make;
    std::string refusal;
};

const choice choices[] = {
    {[](const open_choices& o) { return o.ways; }, [](request& r) { r.feeds = {"none"}; },
     "takes no choice of feeds"},
    {[](const open_choices& o) { return o.ways; }, [](request& r) { r.distances = {4}; },
     "takes no choice of distances"},
    {[](const open_choices& o) { return o.ways; }, [](request& r) { r.layouts = {"padded"}; },
     "takes no choice of layouts"},
    {[](const open_choices& o) { return o.ways; }, [](request& r) { r.widths = {2}; },
     "takes no choice of widths"},
    {[](const open_choices& o) { return o.ways; }, [](request& r) { r.warps = {32}; },
     "takes no choice of occupancy"},
    {[](const open_choices& o) { return o.precisions; }, [](request& r) { r.precisions = {"single"}; },
     "takes no choice of precision"},
    {[](const open_choices& o) { return o.paths; }, [](request& r) { r.paths = 1 << 20; },
     "takes no choice of paths"},
    {[](const open_choices& o) { return o.untimed; }, [](request& r) { r.is_timed = false; },
     "can't go untimed"},
};

TEST(bench_suites, take_the_choices_that_they_leave_open) {
    int open = 0, refused = 0;
    for (const suite_entry& suite : suites()) {
        EXPECT_EQ(complaint(suite, {}), "") << suite.name;
        for (const choice& c : choices) {
            request asked;
            c.make(asked);
            const std::string said = complaint(suite, asked);
            if (c.is_open(suite.open)) {
                EXPECT_EQ(said, "") << suite.name;
                ++open;
            } else {
                EXPECT_EQ(said.find("the benchmark '" + std::string(suite.name) + "' " + c.refusal), 0U)
                    << suite.name << ": " << said;
                ++refused;
            }
        }
    }
    EXPECT_GT(open, 10);
    EXPECT_GT(refused, 60);
}

TEST(bench_suites, say_what_they_take) {
    request asked;
    asked.subject = "asian";
    EXPECT_EQ(complaint(suite_named("tiles"), asked),
              "the benchmark 'tiles' takes no subject, found 'asian'");
    EXPECT_EQ(complaint(suite_named("calls"), asked),
              "the benchmark 'calls' takes no subject, found 'asian'; it takes a number of paths");
    asked.widths = {4};
    EXPECT_EQ(
        complaint(suite_named("greeks"), asked),
        "the benchmark 'greeks' takes no choice of widths; it takes a trade's name and a number of paths");
}

TEST(bench_suites, know_their_subjects) {
    for (const suite_entry& suite : suites()) {
        request asked;
        asked.subject = "hestn";
        const std::string said = complaint(suite, asked);
        EXPECT_NE(said.find("'hestn'"), std::string::npos) << suite.name << ": " << said;
        EXPECT_EQ(said.find("takes no subject") == std::string::npos, !suite.open.subject.empty())
            << suite.name << ": " << said;
    }
}

TEST(bench_suites, are_found_by_name) {
    for (const suite_entry& suite : suites()) EXPECT_EQ(&suite_named(suite.name), &suite);
    try {
        suite_named("tile");
        ADD_FAILURE() << "there is no suite 'tile'";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_NE(e.message().find("did you mean 'tiles'"), std::string::npos) << e.message();
    }
}

}  // namespace
}  // namespace tilewalk::bench::bench_suites_test
