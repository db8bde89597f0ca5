// SPDX-License-Identifier: Apache-2.0
// Decisions that are followed: what is written of them is what is read.
#include "engine/decide/followed.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

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

}  // namespace
}  // namespace tilewalk::followed_test
