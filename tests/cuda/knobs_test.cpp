// SPDX-License-Identifier: Apache-2.0
// Knobs (settings of a kernel's text): settings, checks, wishes, texts and sweeps follow from a line of the
// table alone. Each test goes through the whole table, to find a knob that one of them lacks.
#include "engine/walk/cuda/compile/knobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/reading/settings/wished_kernel.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::cuda::knobs_test {
namespace {

const run_setting& setting_of(const knob& of) {
    const auto found = std::ranges::find(setting_table(), of.name, &run_setting::name);
    if (found == setting_table().end()) throw std::logic_error("no setting " + std::string(of.name));
    return *found;
}

std::vector<int> all_values(const knob& of) {
    if (!of.values.list.empty()) return {of.values.list.begin(), of.values.list.end()};
    std::vector<int> all;
    for (int value = of.values.least; value <= of.values.most; ++value) all.push_back(value);
    return all;
}

int other_value(const knob& of) {
    const auto all = all_values(of);
    return all.front() != of.preset ? all.front() : all.back();
}

std::string refusal(const knob& of, int value) {
    try {
        check(of, value);
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        return e.message();
    }
    return "";
}

const program::path_program& a_program() {
    static const program::path_program made = [] {
        const book b = book::parse(
            "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: "
            "100, volatility: 0.2}}}\n"
            "trades:\n  - {id: t, product: european, underlying: A, option: call, strike: 100, maturity: "
            "1.0}\n");
        return plan::plan_trade(state_of(b).trades.at(0), state_of(*b.market())).code;
    }();
    return made;
}

TEST(knobs, are_settings_with_the_values_of_the_table) {
    std::set<std::string> names;
    for (const knob& of : knob_table) {
        SCOPED_TRACE(std::string(of.name));
        EXPECT_TRUE(names.insert(std::string(of.name)).second) << "stands in the table twice";
        const run_setting& setting = setting_of(of);
        EXPECT_EQ(setting.of, run_setting::part::gpu);
        EXPECT_FALSE(setting.decides_bits);
        EXPECT_EQ(setting.meaning, of.meaning);
        for (const int value : all_values(of)) {
            run_settings all = default_settings();
            EXPECT_FALSE(setting.read(text_of(of, value), all)) << value;
            EXPECT_EQ(refusal(of, value), "");
            const kernel_wish wish = wished_kernel(all);
            for (const knob_id k : all_knobs()) {
                EXPECT_EQ(wish[k], &k.line() == &of ? std::optional(value) : std::nullopt)
                    << k.line().name << ", set to " << value;
            }
            EXPECT_FALSE(wish.is_open());
        }
        for (const int wrong : {of.values.least - 1, of.values.most + 1, std::numeric_limits<int>::min(),
                                std::numeric_limits<int>::max()}) {
            if (of.values.has(wrong)) continue;
            EXPECT_NE(refusal(of, wrong), "") << wrong;
            run_settings all;
            EXPECT_TRUE(setting.read(std::to_string(wrong), all)) << wrong;
        }
        run_settings all = default_settings();
        EXPECT_EQ(!setting.read("auto", all), of.takes_auto);
        EXPECT_TRUE(wished_kernel(all).is_open());
    }
}

TEST(knobs, stand_beside_memory_reductions_and_sources_in_a_wish) {
    const auto wish_for = [](const char* name, const std::string& value) {
        run_settings all = default_settings();
        EXPECT_FALSE(std::ranges::find(setting_table(), name, &run_setting::name)->read(value, all)) << value;
        return wished_kernel(all);
    };
    for (const auto& [name, at] :
         {std::pair("space", &kernel_wish::space), std::pair("row_space", &kernel_wish::row_space),
          std::pair("reduction", &kernel_wish::reduction)})
        for (const std::string& value :
             std::ranges::find(setting_table(), name, &run_setting::name)->choices) {
            const kernel_wish wish = wish_for(name, value);
            EXPECT_EQ(wish.*at, value);
            kernel_wish as_usual = wish;
            as_usual.*at = wished_kernel(default_settings()).*at;
            EXPECT_EQ(as_usual, wished_kernel(default_settings())) << name << ": " << value;
        }
    EXPECT_FALSE(wish_for("random", "philox").reads_shocks);
    EXPECT_TRUE(wish_for("random", "curand_mrg32k3a").reads_shocks);
    EXPECT_TRUE(wish_for("replay", "shocks.npy").reads_shocks);
    run_settings fewer = default_settings();
    fewer.precision = precision::single_fast;
    EXPECT_EQ(wished_kernel(fewer).rounds, kernels::philox_rounds);
    fewer.random = "philox_7";
    EXPECT_EQ(wished_kernel(fewer).rounds, kernels::fewest_philox_rounds);
}

TEST(knobs, are_tried_and_swept_at_values_that_they_have) {
    for (const knob& of : knob_table) {
        SCOPED_TRACE(std::string(of.name));
        EXPECT_TRUE(of.values.has(of.preset));
        for (const int value : of.tuned) EXPECT_TRUE(of.values.has(value)) << value;
        for (const int value : of.swept) EXPECT_TRUE(of.values.has(value)) << value;
        for (const int value : all_values(of)) EXPECT_EQ(value_of(of, text_of(of, value)), value);
        for (const char* wrong : {"", "x", "1x", " 1", "99999999999"}) EXPECT_FALSE(value_of(of, wrong));
    }
    const kernel_decision presets;
    EXPECT_EQ(presets[knobs::padding], found_padding(presets[knobs::distance]));
    EXPECT_EQ(presets, with_presets({}));
}

TEST(knobs, are_in_the_text_of_the_feeds_that_make_use_of_them_alone) {
    for (const knob_id k : all_knobs()) {
        SCOPED_TRACE(std::string(k.line().name));
        const bool is_of_feeds = k.line().of != knob::part::kernel;
        std::size_t users = 0;
        for (const feed_entry& feed : feeds()) {
            kernel_wish plain, other;
            plain.feed = other.feed = std::string(feed.name);
            other[k] = other_value(k.line());
            const bool is_used = !is_of_feeds || feed.makes_use_of(k);
            users += is_used;
            EXPECT_EQ(path_kernel_text(a_program(), with_presets(plain)) !=
                          path_kernel_text(a_program(), with_presets(other)),
                      is_used)
                << feed.name;
            EXPECT_EQ(described(with_presets(plain)) != described(with_presets(other)), is_used) << feed.name;
            EXPECT_FALSE(!is_of_feeds && feed.makes_use_of(k)) << "every kernel has it";
        }
        EXPECT_GT(users, 0u);
    }
}

TEST(knobs, go_through_every_setting_once) {
    for (const feed_entry& feed : feeds()) {
        SCOPED_TRACE(std::string(feed.name));
        std::size_t expected = 1, seen = 0;
        for (const knob_id k : all_knobs()) {
            const bool is_there = k.line().of == knob::part::kernel || feed.makes_use_of(k);
            if (is_there && !k.line().swept.empty()) expected *= k.line().swept.size();
        }
        std::vector<kernel_wish> all;
        kernel_wish wish;
        wish.feed = std::string(feed.name);
        for_each_setting(
            feed, wish, [](knob_id k) { return k.line().swept; },
            [&](const kernel_wish& one) {
                ++seen;
                EXPECT_EQ(std::ranges::find(all, one), all.end());
                all.push_back(one);
            });
        EXPECT_EQ(seen, expected);
    }
}

// A knob of one feed takes a table line and a use: its value becomes an argument of the feed's type.
TEST(knobs, of_a_feed_alone_are_arguments_of_its_type) {
    static constexpr std::array lines{1, 2, 4};
    std::vector<knob> table(knob_table.begin(), knob_table.end());
    table.push_back({"lines",
                     &run_settings::rows,
                     knob::part::feed,
                     {0, 0, lines},
                     2,
                     false,
                     lines,
                     lines,
                     "Cache lines that the feed of this test is ahead"});
    const knob_id own{table.size() - 1};
    std::vector<int> values(table.size(), 7);
    values[own.at] = 4;
    EXPECT_EQ(own_arguments(table, {knobs::distance, own}, values), ", 4");
    EXPECT_EQ(own_arguments(table, {knobs::distance}, values), "");
    EXPECT_EQ(refusal(table.back(), 3), "lines: found 3, expected one of 1, 2, 4");
    EXPECT_EQ(value_of(table.back(), "4"), 4);
    EXPECT_EQ(value_names(table.back()), (std::vector<std::string>{"1", "2", "4"}));
}

TEST(knobs_wishes, leave_open_what_nobody_said_and_decisions_nothing) {
    const auto anything = [](const kernel_decision&, int) { return true; };
    const kernel_wish open;
    EXPECT_TRUE(open.is_open());
    EXPECT_EQ(decide(open, a_program(), anything).feed, "inline");
    kernel_wish reads;
    reads.reads_shocks = true;
    const kernel_decision ring = decide(reads, a_program(), anything);
    EXPECT_EQ(ring.feed, "smem_rolling_async");
    EXPECT_EQ(ring.layout(), kernels::ring_layout::transposed);
    EXPECT_EQ(ring[knobs::padding], 0);
    for (const knob_id k : all_knobs()) EXPECT_TRUE(k.line().values.has(ring[k])) << k.line().name;
    for (const knob_id k : all_knobs()) {
        kernel_wish said = reads;
        said[k] = other_value(k.line());
        EXPECT_FALSE(said.is_open());
        EXPECT_EQ(decide(said, a_program(), anything)[k], *said[k]) << k.line().name;
    }
    kernel_wish padded = reads;
    padded[knobs::padding] = 5;
    EXPECT_EQ(decide(padded, a_program(), anything).layout(), kernels::ring_layout::padded);
    kernel_wish longer = padded;
    longer[knobs::padding].reset();
    longer[knobs::distance] = 13;
    longer[knobs::layout] = static_cast<int>(kernels::ring_layout::padded);
    EXPECT_EQ(decide(longer, a_program(), anything)[knobs::padding], 4);
}

TEST(knobs_of_decisions, are_the_measured_ones_where_the_wish_is_open_and_they_fit) {
    const auto anything = [](const kernel_decision&, int) { return true; };
    kernel_decision measured;
    measured[knobs::width] = 2;
    measured[knobs::block] = 128;
    EXPECT_EQ(decide({}, a_program(), anything, &measured), measured);
    kernel_wish said;
    said[knobs::block] = 256;
    EXPECT_NE(decide(said, a_program(), anything, &measured), measured);
    const auto not_this = [&](const kernel_decision& how, int) { return how != measured; };
    EXPECT_NE(decide({}, a_program(), not_this, &measured), measured);
}

program::path_program of_nodes(std::size_t nodes, std::size_t tables) {
    program::path_program out;
    out.states = {"a", "b"};
    out.outputs = {0};
    out.normals_per_step = 1;
    program::lane_section& step = out.sections.emplace_back();
    step.nodes.assign(nodes, {program::operation::add, {0, 0, 0}, 0});
    for (std::size_t t = 0; t < tables; ++t) step.nodes[t].code = program::operation::interpolate;
    if (tables > 0) step.tables = {{0, 16}};
    return out;
}

// Blocks resident by default, measured to be fastest, for steps of up to 12 nodes in mixed and 24 in
// single_fast; a table read counts as eight nodes.
TEST(knobs_of_decisions, have_blocks_by_the_nodes_of_a_step) {
    const auto blocks = [](precision in, std::size_t nodes, std::size_t tables) {
        kernel_wish wish;
        wish.feed = "inline";
        wish.precision = in;
        return decide(wish, of_nodes(nodes, tables), [](const kernel_decision&, int) { return true; }).blocks;
    };
    EXPECT_EQ(blocks(precision::mixed, 12, 0), 2);
    EXPECT_EQ(blocks(precision::mixed, 13, 0), 0);
    EXPECT_EQ(blocks(precision::single_fast, 24 - 14, 2), 3);
    EXPECT_EQ(blocks(precision::single_fast, 25 - 14, 2), 0);
}

TEST(knobs_of_decisions, are_printed_with_all_that_the_feed_makes_use_of) {
    kernel_wish wish;
    wish.feed = "smem_rolling_async";
    EXPECT_EQ(described(with_presets(wish)), "smem_rolling_async, distance 8, padded, width 1, block 256");
    wish[knobs::padding] = 3;
    wish.blocks = 2;
    EXPECT_EQ(described(with_presets(wish)),
              "smem_rolling_async, distance 8, padded, padding 3, width 1, block 256, 2 blocks resident");
    wish = {};
    wish.feed = "bulk_async";
    EXPECT_EQ(described(with_presets(wish)), "bulk_async, distance 8, rows 4, width 1, block 256");
}

}  // namespace
}  // namespace tilewalk::cuda::knobs_test
