// SPDX-License-Identifier: Apache-2.0
// The public engine: bits independent of threads, instruction set and neighbours; failures confined to their
// trade; moments, flags, past fixings, progress and cancellation.
#include "tilewalk/engine.h"
#include "tests/named_choice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/digest.h"
#include "engine/walk/arrays/shock_writer.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "kernels/shocks.h"
#include "products/program/evaluate.h"
#include "products/program/passes.h"
#include "products/program/recorder.h"
#include "products/program/streams.h"
#include "tests/own_folder.h"
#include "tests/plain_paths.h"
#include "tests/texts.h"
#include "tests/whole.h"
#include "tilewalk/products.h"
#include "tilewalk/write.h"

namespace tilewalk::engine_test {
namespace {

const std::string market_text = R"(
as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
  EUR: {rate: 0.02}
assets:
  ACME: {currency: USD, spot: 100, volatility: 0.2}
  BETA: {currency: EUR, spot: 50, dividend_yield: 0.01, volatility: {0.5: 0.2, 2.0: 0.25}}
  STILL: {currency: USD, spot: 100, volatility: 0}
  BARE: {currency: USD, spot: 80}
fx:
  EURUSD: {rate: 1.10, volatility: 0.1}
correlations:
  - [ACME, BETA, 0.5]
  - [BETA, EURUSD, -0.2]
fixings:
  ACME: {2025-12-15: 96, 2026-01-05: 99, 2026-01-15: 101}
  STILL: {2025-12-15: 96, 2026-01-05: 99}
)";

const std::string own_products = R"(
products:
  - product: forward
    summary: The price itself.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      factor: {type: number, default: 1, help: How many.}
      again: {type: number, default: 1, help: How many times that.}
    example: {underlying: ACME, maturity: 1.0}
    script: |
      on maturity:
          pay factor * again * spot(underlying)
  - product: inverse
    summary: Not a number but above the level.
    parameters:
      underlying: {type: asset, help: The asset.}
      maturity: {type: date, help: The day.}
      level: {type: amount, help: Where it breaks.}
    example: {underlying: ACME, maturity: 1.0, level: 0}
    script: |
      on maturity:
          pay 1 / max(spot(underlying) - level, 0)
)";

market test_market() {
    return market::parse(market_text);
}

book book_of(const std::vector<std::string>& trades) {
    std::string text = own_products + "trades:" + (trades.empty() ? " []\n" : "\n");
    for (const auto& t : trades) text += "  - {" + t + "}\n";
    return book::parse(text);
}

run_options with(std::uint64_t paths, int threads = 1, std::uint64_t seed = 7, run_options o = {}) {
    o.overrides.paths = paths;
    o.overrides.seed = seed;
    o.overrides.threads = threads;
    o.overrides.device = "cpu";  // GPUs have tests of their own
    o.overrides.random = "philox";
    return o;
}

run_options with_plain(std::uint64_t paths) {
    return with(paths, 1, 7, tests::plain_paths());
}

results price(const std::vector<std::string>& trades, const run_options& options) {
    return engine().price(book_of(trades), test_market(), options);
}

price_row price_one(const std::string& trade, const run_options& options) {
    return price({"id: t, " + trade}, options).rows.at(0);
}

std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}

std::string all_of(const price_row& r) {
    std::string text = r.trade + " " + r.product + " " + r.currency +
                       (r.status == trade_status::priced ? " priced" : " failed");
    for (const double x : {r.quantity, r.price, r.standard_error, r.low, r.high, r.effective_hits}) {
        text += " " + std::to_string(bits(x));
    }
    return text + " " + std::to_string(r.paths) + (r.thin ? " thin " : " ") + r.message;
}

void expect_same_rows(const results& got, const results& expected, const std::string& why) {
    ASSERT_EQ(got.rows.size(), expected.rows.size()) << why;
    for (std::size_t i = 0; i < got.rows.size(); ++i)
        EXPECT_EQ(all_of(got.rows[i]), all_of(expected.rows[i])) << why;
}

const std::vector<std::string> mixed_trades = {
    "id: call, product: european, underlying: ACME, strike: 105, maturity: 1.0",
    "id: put, product: european, underlying: ACME, option: put, strike: 95, maturity: 0.5",
    "id: quanto, product: european, underlying: BETA, strike: 50, maturity: 1.5, currency: USD",
    "id: asian, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: "
    "12}",
    "id: barrier, product: barrier, underlying: ACME, strike: 100, maturity: 1.0, direction: down, barrier: "
    "85, rebate: 2, "
    "rebate_paid: at_hit",
    "id: basket, product: autocallable, basket: [ACME, BETA], initial_level: [100, 50], observations: [0.5, "
    "1.0, 1.5], "
    "coupon: 0.05, protection: 0.7",
    "id: variance, product: variance_swap, underlying: BETA, fixings: {start: 0, end: 0.5, count: 26, "
    "include_start: true}, "
    "strike: 0.2",
    "id: digital, product: digital, underlying: ACME, strike: 110, payout: 10, maturity: 1.0",
};
constexpr std::uint64_t odd_paths = 5001;

TEST(engine, same_bits_for_any_number_of_threads) {
    const auto one = price(mixed_trades, with(odd_paths, 1));
    for (const auto& r : one.rows) EXPECT_EQ(r.status, trade_status::priced) << r.trade << ": " << r.message;
    for (const int threads : {2, 3, 7, 64}) {
        const auto many = price(mixed_trades, with(odd_paths, threads));
        EXPECT_EQ(many.manifest.threads, threads);
        expect_same_rows(many, one, std::to_string(threads) + " threads");
    }
}

