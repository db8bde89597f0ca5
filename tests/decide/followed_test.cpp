// SPDX-License-Identifier: Apache-2.0
// Decisions of a run, written as JSON for another run to follow, read back as they were.
#include "engine/decide/followed.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/decide/controls/written.h"

namespace tilewalk::followed_test {
namespace {

const decide::decided& about_one(const trade_decisions& of) {
    decisions all;
    all.trades["one"] = of;
    static std::unique_ptr<decide::followed_run> kept;
    kept = std::make_unique<decide::followed_run>(all, exercise::saved_policies(), "");
    return kept->about("one");
}

TEST(followed, jumps_are_those_that_were_written) {
    decide::decided of;
    auto jumps = std::make_shared<decide::treated_jumps>();
    jumps->control = 0.25;
    jumps->by = {{"A.spot", {0.5}}, {"A.volatility", {0}}};
    of.jumps = jumps;
    of.control_of_derivatives = nullptr;
    const std::string text = decide::with_derivatives("", of);
    trade_decisions written;
    written.jumps = R"({"control": 0.25, "widths": {"A.spot": 0.5, "A.volatility": 0}})";
    written.control_of_derivatives = "{}";
    const decide::decided& read = about_one(written);
    ASSERT_TRUE(read.jumps);
    EXPECT_EQ(read.jumps->control, 0.25);
    EXPECT_EQ(read.jumps->by, jumps->by);
    ASSERT_TRUE(read.control_of_derivatives);
    EXPECT_EQ(*read.control_of_derivatives, nullptr);
    EXPECT_EQ(decide::with_derivatives("", read), text);
    EXPECT_EQ(decide::without_derivatives(text), "");
    EXPECT_FALSE(about_one({}).control_of_derivatives) << "it is open";
}

TEST(followed, controls_are_those_that_were_written) {
    controls::control of_price, of_derivatives;
    of_price.of_moves = of_derivatives.of_moves = {{0.5, 0.25}};
    of_price.parts = of_derivatives.parts = {0.5};
    of_price.on_exponential = 3;
    of_price.knots[0] = {1.1, 0, 2};
    of_derivatives.on_sum = -0.75;
    trade_decisions written;
    written.control = controls::written(of_price);
    written.control_of_derivatives = controls::written(of_derivatives);
    const decide::decided& read = about_one(written);
    ASSERT_TRUE(read.control && *read.control);
    EXPECT_EQ(controls::written(**read.control), written.control);
    ASSERT_TRUE(read.control_of_derivatives && *read.control_of_derivatives);
    EXPECT_EQ(controls::written(**read.control_of_derivatives), written.control_of_derivatives);
    EXPECT_EQ((*read.control_of_derivatives)->on_sum, -0.75);
    EXPECT_EQ((*read.control_of_derivatives)->on_exponential, 0);
}

}  // namespace
}  // namespace tilewalk::followed_test
