// SPDX-License-Identifier: Apache-2.0
// Script operations that leave their domain, such as a root of a negative number. Exactly the paths on which
// one does fail, even if its result is not used. Expected paths come from plain arithmetic on the prices that
// a trade with the same dates observes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "tests/market_text.h"
#include "tests/named_choice.h"
#include "tests/plain_paths.h"
#include "tilewalk/devices.h"
#include "tilewalk/page.h"
#include "tilewalk/products.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::script_domain_test {
namespace {

using tests::dollar_market;

constexpr std::uint64_t paths = 1000, seed = 7;

const std::string market_text =
    dollar_market(0.03, {{"A", "spot: 100, volatility: 0.2"}, {"B", "spot: 100, volatility: 0.4"}});

struct seen {
    double a[2], b[2];
};
using breaks = std::function<bool(const seen&)>;

bool none(const seen&) {
    return false;
}
bool all(const seen&) {
    return true;
}
bool ends_above(const seen& s) {
    return s.a[1] > 100;
}
bool ends_below(const seen& s) {
    return s.a[1] < 100;
}

struct scripted {
    std::string name, script;
    breaks is_broken;
    bool in_single = true;  // whether the same paths fail in single
};

const std::vector<scripted>& scripts() {
    static const std::vector<scripted> table{
        {"max_of_root", "on last(dates):\n    pay max(sqrt(strike - spot(u)), 0)\n", ends_above},
        {"max_with_root_second", "on last(dates):\n    pay max(0, sqrt(strike - spot(u)))\n", ends_above},
        {"min_of_root", "on last(dates):\n    pay min(sqrt(strike - spot(u)), 5)\n", ends_above},
        {"min_with_root_second", "on last(dates):\n    pay min(5, sqrt(strike - spot(u)))\n", ends_above},
        {"no_number_on_any_path", "on last(dates):\n    pay min(0 / (spot(u) - spot(u)), 7)\n", all},
        {"comparison",
         "on last(dates):\n    if sqrt(strike - spot(u)) > 1:\n        pay 1\n    else:\n        pay 2\n",
         ends_above},
        {"comparison_alone", "on last(dates):\n    if log(spot(u) - strike) == 0:\n        pay 1\n",
         [](const seen& s) { return s.a[1] <= 100; }},
        {"taken_branch",
         "on last(dates):\n    if spot(u) < strike:\n        pay max(sqrt(strike - spot(u)), 1)\n", none},
        {"nested_branches",
         "on last(dates):\n    if spot(u) > 90:\n        if spot(u) < 110:\n            x = sqrt(spot(u) - "
         "100)\n"
         "            if x > 1:\n                pay x\n        else:\n            pay log(spot(u) - 110)\n"
         "    else:\n        pay 1\n",
         [](const seen& s) { return s.a[1] > 90 && s.a[1] < 100; }},
        {"elif",
         "on last(dates):\n    if spot(u) < 90:\n        pay 1\n    elif spot(u) < strike:\n"
         "        pay min(sqrt(spot(u) - 95), 1)\n    else:\n        pay min(pow(spot(u) - 105, 0.5), 2)\n",
         [](const seen& s) { return (s.a[1] >= 90 && s.a[1] < 95) || (s.a[1] >= 100 && s.a[1] < 105); }},
        {"condition_of_elif",
         "on last(dates):\n    if spot(u) < strike:\n        pay 1\n    elif sqrt(spot(u) - 105) > 2:\n"
         "        pay 2\n",
         [](const seen& s) { return s.a[1] >= 100 && s.a[1] < 105; }},
        {"and_stops_at_the_first",
         "on last(dates):\n    if spot(u) > strike and sqrt(spot(u) - strike) > 2:\n        pay 1\n", none},
        {"or_stops_at_the_first",
         "on last(dates):\n    if spot(u) < strike or sqrt(spot(u) - 105) > 2:\n        pay 1\n",
         [](const seen& s) { return s.a[1] >= 100 && s.a[1] < 105; }},
        {"stopped_before",
         "on first(dates):\n    if spot(u) > strike:\n        pay 1\n        stop\n"
         "on last(dates):\n    pay min(sqrt(strike - spot(u)), 3)\n",
         [](const seen& s) { return s.a[0] <= 100 && s.a[1] > 100; }},
        {"stopped_in_the_block",
         "on last(dates):\n    if spot(u) > strike:\n        stop\n    pay min(sqrt(strike - spot(u)), 3)\n",
         none},
        {"state_over_dates",
         "total = 0\non dates:\n    total = total + sqrt(spot(u) - 90)\non last(dates):\n"
         "    pay min(total, 1)\n",
         [](const seen& s) { return s.a[0] < 90 || s.a[1] < 90; }},
        {"overwritten",
         "on last(dates):\n    x = sqrt(strike - spot(u))\n    if x > 0:\n        x = 1\n    pay max(x, 1)\n",
         ends_above},
        {"divisor_on_one_date", "on dates:\n    pay min(1 / (index - 1), 7)\n", all},
        {"worst_of_a_list", "on last(dates):\n    pay max(worst(log(spot(a) - 80) for a in basket), 0)\n",
         [](const seen& s) { return s.a[1] <= 80 || s.b[1] <= 80; }},
        {"best_of_a_list", "on last(dates):\n    pay best(sqrt(spot(a) - 80) for a in basket)\n",
         [](const seen& s) { return s.a[1] < 80 || s.b[1] < 80; }},
        {"nth_of_a_list", "on last(dates):\n    pay nth(2, sqrt(spot(a) - 80) for a in basket)\n",
         [](const seen& s) { return s.a[1] < 80 || s.b[1] < 80; }},
        {"loop_over_a_list",
         "on last(dates):\n    for a in basket:\n        if spot(a) > 80:\n            pay min(log(spot(a) - "
         "90), 1)\n",
         [](const seen& s) { return (s.a[1] > 80 && s.a[1] <= 90) || (s.b[1] > 80 && s.b[1] <= 90); }},
        {"overflow_of_exp", "on last(dates):\n    pay min(exp(7 * spot(u)), 3)\n",
         [](const seen& s) { return 7 * s.a[1] > 709.7827; }, false},
        {"overflow_of_pow", "on last(dates):\n    pay min(pow(spot(u), 154), 3)\n",
         [](const seen& s) { return !std::isfinite(std::pow(s.a[1], 154)); }, false},
        {"overflow_of_a_product", "on last(dates):\n    x = pow(spot(u), 77)\n    pay min(x * x, 3)\n",
         [](const seen& s) { return !std::isfinite(std::pow(s.a[1], 154)); }, false},
        {"overflow_of_a_quotient",
         "on last(dates):\n    pay 1 / (1 + pow(spot(u), 77) / pow(spot(u), 0 - 77))\n",
         [](const seen& s) { return !std::isfinite(std::pow(s.a[1], 154)); }, false},
        {"root_of_a_negative_number_by_pow", "on last(dates):\n    pay max(pow(spot(u) - strike, 0.5), 1)\n",
         ends_below},
        {"square_of_a_negative_number", "on last(dates):\n    pay max(pow(spot(u) - strike, 2), 1)\n", none},
        {"underflow", "on last(dates):\n    pay max(exp(0 - spot(u) * spot(u)), 0) + pow(0.01, spot(u))\n",
         none},
        {"a_hair_below_zero",
         "on last(dates):\n    pay min(sqrt(spot(u) * spot(u) / 3 * 3 - spot(u) * spot(u)), 4)\n",
         [](const seen& s) {
             const double third = s.a[1] * s.a[1] / 3;
             return third * 3 < s.a[1] * s.a[1];
         },
         false},
        {"realised_volatility",
         "total = 0\nsquares = 0\nbefore = 100\non dates:\n    r = log(spot(u) / before)\n    total = total "
         "+ r\n"
         "    squares = squares + r * r\n    before = spot(u)\non last(dates):\n"
         "    pay min(sqrt(squares / 2 - total * total / 4 - 0.001), 1)\n",
         [](const seen& s) {
             const double r = std::log(s.a[0] / 100), t = std::log(s.a[1] / s.a[0]);
             return (r * r + t * t) / 2 - (r + t) * (r + t) / 4 < 0.001;
         }},
        {"later_payment",
         "total = 0\non first(dates):\n    total = max(sqrt(strike - spot(u)), 0)\non last(dates):\n"
         "    pay total on last(dates)\n",
         [](const seen& s) { return s.a[0] > 100; }},
        {"between",
         "between start and last(dates):\n    if spot(u) > strike:\n        pay min(sqrt(110 - spot(u)), 1)\n"
         "on dates:\n    pay 1\n",
         [](const seen& s) { return s.a[0] > 110 || s.a[1] > 110; }},
    };
    return table;
}

std::string product_of(const scripted& s) {
    std::string out = "  - product: " + s.name + "\n    summary: A script.\n    parameters:\n";
    const auto uses = [&](const std::string& word) { return s.script.find(word) != std::string::npos; };
    if (uses("(u)")) out += "      u: {type: asset, help: The asset.}\n";
    if (uses("basket")) out += "      basket: {type: asset_list, help: The assets.}\n";
    if (uses("strike")) out += "      strike: {type: amount, default: 100, help: A level.}\n";
    out += "      dates: {type: schedule, help: The dates.}\n    example: {";
    std::string terms = uses("(u)") ? "u: A, " : "";
    if (uses("basket")) terms += "basket: [A, B], ";
    terms += "dates: [0.5, 1.0]";
    out += terms + "}\n    script: |\n";
    for (std::size_t from = 0; from < s.script.size();) {
        const std::size_t end = s.script.find('\n', from);
        out += "      " + s.script.substr(from, end - from) + "\n";
        from = end + 1;
    }
    return out + "trades:\n  - {id: t, product: " + s.name + ", currency: USD, " + terms + "}\n";
}
book book_of(const scripted& s) {
    return book::parse("products:\n" + product_of(s));
}

run_options options_in(const std::string& precision) {
    run_options out = tests::plain_paths();
    out.overrides.paths = paths;
    out.overrides.seed = seed;
    out.overrides.threads = 1;
    out.overrides.device = "cpu";
    out.overrides.random = "philox";
    out.overrides.precision = tests::named{precision};
    return out;
}

// Prices on each path, from a trade that pays both assets' prices, on both dates or at the end alone. A path
// that stops at the end alone has other random numbers.
std::vector<seen> all_seen(bool on_both_dates) {
    const std::string when = on_both_dates ? "dates" : "last(dates)";
    const book b = book::parse(
        "products:\n  - product: both\n    summary: Prices.\n    parameters:\n"
        "      basket: {type: asset_list, help: The assets.}\n      dates: {type: schedule, help: The "
        "dates.}\n"
        "    example: {basket: [A, B], dates: [0.5, 1.0]}\n    script: |\n      on " +
        when +
        ":\n          pay sum(spot(a) for a in basket)\n"
        "trades:\n  - {id: t, product: both, basket: [A, B], dates: [0.5, 1.0]}\n");
    const trade_paths found =
        paths_of(engine(), b, market::parse(market_text), "t", options_in("double"), paths);
    std::vector<seen> out(paths);
    for (std::size_t p = 0; p < paths; ++p) {
        for (std::size_t moment = on_both_dates ? 0 : 1; moment < 2; ++moment) {
            const std::size_t at = on_both_dates ? moment + 1 : 1;
            out[p].a[moment] = found.spots.at(0).at(p).at(at);
            out[p].b[moment] = found.spots.at(1).at(p).at(at);
        }
    }
    return out;
}

struct expected {
    std::uint64_t count = 0, first = 0;
};
expected expected_of(const scripted& s) {
    static const std::vector<seen> at_both = all_seen(true), at_the_end = all_seen(false);
    const auto has = [&](const std::string& text) { return s.script.find(text) != std::string::npos; };
    const auto& known = has("on dates") || has("first(dates)") || has("between") ? at_both : at_the_end;
    expected out;
    for (std::uint64_t p = 0; p < paths; ++p)
        if (s.is_broken(known[p]) && out.count++ == 0) out.first = p;
    return out;
}

void expect_row(const price_row& row, const expected& e, const std::string& what) {
    if (e.count == 0) {
        EXPECT_EQ(row.status, trade_status::priced) << what << ": " << row.message;
        EXPECT_TRUE(std::isfinite(row.price)) << what;
        return;
    }
    EXPECT_EQ(row.status, trade_status::failed) << what;
    EXPECT_EQ(row.kind, error_kind::numeric) << what;
    const std::string starts = std::to_string(e.count) + " of " + std::to_string(paths) +
                               " paths gave no finite number, the first is path " + std::to_string(e.first) +
                               "; ";
    EXPECT_EQ(row.message.substr(0, starts.size()), starts) << what << ": " << row.message;
    EXPECT_NE(row.message.find(":", starts.size()), std::string::npos) << what << ": " << row.message;
    EXPECT_EQ(row.message.find("; or "), std::string::npos) << what << ": " << row.message;
}

class script_domain : public testing::TestWithParam<std::string> {
  protected:
    const scripted& at_hand() const {
        for (const scripted& s : scripts())
            if (s.name == GetParam()) return s;
        throw std::logic_error("no script " + GetParam());
    }
};

TEST_P(script_domain, fails_the_paths_on_which_it_is_left) {
    const scripted& s = at_hand();
    const expected e = expected_of(s);
    for (const std::string precision : {"double", "single", "mixed"}) {
        if (!s.in_single && precision == "single") continue;
        const results got = engine().price(book_of(s), market::parse(market_text), options_in(precision));
        const price_row& row = got.rows.at(0);
        if (precision == "double") {
            expect_row(row, e, s.name);
        } else {  // other precisions have other shocks
            EXPECT_EQ(row.status == trade_status::failed, e.count > 0)
                << s.name << " in " << precision << ": " << row.message;
        }
    }
}

TEST_P(script_domain, fails_greeks_alike) {
    const scripted& s = at_hand();
    const expected e = expected_of(s);
    greek_options wanted;
    wanted.wanted = {"delta", "vega"};
    const results got = engine().greeks(book_of(s), market::parse(market_text), wanted, options_in("double"));
    expect_row(got.rows.at(0), e, s.name + " with greeks");
    for (const greek_row& g : got.greeks) {
        if (e.count > 0) {
            EXPECT_TRUE(g.has_failed()) << s.name << " " << g.measure;
        } else {
            EXPECT_TRUE(std::isfinite(g.value)) << s.name << " " << g.measure << ": " << g.message;
        }
    }
}

std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const scripted& s : scripts()) out.push_back(s.name);
    return out;
}
INSTANTIATE_TEST_SUITE_P(all, script_domain, testing::ValuesIn(names()),
                         [](const auto& at) { return at.param; });