TEST(engine, same_bits_for_every_instruction_set) {
    const auto automatic = price(mixed_trades, with(odd_paths));
    ASSERT_FALSE(engine::instruction_sets().empty());
    EXPECT_EQ(automatic.manifest.instruction_set, engine::instruction_sets().front());
    for (const auto& set : engine::instruction_sets()) {
        const auto r = engine({set}).price(book_of(mixed_trades), test_market(), with(odd_paths));
        EXPECT_EQ(r.manifest.instruction_set, set);
        expect_same_rows(r, automatic, set);
    }
}

TEST(engine, same_bits_alone_and_in_any_company) {
    const auto together = price(mixed_trades, with(odd_paths, 2));
    auto backwards = mixed_trades;
    std::reverse(backwards.begin(), backwards.end());
    auto turned = price(backwards, with(odd_paths, 2));
    std::reverse(turned.rows.begin(), turned.rows.end());
    expect_same_rows(turned, together, "in the other order");
    for (std::size_t i = 0; i < mixed_trades.size(); ++i) {
        const auto alone = price({mixed_trades[i]}, with(odd_paths));
        EXPECT_EQ(all_of(alone.rows[0]), all_of(together.rows[i])) << "alone";
    }
}

TEST(engine, a_bad_trade_changes_no_bit_of_the_others) {
    const struct {
        std::string trade, message;
        error_kind kind;
    } bad[] = {
        {"id: b0, product: european, underlying: ACNE, strike: 100, maturity: 1.0",
         "unknown asset 'ACNE'; did you mean 'ACME'? known: ACME, BARE, BETA, STILL", error_kind::input},
        {"id: b1, product: inverse, underlying: ACME, level: 1e6, maturity: 1.0",
         "5001 of 5001 paths gave no finite number, the first is path 0; book:23:17: division by zero; ask "
         "'if' whether the divisor is 0, or write x / max(y, 1e-12)",
         error_kind::numeric},
        {"id: b2, product: asian, underlying: ACME, strike: 100, averaging_dates: [2025-12-31, 2026-06-30]",
         "market: the trade looks at 'ACME' on 2025-12-31, before as_of, and the market has no fixing for "
         "it; add it under "
         "fixings: ACME",
         error_kind::input},
        {"id: b3, product: european, underlying: ACME, strike: -1, maturity: 1.0", "", error_kind::input},
        {"id: b4, product: european, underlying: BARE, strike: 100, maturity: 1.0",
         "asset 'BARE' has no volatility; the model black_scholes needs one", error_kind::input},
        {"id: b5, product: forward, underlying: ACME, factor: 1e100, again: 1e100, maturity: 1.0",
         "the payoffs are too large for their mean and standard error to be numbers; take a smaller notional",
         error_kind::numeric},
        {"id: b6, product: european, underlying: ACME, strike: 100, maturity: 1.0, currency: XXX",
         "unknown currency 'XXX'; known: EUR, USD", error_kind::input},
    };
    const auto good = price(mixed_trades, with(odd_paths, 2));
    std::vector<std::string> trades;
    for (std::size_t i = 0; i < mixed_trades.size(); ++i) {
        if (i < std::size(bad)) trades.push_back(bad[i].trade);
        trades.push_back(mixed_trades[i]);
    }
    for (const int threads : {1, 2, 7}) {
        const auto all = price(trades, with(odd_paths, threads));
        ASSERT_EQ(all.rows.size(), trades.size());
        EXPECT_EQ(all.failed(), std::size(bad));
        std::size_t next_good = 0, next_bad = 0;
        // The list of trades begins in the line after "trades:".
        const int line_before =
            static_cast<int>(std::count(own_products.begin(), own_products.end(), '\n')) + 1;
        for (std::size_t i = 0; i < all.rows.size(); ++i) {
            const auto& r = all.rows[i];
            if (r.status == trade_status::priced) {
                EXPECT_EQ(all_of(r), all_of(good.rows[next_good++]));
                continue;
            }
            const auto& expected = bad[next_bad++];
            EXPECT_EQ(r.trade, "b" + std::to_string(next_bad - 1));
            EXPECT_EQ(r.kind, expected.kind) << r.trade;
            if (!expected.message.empty()) {
                EXPECT_EQ(r.message, expected.message) << r.trade;
            }
            if (r.trade == "b4") {
                EXPECT_EQ(r.where.file, "market") << "the asset's own place";
                EXPECT_EQ(r.where.line, 10);
            } else {
                EXPECT_EQ(r.where.file, "book") << r.trade;
                EXPECT_EQ(r.where.line, line_before + static_cast<int>(i) + 1) << r.trade;
            }
            EXPECT_EQ(r.price, 0) << r.trade;
        }
        EXPECT_EQ(next_good, mixed_trades.size());
    }
}

// `forward_payoff` is a path's discounted payoff by product `forward`, from the first normal of its stream.
const kernels::stream_key stream_of_acme = kernels::stream_key_of(program::stream_name("ACME").key);

