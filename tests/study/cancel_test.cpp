// SPDX-License-Identifier: Apache-2.0
// A run that is cancelled while it plans trades stops planning. The tests count how often planning polls the
// flag, by units of its work, and measure no time.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/study/price.h"
#include "engine/walk/cuda/device/backend.h"
#include "products/program/recorder.h"
#include "tests/every_model.h"
#include "tests/market_text.h"

namespace tilewalk::cancel_test {

namespace {

using tests::dollar_market;
using tests::in_book;

struct enough : std::runtime_error {
    enough() : runtime_error("enough") {}
};

book book_with(const std::string& asset, int dates) {
    return book::parse(
        in_book(dollar_market(0.03, {{"ACME", "spot: 100, " + asset}})) +
        "settings: {paths: 256}\ntrades:\n  - {id: asian, product: asian, underlying: ACME, strike: 100, "
        "averaging_dates: {start: 0, end: 1, count: " +
        std::to_string(dates) + "}}\n");
}

plan::trade_program planned(const book& b, const plan::poll& often) {
    return plan::plan_trade(state_of(b).trades.at(0), state_of(*b.market()), program::precision::double_, {},
                            often);
}

TEST(cancel, planning_asks_again_within_so_many_numbers_for_every_model) {
    constexpr int dates = 600;
    for (const auto& [name, asset] : every_model()) {
        const book b = book_with(asset, dates);
        ASSERT_FALSE(state_of(b).trades.at(0).failure)
            << name << ": " << state_of(b).trades.at(0).failure->what();
        std::size_t asked = 0;
        const auto made = planned(b, [&] { ++asked; });
        // Planning makes at least one number for each step, and polls once for every `most_between_polls`.
        EXPECT_GE(asked, made.when.steps() / program::recorder::most_between_polls) << name;
        // An exception from any poll stops planning. Each market is new: its model has made no table.
        for (const std::size_t last : {std::size_t{1}, asked / 2, asked}) {
            std::size_t count = 0;
            const book again = book_with(asset, dates);
            EXPECT_THROW(planned(again,
                                 [&] {
                                     if (++count == last) throw enough();
                                 }),
                         enough)
                << name;
            EXPECT_EQ(count, last) << name << ": nothing goes on after that";
        }
    }
}

TEST(cancel, particles_look_before_each_step_and_go_on_where_they_were) {
    const auto leverage_of_a_new_market = [] {
        return book_with(every_model().at("stochastic_local_volatility"), 12);
    };
    const book first = leverage_of_a_new_market(), second = leverage_of_a_new_market();
    std::size_t asked = 0;
    const auto whole = planned(first, [&] { ++asked; });
    EXPECT_GE(asked, whole.when.steps()) << "particles take at least the steps of the paths";
    std::size_t stops = 0;
    const auto in_parts = [&] {
        for (;;) {
            std::size_t looks = 0;
            try {
                return planned(second, [&] {
                    if (++looks == 5 + 10 * stops) throw enough();
                });
            } catch (const enough&) {
                if (++stops > asked) throw;
            }
        }
    };
    const auto parts = in_parts();
    EXPECT_GT(stops, 3U);
    EXPECT_EQ(parts.data.rows, whole.data.rows);
}

TEST(cancel, run_is_cancelled_by_a_flag_that_is_set_while_it_plans) {
    const book b = book_with(every_model().at("heston"), 300);
    std::atomic<bool> stop{false};
    std::size_t walks = 0, planned_to_the_end = 0;
    stages by;
    by.plan = [&](const books::trade& t, const markets::market_state& in, program::precision p,
                  const plan::poll& often) {
        stop = true;
        auto made = plan::plan_trade(t, in, p, {}, often);
        ++planned_to_the_end;
        return made;
    };
    by.on_cpu = [&](const auto& operations, int threads, program::precision in) {
        ++walks;
        return std::make_unique<cpu::back_end>(operations, threads, in);
    };
    run_options options;
    options.overrides.device = "cpu";
    options.cancel = &stop;
    cuda::backend gpus;
    try {
        price_book(studies::resources({}, gpus), b, *b.market(), {options}, by);
        ADD_FAILURE() << "the run went on";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::cancelled) << e.what();
    }
    EXPECT_EQ(walks, 0U);
    EXPECT_EQ(planned_to_the_end, 0U);
}

TEST(cancel, all_who_plan_look_at_the_flag) {
    const book b = book_with(every_model().at("heston"), 300);
    const std::atomic<bool> stop{true};
    run_options options;
    options.overrides.device = "cpu";
    options.cancel = &stop;
    const engine e;
    const auto expect_cancelled = [](const char* who, const auto& call) {
        try {
            call();
            ADD_FAILURE() << who << " went on";
        } catch (const error& what) {
            EXPECT_EQ(what.kind(), error_kind::cancelled) << who << ": " << what.what();
        }
    };
    expect_cancelled("price", [&] { e.price(b, options); });
    expect_cancelled("validate", [&] { e.validate(b, *b.market(), options); });
    expect_cancelled("explain", [&] { e.explain(b, *b.market(), options); });
    expect_cancelled("warm", [&] { e.warm(b, *b.market(), options, {"sm_90"}); });
}

}  // namespace

}  // namespace tilewalk::cancel_test