// Compiles a script's kernels for a GPU in every precision.
TEST(script_domain, has_kernels_that_compile) {
    if (const std::string why = cuda::why_no_compiler(); !why.empty()) GTEST_SKIP() << why;
    for (const scripted& s : scripts()) {
        if (s.name != "nested_branches") continue;
        for (const std::string precision : {"double", "single", "mixed", "single_fast"}) {
            const auto made =
                engine().warm(book_of(s), market::parse(market_text), options_in(precision), {"sm_90"});
            EXPECT_FALSE(made.empty());
            for (const warmed_kernel& k : made) EXPECT_EQ(k.failure, "") << s.name << " in " << precision;
        }
    }
}

TEST(script_domain, is_the_same_on_gpu) {
    if (describe_devices().gpus.empty()) GTEST_SKIP() << "no GPU";
    for (const scripted& s : scripts()) {
        for (const std::string precision : {"double", "single", "mixed", "single_fast"}) {
            run_options on_gpu = options_in(precision), on_cpu = options_in(precision);
            on_gpu.overrides.device = "cuda";
            const bool is_fast = precision == "single_fast";
            if (is_fast && !s.in_single) continue;  // rounding decides, differently there
            if (is_fast) on_cpu.overrides.precision = precision::single;
            const market in = market::parse(market_text);
            const price_row there = engine().price(book_of(s), in, on_gpu).rows.at(0);
            const price_row here = engine().price(book_of(s), in, on_cpu).rows.at(0);
            EXPECT_EQ(there.status, here.status) << s.name << " in " << precision << ": " << there.message;
            if (is_fast) continue;
            EXPECT_EQ(there.message, here.message) << s.name << " in " << precision;
            greek_options wanted;
            wanted.wanted = {"delta", "vega"};
            const results greeks_there = engine().greeks(book_of(s), in, wanted, on_gpu);
            EXPECT_EQ(greeks_there.rows.at(0).status, here.status) << s.name << " in " << precision;
        }
    }
}