double forward_payoff(std::uint64_t path, std::uint64_t seed, double years = 1.0, double volatility = 0.2) {
    const double variance = volatility * volatility * years;
    const double x =
        std::sqrt(variance) * kernels::normals(seed, path, 0, stream_of_acme).first - 0.5 * variance;
    return 100 * std::exp(x);  // growth and discount use the same rate
}

// Path counts `n` around the sizes of lanes, tile and tree of tiles. Longer runs begin as shorter ones do.
TEST(engine, moments_are_those_of_the_paths) {
    for (const std::uint64_t n : {1U, 2U, 3U, 255U, 256U, 257U, 511U, 1023U, 1024U, 1025U, 2048U, 2049U,
                                  3072U, 4097U, 10000U, 1048577U}) {
        const auto r = price_one("product: forward, underlying: ACME, maturity: 1.0", with_plain(n));
        long double sum = 0, m2 = 0, m4 = 0;
        for (std::uint64_t p = 0; p < n; ++p) sum += forward_payoff(p, 7);
        const long double mean = sum / static_cast<long double>(n);
        for (std::uint64_t p = 0; p < n; ++p) {
            const long double d = forward_payoff(p, 7) - mean;
            m2 += d * d;
            m4 += d * d * d * d;
        }
        const auto count = static_cast<double>(n);
        EXPECT_EQ(r.paths, n);
        EXPECT_NEAR(r.price, static_cast<double>(mean), 1e-11) << n;
        const double expected_error = n > 1 ? std::sqrt(static_cast<double>(m2) / (count - 1) / count) : 0;
        if (n == 1) {
            EXPECT_FALSE(r.has_error() || r.has_interval());
            continue;
        }
        EXPECT_NEAR(r.standard_error, expected_error, 1e-11) << n;
        EXPECT_DOUBLE_EQ(r.low, r.price - 1.959963984540054 * r.standard_error) << n;
        EXPECT_DOUBLE_EQ(r.high, r.price + 1.959963984540054 * r.standard_error) << n;
        if (n > 1) {
            EXPECT_NEAR(r.effective_hits, static_cast<double>(m2 * m2 / m4), 1e-9 * count) << n;
        }
        EXPECT_EQ(r.thin, r.effective_hits < thin_below) << n;
    }
}

TEST(engine, tiles_merge_in_one_fixed_tree) {
    program::recorder into;
    into.output(into.state("out", 0.0));
    into.open_section(0, "step", 1);
    into.write(0, exp(into.normal()));
    const auto made = std::move(into).finish();
    const auto hoisted = program::hoist(made.code);
    const auto data = program::bind(hoisted, made.data);
    const auto code = cpu::compile(hoisted);
    program::timeline when;
    when.times.push_back(1);
    when.close_step();
    const auto& operations = *cpu::runnable_instruction_sets().sets[0];
    for (const std::uint64_t tiles : {1U, 2U, 5U, 1023U, 1024U, 1025U, 2048U, 3077U}) {
        const cpu::path_job job{&code, &data, &when, 3, tiles * kernels::paths_per_tile - 7};
        cpu::lane_machine machine(operations);
        std::vector<kernels::moments> each;
        for (std::uint64_t t = 0; t < tiles; ++t) {
            cpu::tile_result r;
            machine.walk(job, t, {&r, 1});
            each.push_back(r.moments);
        }
        const auto expected = kernels::merge_tiles(each.data(), each.size());
        for (const int threads : {1, 3}) {
            cpu::path_job beside = job;
            beside.paths = 1030;
            const std::vector<cpu::path_job> jobs{beside, job, beside};
            const auto got =
                tests::whole(cpu::walk_all(jobs, operations, threads, nullptr, {})).at(1).moments;
            for (const auto of : {&kernels::moments::count, &kernels::moments::mean, &kernels::moments::m2,
                                  &kernels::moments::m3, &kernels::moments::m4}) {
                EXPECT_EQ(bits(got.*of), bits(expected.*of))
                    << tiles << " tiles on " << threads << " threads";
            }
        }
    }
}

TEST(engine, the_first_bad_path_is_named) {
    constexpr double level = 130;
    for (const std::uint64_t n : {7U, 1025U, 5000U}) {
        std::uint64_t bad = 0, first = 0;
        for (std::uint64_t p = 0; p < n; ++p) {
            if (forward_payoff(p, 7) * std::exp(0.03) > level) continue;
            if (bad++ == 0) first = p;
        }
        ASSERT_GT(bad, 0U);
        const auto r = price_one("product: inverse, underlying: ACME, level: 130, maturity: 1.0", with(n, 2));
        EXPECT_EQ(r.status, trade_status::failed);
        EXPECT_EQ(r.kind, error_kind::numeric);
        EXPECT_EQ(r.message.substr(0, r.message.find(';')),
                  std::to_string(bad) + " of " + std::to_string(n) +
                      " paths gave no finite number, the first is path " + std::to_string(first));
    }
    // Almost every path ends above the level of 58, so the first failure comes late.
    std::uint64_t first = 0;
    while (forward_payoff(first, 7) * std::exp(0.03) > 58) ++first;
    ASSERT_GT(first, 100U);
    ASSERT_LT(first, 20000U);
    const auto r = price_one("product: inverse, underlying: ACME, level: 58, maturity: 1.0", with(20000, 2));
    EXPECT_NE(r.message.find("the first is path " + std::to_string(first) + ";"), std::string::npos)
        << r.message;
}

TEST(engine, seeds_change_the_numbers) {
    const std::string call = "product: european, underlying: ACME, strike: 100, maturity: 1.0";
    std::set<double> prices;
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7},
                                     std::uint64_t{1} << 32, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        prices.insert(price_one(call, with(2000, 1, seed)).price);
    }
    EXPECT_EQ(prices.size(), 6U) << "both halves of the seed count";
    EXPECT_EQ(bits(price_one(call, with(2000, 1, 1)).price), bits(price_one(call, with(2000, 1, 1)).price));
}

TEST(engine, fingerprints_of_walks_tell_random_numbers_apart) {
    const auto walk_of = [](const run_settings& settings, double strike = 100) {
        run_options with;
        with.overrides = settings;
        const std::string one = fmt::format(
            "trades: [{{id: a, product: european, underlying: ACME, strike: {}, maturity: 1}}]", strike);
        const results told = engine().price(book::parse(one), market::parse(market_text), with);
        std::ostringstream text;
        write(text, told, output_format::json);
        EXPECT_EQ(read_results(text.str(), "text").rows[0].walk, told.rows[0].walk);
        return told.rows[0].walk;
    };
    constexpr std::uint64_t paths = 16384, steps = 2, normals = 2;
    const run_settings usual{.paths = paths, .seed = 1, .threads = 1, .device = "cpu", .random = "philox"};
    const tests::own_folder folder;
    std::set<std::uint64_t> walks{walk_of(usual)};
    const auto add = [&](auto change) {
        run_settings changed = usual;
        change(changed);
        walks.insert(walk_of(changed));
    };
    add([](run_settings& s) { s.seed = 2; });
    add([](run_settings& s) { s.paths = 2 * paths; });
    add([](run_settings& s) { s.antithetic = antithetic::pairs; });
    for (const char* const way : {"bridge", "steps"})
        add([&](run_settings& s) { s.random = "sobol", s.construction = tests::named{way}; });
    add([](run_settings& s) {
        s.random = "sobol", s.construction = construction::steps, s.randomisations = 8;
    });
    for (const double shock : {0.5, -0.5}) {
        const std::vector<double> all(steps * normals * paths, shock);
        arrays::write_shocks<double>(folder / "shocks", {steps, normals, 0, paths, all, {}});
        add([&](run_settings& s) { s.replay = (folder / "shocks").string(); });
    }
    EXPECT_EQ(walks.size(), 9U);
    add([](run_settings& s) { s.threads = 2; });
    add([](run_settings& s) { s.precision = precision::single; });
    add([](run_settings& s) { s.controls = technique::none; });
    EXPECT_EQ(walks.size(), 9U);
    EXPECT_EQ(walk_of(usual, 90), walk_of(usual));
}

TEST(engine, settings_of_the_book_hold_and_the_caller_beats_them) {
    const auto b =
        book::parse("settings: {paths: 1500, seed: 9, threads: 2}\ntrades:\n  - {" + mixed_trades[0] + "}\n");
    const auto r = engine().price(b, test_market());
    EXPECT_EQ(r.manifest.paths, 1500U);
    EXPECT_EQ(r.manifest.seed, 9U);
    EXPECT_EQ(r.manifest.threads, 2);
    EXPECT_EQ(r.rows[0].paths, 1500U);
    run_options o;
    o.overrides.seed = 10;
    const auto other = engine().price(b, test_market(), o);
    EXPECT_EQ(other.manifest.paths, 1500U);
    EXPECT_EQ(other.manifest.seed, 10U);
    EXPECT_NE(other.rows[0].price, r.rows[0].price);
    EXPECT_GE(price(mixed_trades, with(64, 0)).manifest.threads, 1) << "0 is all cores";
    EXPECT_EQ(r.manifest.path_steps, 1500U);
    EXPECT_EQ(r.manifest.as_of, "2026-01-15");
}

error_kind kind_of(const std::function<void()>& does, std::string& message) {
    try {
        does();
    } catch (const error& e) {
        message = e.what();
        return e.kind();
    }
    message = "accepted";
    return error_kind::internal;
}

TEST(engine, refuses_what_does_not_exist) {
    const auto b = book_of(mixed_trades);
    std::string message;
    EXPECT_EQ(kind_of([&] { engine().price(b); }, message), error_kind::usage);
    EXPECT_EQ(message, "book: the book names no market; write market: in the book or give one");
    EXPECT_EQ(kind_of([&] { engine().price(b, test_market(), with(0)); }, message), error_kind::usage);
    EXPECT_EQ(message, "paths: found '0', expected a whole number from 1 to 2^40, such as 65536, 100k or 1M");
    EXPECT_EQ(kind_of([&] { engine().price(b, test_market(), with((std::uint64_t{1} << 40) + 1)); }, message),
              error_kind::usage);
    EXPECT_EQ(kind_of([&] { engine().price(b, test_market(), with(1, -1)); }, message), error_kind::usage);
    EXPECT_EQ(message, "threads: found '-1', expected a whole number from 0 to 1024");
    EXPECT_EQ(kind_of([&] { engine({"sse2"}); }, message), error_kind::usage);
    EXPECT_EQ(message.substr(0, 60), "unknown instruction set 'sse2'; this machine can run: auto, ");
}

TEST(engine, an_empty_book_has_no_rows) {
    const auto r = price({}, with(1000));
    EXPECT_TRUE(r.rows.empty());
    EXPECT_EQ(r.failed(), 0U);
    EXPECT_EQ(r.manifest.path_steps, 0U);
    EXPECT_TRUE(engine().explain(book_of({}), test_market()).empty());
}