TEST(script_domain, is_looked_after_by_default_settings) {
    for (const scripted& s : scripts()) {
        if (s.name != "max_of_root" && s.name != "nested_branches" && s.name != "stopped_in_the_block")
            continue;
        run_options usual;
        usual.overrides.device = "cpu";
        usual.overrides.paths = 16384;
        const price_row row = engine().price(book_of(s), market::parse(market_text), usual).rows.at(0);
        EXPECT_EQ(row.status == trade_status::failed, expected_of(s).count > 0)
            << s.name << ": " << row.message;
        if (row.status != trade_status::failed) continue;
        EXPECT_NE(row.message.find("paths gave no finite number, the first is path"), std::string::npos)
            << row.message;
    }
}

TEST(script_domain, is_told_with_the_path_the_line_and_the_cure) {
    const scripted s{"told",
                     "on dates:\n    if spot(u) > 0:\n        pay max(log(spot(u) - 20), 0)\n"
                     "    pay max(sqrt(strike - spot(u)), 0)\n    pay min(1 / (spot(u) - 20), 1)\n",
                     [](const seen& on) { return on.a[0] > 100 || on.a[1] > 100; }};
    const expected e = expected_of(s);
    ASSERT_GT(e.count, 0U);
    const book b = book::parse("products:\n" + product_of(s), "told.yaml");
    const price_row row = engine().price(b, market::parse(market_text), options_in("double")).rows.at(0);
    EXPECT_EQ(row.message, std::to_string(e.count) +
                               " of 1000 paths gave no finite number, the first is path " +
                               std::to_string(e.first) +
                               "; told.yaml:13:19: sqrt of a negative number; write sqrt(max(x, 0))");
}