TEST(engine, quantity_is_told_and_leaves_the_unit_price) {
    const std::string call = "product: european, underlying: ACME, strike: 100, maturity: 1.0";
    const auto unit = price_one(call, with(3000)),
               short_250 = price_one(call + ", quantity: -250", with(3000));
    EXPECT_EQ(unit.quantity, 1);
    EXPECT_EQ(short_250.quantity, -250);
    EXPECT_EQ(bits(short_250.price), bits(unit.price));
    EXPECT_EQ(bits(short_250.standard_error), bits(unit.standard_error));
    EXPECT_EQ(short_250.value(), -250 * unit.price);
}

TEST(engine, thin_samples_are_flagged) {
    const auto digital = [](const std::string& strike, std::uint64_t paths) {
        return price_one("product: digital, underlying: ACME, payout: 100, maturity: 1.0, strike: " + strike,
                         with_plain(paths));
    };
    const auto plain =
        price_one("product: european, underlying: ACME, strike: 100, maturity: 1.0", with_plain(20000));
    EXPECT_FALSE(plain.thin);
    EXPECT_GT(plain.effective_hits, 1000);
    EXPECT_EQ(plain.message, "");

    // About one path in a thousand is above 100 exp(0.01 + 3.09 * 0.2).
    const auto rare = digital("187.4", 20000);
    EXPECT_TRUE(rare.thin);
    EXPECT_GT(rare.price, 0);
    EXPECT_NEAR(rare.effective_hits, rare.price * std::exp(0.03) / 100 * 20000, 0.1) << "the hits themselves";
    EXPECT_EQ(rare.message,
              "only about " + std::to_string(static_cast<int>(rare.effective_hits)) +
                  " paths carry the variance; take more paths before trusting the standard error");
    EXPECT_FALSE(digital("187.4", 400000).thin) << "more paths help";

    const auto never = digital("1e6", 20000);
    EXPECT_TRUE(never.thin);
    EXPECT_EQ(never.price, 0);
    EXPECT_FALSE(never.has_error());
    EXPECT_EQ(never.effective_hits, 0);

    const auto always = digital("1e-6", 20000);
    EXPECT_TRUE(always.thin) << "no path differed, though paths could";
    EXPECT_DOUBLE_EQ(always.price, 100 * std::exp(-0.03));
    EXPECT_FALSE(always.has_error());
    EXPECT_EQ(always.effective_hits, 0);

    for (const std::uint64_t few : {1U, 2U, 99U}) {
        EXPECT_TRUE(digital("1e-6", few).thin) << few << " paths show no certainty";
        EXPECT_TRUE(price_one("product: forward, underlying: ACME, maturity: 1.0", with_plain(few)).thin)
            << few;
    }
}

TEST(engine, tiny_and_huge_payoffs_keep_their_flags) {
    for (const std::string factor : {"1e-60", "1e60", "1e12"}) {
        const auto r =
            price_one("product: forward, underlying: ACME, maturity: 1.0, factor: " + factor, with(5000));
        EXPECT_EQ(r.status, trade_status::priced) << factor;
        EXPECT_GT(r.standard_error, 0) << factor;
        EXPECT_FALSE(r.thin) << factor << ": " << r.effective_hits;
    }
}

TEST(engine, past_fixings_enter_as_the_numbers_they_are) {
    // STILL has no volatility, so its future days are certain too, and the average is a sum by hand.
    const double t = 166 / 365.0;  // 2026-06-30
    const double expected = std::exp(-0.03 * t) * ((96 + 99 + 100 * std::exp(0.03 * t)) / 3 - 90);
    const std::string terms =
        "product: asian, strike: 90, averaging_dates: [2025-12-15, 2026-01-05, 2026-06-30], underlying: ";
    const auto still = price_one(terms + "STILL", with(2000));
    EXPECT_NEAR(still.price, expected, 1e-12);
    EXPECT_EQ(still.message, "every path pays the same, whatever happens");
    EXPECT_FALSE(still.thin);
    // ACME has volatility, but this deep in the money the payoff is linear in the average: the same price.
    const auto acme = price_one(terms + "ACME", with_plain(50000));
    EXPECT_GT(acme.standard_error, 0);
    EXPECT_NEAR(acme.price, expected, 4.5 * acme.standard_error + 1e-4);
    EXPECT_LT(acme.standard_error, 0.03);
}

TEST(engine, what_has_happened_is_certain) {
    const auto certain = [](const std::string& trade, double expected) {
        const auto r = price_one(trade, with(1000));
        EXPECT_EQ(r.status, trade_status::priced) << trade << ": " << r.message;
        EXPECT_NEAR(r.price, expected, 1e-13) << trade;
        EXPECT_EQ(r.low, r.price);
        EXPECT_EQ(r.high, r.price);
        EXPECT_EQ(r.standard_error, 0);
        EXPECT_EQ(r.paths, 0U);
        EXPECT_FALSE(r.thin);
        EXPECT_EQ(r.message, "everything has already happened; no path was needed");
    };
    // A payment before as_of is gone; one on as_of counts, by the day's fixing or else the spot.
    certain("product: european, underlying: ACME, strike: 90, maturity: 2026-01-05", 0);
    certain("product: european, underlying: ACME, strike: 90, maturity: 2026-01-15", 11);
    certain("product: european, underlying: ACME, strike: 90, maturity: 0.0", 11);
    certain("product: european, underlying: STILL, strike: 90, maturity: 2026-01-15", 10);
    certain(
        "product: asian, underlying: ACME, strike: 90, averaging_dates: [2025-12-15, 2026-01-05, 2026-01-15]",
        (96 + 99 + 101) / 3.0 - 90);
    certain("product: asian, underlying: ACME, strike: 90, averaging_dates: [2025-12-15, 2026-01-05]", 0);
    certain("product: european, underlying: BARE, strike: 70, maturity: 2026-01-15",
            10);  // BARE has no volatility

    const auto unknown = price_one(
        "product: european, underlying: ACNE, strike: 9, maturity: 2026-01-05, currency: USD", with(1000));
    EXPECT_EQ(unknown.status, trade_status::failed);
    EXPECT_EQ(unknown.message, "unknown asset 'ACNE'; did you mean 'ACME'? known: ACME, BARE, BETA, STILL");
    const auto no_date =
        price_one("product: european, underlying: ACME, strike: 90, maturity: -0.5", with(1000));
    EXPECT_EQ(no_date.status, trade_status::failed) << "a number of years finds no fixing";
}

// Fixings of ACME: 96, 99 and, on as_of, 101; STILL has no fixing on as_of and a spot of 100.
TEST(engine, a_continuous_barrier_remembers_its_fixings) {
    const auto alive = [](const std::string& terms) {
        const auto r = price_one("product: barrier, strike: 50, " + terms, with(2000));
        EXPECT_EQ(r.status, trade_status::priced) << terms << ": " << r.message;
        return r.price > 0;
    };
    const std::string to_come = "underlying: ACME, direction: down, maturity: 1.0, ";
    EXPECT_TRUE(alive(to_come + "barrier: 60, monitoring_start: 2025-12-01"));
    EXPECT_FALSE(alive(to_come + "barrier: 97, monitoring_start: 2025-12-01"));
    EXPECT_FALSE(alive(to_come + "barrier: 97, monitoring_start: 2025-12-15")) << "the first day is watched";
    EXPECT_TRUE(alive(to_come + "barrier: 97, monitoring_start: 2025-12-16"));
    EXPECT_FALSE(
        alive("underlying: ACME, direction: up, maturity: 1.0, barrier: 101, monitoring_start: 2026-01-10"));
    EXPECT_FALSE(alive("underlying: ACME, direction: up, maturity: 1.0, barrier: 100")) << "today's spot";

    const std::string ends_today = "maturity: 2026-01-15, monitoring_start: 2026-01-06, ";
    EXPECT_TRUE(alive(ends_today + "underlying: ACME, direction: up, barrier: 102"));
    EXPECT_FALSE(alive(ends_today + "underlying: ACME, direction: up, barrier: 101")) << "today's fixing";
    EXPECT_TRUE(alive(ends_today + "underlying: STILL, direction: up, barrier: 100.5"));
    EXPECT_FALSE(alive(ends_today + "underlying: STILL, direction: up, barrier: 100")) << "today's spot";
}

TEST(engine, a_rebate_for_a_touch_today_is_paid_once) {
    for (const std::string start : {"2026-01-14", "2026-01-15"}) {
        const auto r = price_one(
            "product: barrier, underlying: ACME, strike: 100, direction: down, maturity: 1.0, barrier: 102, "
            "rebate: 5, rebate_paid: at_hit, monitoring_start: " +
                start,
            with(2000));
        EXPECT_NEAR(r.price, 5, 1e-12) << start << ": " << r.message;
    }
}

TEST(engine, called_before_as_of_is_over) {
    // The first observation, at which ACME was fixed at 99 >= 95, has called the note.
    const auto r = price_one(
        "product: autocallable, basket: [ACME], initial_level: 100, observations: [2026-01-05, 2026-07-15], "
        "call_level: 0.95, coupon: 0.05",
        with(2000));
    EXPECT_EQ(r.status, trade_status::priced) << r.message;
    EXPECT_EQ(r.price, 0);
    const auto alive = price_one(
        "product: autocallable, basket: [ACME], initial_level: 100, observations: [2026-01-05, 2026-07-15], "
        "call_level: 1.0, coupon: 0.05, protection: 0",
        with(2000));
    EXPECT_GT(alive.price, 90) << alive.message;
}

TEST(engine, explains_the_example_of_every_product) {
    const auto demo = market::load(std::filesystem::path(TILEWALK_SOURCE_DIR) / "configs/markets/demo.yaml");
    const auto pages = product_pages();
    ASSERT_GE(pages.size(), 6U);
    for (const auto& page : pages) {
        ASSERT_FALSE(page.example.empty()) << page.name;
        const auto b = book::parse("trades:\n  - " + page.example + "\n");
        const auto plans = engine().explain(b, demo);
        ASSERT_EQ(plans.size(), 1U) << page.name;
        const auto& p = plans[0];
        EXPECT_EQ(p.failure, "") << page.name << "\n" << page.example;
        EXPECT_EQ(p.product, page.name);
        EXPECT_FALSE(p.dates.empty() || p.program.empty()) << page.name;
        // A trade without assets depends on the rates of a currency, which its example names.
        EXPECT_EQ(p.assets.empty(), page.example.find("currency: ") != std::string::npos) << page.name;
        EXPECT_GE(p.grid.size(), 2U) << page.name;
        EXPECT_TRUE(std::is_sorted(p.grid.begin(), p.grid.end())) << page.name;
        EXPECT_GE(p.normals_per_step, static_cast<int>(p.assets.size())) << page.name;
        EXPECT_GT(p.lane_operations, 0U) << page.name;
        EXPECT_GE(p.bytes_per_thread, p.lane_registers * 256 * 8) << page.name;
        const auto r = engine().price(b, demo, with(2000));
        EXPECT_EQ(r.rows[0].status, trade_status::priced) << page.name << ": " << r.rows[0].message;
        EXPECT_GT(r.rows[0].standard_error, 0) << page.name;
        EXPECT_EQ(r.rows[0].currency, p.currency) << page.name;
    }
}