TEST(script_domain, is_left_in_the_past_or_above_all_blocks) {
    const auto message_of = [](const std::string& script, const std::string& dates) {
        std::string text = product_of({"early", script, none});
        for (std::size_t at = 0; (at = text.find("[0.5, 1.0]", at)) != std::string::npos; at += dates.size())
            text.replace(at, 10, dates);
        const market m =
            market::parse(std::string(market_text) + "fixings: {A: {2025-12-15: 96, 2026-01-05: 104}}\n");
        const price_row row =
            engine()
                .price(book::parse("products:\n" + text, "early.yaml"), m, options_in("double"))
                .rows.at(0);
        EXPECT_EQ(row.status, trade_status::failed);
        return row.message;
    };
    EXPECT_EQ(message_of("x = 0\non dates:\n    x = max(x, sqrt(strike - spot(u)))\n    pay x\n",
                         "[2025-12-15, 2026-01-05, 2027-01-15]"),
              "sqrt of a negative number; write sqrt(max(x, 0))");
    EXPECT_EQ(
        message_of("x = log(strike - 100)\non dates:\n    x = max(x, spot(u))\n    pay x\n", "[0.5, 1.0]"),
        "log of 0 or a negative number; write log(max(x, 1e-12))");
}

// A right's block runs on each path that reaches it, even if the right is not used there.
TEST(script_domain, is_looked_after_in_rights) {
    const scripted s{"right", "exercise on dates: receive max(sqrt(strike - spot(u)), 0)\n", ends_above};
    run_options with = options_in("double");
    with.overrides.paths = 4096;
    const price_row row = engine().price(book_of(s), market::parse(market_text), with).rows.at(0);
    EXPECT_EQ(row.status, trade_status::failed);
    EXPECT_NE(row.message.find("gave no finite number"), std::string::npos) << row.message;
    EXPECT_NE(row.message.find("sqrt of a negative number"), std::string::npos) << row.message;
    const scripted sound{
        "sound", "exercise on dates:\n    if spot(u) < strike:\n        receive sqrt(strike - spot(u))\n",
        none};
    const price_row priced = engine().price(book_of(sound), market::parse(market_text), with).rows.at(0);
    EXPECT_EQ(priced.status, trade_status::priced) << priced.message;
}

// Library products with operations checked on each path: terms and arithmetic don't prove their domain.
TEST(script_domain, is_proven_for_the_library_but_for_these) {
    std::map<std::string, std::size_t> checked;
    for (const product_page& page : product_pages()) {
        const book one = example_book(page);
        const books::trade& t = state_of(one).trades.at(0);
        ASSERT_FALSE(t.failure) << page.name;
        const auto made = plan::plan_trade(t, state_of(*one.market()));
        if (!made.checked.empty()) checked[page.name] = made.checked.size();
    }
    const std::map<std::string, std::size_t> known{
        {"lookback", 1}, {"parisian", 2}, {"rate_future", 1}, {"soft_barrier", 1}};
    EXPECT_EQ(checked, known);
}

}  // namespace
}  // namespace tilewalk::script_domain_test