TEST(engine, explains_why_a_trade_cannot_be_planned) {
    const auto plans =
        engine().explain(book_of({"id: bad, product: european, underlying: ACNE, strike: 100, maturity: 1.0",
                                  mixed_trades[0]}),
                         test_market());
    ASSERT_EQ(plans.size(), 2U);
    EXPECT_NE(plans[0].failure.find("unknown asset 'ACNE'"), std::string::npos) << plans[0].failure;
    EXPECT_EQ(plans[0].where.file, "book");
    EXPECT_GT(plans[0].where.line, 1);
    EXPECT_EQ(plans[1].failure, "");
}

TEST(engine, one_engine_serves_many_threads) {
    const engine shared;
    const auto b = book_of(mixed_trades);
    const auto m = test_market();
    const auto expected = shared.price(b, m, with(2500));
    std::vector<results> got(6);
    {
        std::vector<std::jthread> crew;
        for (std::size_t i = 0; i < got.size(); ++i) {
            crew.emplace_back(
                [&, i] { got[i] = shared.price(b, m, with(2500, 1 + static_cast<int>(i % 3))); });
        }
    }
    for (const auto& r : got) expect_same_rows(r, expected, "beside others");
}

const std::string endless =
    "id: endless, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: "
    "252}";
constexpr std::uint64_t endless_paths = std::uint64_t{1} << 32;

TEST(engine, is_cancelled_from_another_thread) {
    std::atomic<bool> cancel{false};
    std::atomic<std::uint64_t> done{0}, all{0};
    run_options o = with(endless_paths, 2);
    o.cancel = &cancel;
    std::atomic<bool> walking{false};
    o.on_progress = [&](const progress& p) {
        done = p.path_steps_done;
        all = p.path_steps;
        if (p.path_steps_done > 0) walking = true;
    };
    std::jthread other([&] {
        while (!walking) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        cancel = true;
    });
    std::string message;
    EXPECT_EQ(kind_of([&] { engine().price(book_of({endless}), test_market(), o); }, message),
              error_kind::cancelled);
    walking = true;
    EXPECT_EQ(message, "the run was stopped");
    EXPECT_EQ(all, endless_paths * 252);
    EXPECT_LT(done, all / 100) << "long before its end";
}

TEST(engine, a_run_cancelled_before_it_starts_walks_nothing) {
    const std::atomic<bool> cancel{true};
    run_options o = with(endless_paths, 2);
    o.cancel = &cancel;
    int calls = 0;
    o.on_progress = [&](const progress& p) {
        ++calls;
        EXPECT_EQ(p.path_steps_done, 0U);
    };
    std::string message;
    EXPECT_EQ(kind_of([&] { engine().price(book_of({endless}), test_market(), o); }, message),
              error_kind::cancelled);
    EXPECT_LE(calls, 1);
}

TEST(engine, a_flag_that_stays_down_changes_nothing) {
    const std::atomic<bool> cancel{false};
    run_options o = with(odd_paths, 2);
    o.cancel = &cancel;
    expect_same_rows(price(mixed_trades, o), price(mixed_trades, with(odd_paths)), "with a flag");
}

TEST(engine, an_exception_of_the_callback_comes_through) {
    run_options o = with(endless_paths, 2);
    o.on_progress = [](const progress& p) {
        if (p.path_steps_done > 0) throw std::out_of_range("enough");
    };
    EXPECT_THROW(engine().price(book_of({endless}), test_market(), o), std::out_of_range);
    o = with(1000);
    o.on_progress = [](const progress&) { throw std::out_of_range("enough"); };
    EXPECT_THROW(price(mixed_trades, o), std::out_of_range) << "of the last call too";
}

TEST(engine, progress_grows_and_ends_complete) {
    auto trades = mixed_trades;
    trades.push_back("id: gone, product: european, underlying: ACME, strike: 90, maturity: 2026-01-05");
    trades.push_back("id: bad, product: european, underlying: ACNE, strike: 90, maturity: 1.0");
    for (const std::uint64_t paths : {std::uint64_t{10}, std::uint64_t{300000}}) {
        std::vector<progress> seen;
        run_options o = with(paths, 3);
        const auto caller = std::this_thread::get_id();
        o.on_progress = [&](const progress& p) {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            seen.push_back(p);
        };
        const auto r = price(trades, o);
        ASSERT_FALSE(seen.empty());
        for (std::size_t i = 0; i < seen.size(); ++i) {
            EXPECT_EQ(seen[i].trades, trades.size());
            EXPECT_LE(seen[i].path_steps_done, seen[i].path_steps);
            if (i == 0) continue;
            EXPECT_GE(seen[i].trades_done, seen[i - 1].trades_done);
            EXPECT_GE(seen[i].path_steps_done, seen[i - 1].path_steps_done);
        }
        EXPECT_EQ(seen.back().trades_done, trades.size());
        EXPECT_EQ(seen.back().path_steps_done, seen.back().path_steps);
        EXPECT_EQ(seen.back().path_steps, r.manifest.path_steps);
    }
}

TEST(engine, the_manifest_names_what_was_read) {
    const auto from_text = price(mixed_trades, with(64));
    ASSERT_FALSE(from_text.manifest.inputs.empty());
    EXPECT_EQ(from_text.manifest.inputs.back().file, "market");
    const auto inside = engine().price(book::parse("market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: "
                                                   "0.03}}\n  assets: {A: {currency: USD, spot: 1, "
                                                   "volatility: 0.2}}\ntrades:\n  - {id: t, product: "
                                                   "european, underlying: A, strike: 1, maturity: 1.0}\n"),
                                       with(64));
    EXPECT_EQ(inside.rows[0].status, trade_status::priced) << inside.rows[0].message;
    for (const auto& input : inside.manifest.inputs) EXPECT_FALSE(input.hash.empty()) << input.file;
}

TEST(engine, the_manifest_names_files_of_settings) {
    const auto replayed = [](const std::string& file) {
        run_options options = with(64);
        options.overrides.controls = technique::none;
        options.overrides.replay = file;
        const results r =
            price({"id: t, product: european, underlying: ACME, strike: 100, maturity: 1.0"}, options);
        EXPECT_EQ(r.rows.at(0).status, trade_status::priced) << r.rows.at(0).message;
        return r.manifest;
    };
    const tests::own_folder folder;
    const std::string file = (folder / "shocks.npy").string();
    std::set<std::string> hashes;
    for (const double shock : {0.5, 0.25}) {
        const std::vector<double> shocks(64, shock);
        arrays::write_numpy<double>(file, {1, 1, 0, 64, shocks, {}});
        const run_manifest told = replayed(file);
        EXPECT_EQ(told.settings.replay, file);
        EXPECT_EQ(told.inputs.back().file, file);
        EXPECT_EQ(told.inputs.back().hash, config::sha256(tests::text_of(file)));
        hashes.insert(told.inputs.back().hash);
    }
    EXPECT_EQ(hashes.size(), 2U) << "two files of one name";

    // A file in memory is reported by the name that it was made with.
    const std::string bytes = tests::text_of(file);
    const int memory = ::memfd_create("ours.npy", 0);
    ASSERT_EQ(::write(memory, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    const run_manifest told = replayed("/proc/self/fd/" + std::to_string(memory));
    ::close(memory);
    EXPECT_EQ(told.settings.replay, "ours.npy in memory");
    EXPECT_EQ(told.inputs.back().file, "ours.npy in memory");
    EXPECT_TRUE(hashes.contains(told.inputs.back().hash));
}

template <class Limit>
void expect_the_same_bits_where(std::uint64_t paths, int threads, const Limit& limit) {
    const auto expected = price(mixed_trades, with(paths, 1));
    const pid_t child = ::fork();
    if (child == 0) {
        int code = limit() ? 0 : 2;
        try {
            const auto r = price(mixed_trades, with(paths, threads));
            for (std::size_t i = 0; i < r.rows.size(); ++i) {
                if (all_of(r.rows[i]) != all_of(expected.rows[i])) code = 3;
            }
        } catch (...) {
            code = 4;
        }
        ::_exit(code);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(engine, too_few_threads_are_enough) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer takes more addresses than the limit";
#endif
    expect_the_same_bits_where(100000, 1024, [] {
        const rlimit room{std::size_t{600} << 20, std::size_t{600} << 20};
        return ::setrlimit(RLIMIT_AS, &room) == 0;
    });
}

TEST(engine, no_thread_is_enough) {
    expect_the_same_bits_where(4096, 4, [] {
        // Root may start any number of threads, so the process becomes another user.
        constexpr uid_t nobody = 65534;
        const rlimit none{0, 0};
        return (::geteuid() != 0 || ::setuid(nobody) == 0) && ::setrlimit(RLIMIT_NPROC, &none) == 0;
    });
}

TEST(engine, a_million_paths_stay_small) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer keeps its own memory";
#endif
    const tests::own_folder folder;
    const auto file = folder / "book.yaml", out = folder / "out.csv";
    std::ofstream(file) << "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n"
                           "  assets: {ACME: {currency: USD, spot: 100, volatility: 0.2}}\n"
                           "trades:\n  - {" +
                               endless + "}\n";
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(TILEWALK_CLI, TILEWALK_CLI, "price", file.c_str(), "--paths", "1000000", "--threads", "2",
                "--device", "cpu", "--format", "csv", "--output", out.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    ASSERT_GT(child, 0);
    int status = 0;
    rusage used{};
    ASSERT_EQ(::wait4(child, &status, 0, &used), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(std::filesystem::exists(out));
    RecordProperty("kibibytes", static_cast<int>(used.ru_maxrss));
    EXPECT_LT(used.ru_maxrss, 200 * 1000) << "KiB";
    EXPECT_GT(used.ru_maxrss, 1000) << "KiB";
}

}  // namespace
}  // namespace tilewalk::engine_test
