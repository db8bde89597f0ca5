// SPDX-License-Identifier: Apache-2.0
// Runs to a tolerance on GPUs: rounds after the first walk some of the trades only, and need no kernel that
// the first round did not compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/study/session/engine_state.h"
#include "engine/walk/cuda/device/backend.h"
#include "kernels/arguments.h"
#include "kernels/tile.h"
#include "tests/fake_backend.h"
#include "tests/fake_device.h"
#include "tests/merge_as_a_gpu.h"
#include "tests/named_choice.h"
#include "tests/on_a_gpu.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::later_rounds_test {
namespace {

using cuda::fake_gpu;
using kernels::word32;
using kernels::word64;

constexpr std::uint64_t paths_of_first_round = 65536;

constexpr const char* market_text = R"(market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 90, volatility: 0.3, dividend_yield: 0.02}
    H: {currency: USD, spot: 100, model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.6, rho: -0.7}}}
  correlations: [[A, B, 0.4]]
)";

struct trade {
    const char* terms;
    bool goes_on;
};

// Three European options, which share points, meet their tolerance at once; so the programs of the trades
// left differ from those of all trades.
const std::vector<trade> without_rights{
    {"id: call, product: european, underlying: A, strike: 104, maturity: 1", false},
    {"id: put, product: european, option: put, underlying: A, strike: 96, maturity: 1", false},
    {"id: digital, product: digital, underlying: A, strike: 100, payout: 10, maturity: 1", false},
    {"id: high, product: european, underlying: A, strike: 120, maturity: 1", true},
    {"id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}",
     true},
    {"id: cliquet, product: cliquet, underlying: B, fixings: {start: 0, end: 1, count: 4}, "
     "local_cap: 0.1",
     false},
    {"id: worst, product: worst_of, basket: [A, B], initial_level: [100, 90], strike: 0.9, maturity: 0.5, "
     "notional: 100",
     true},
};
// Puts and calls on an asset with steps between dates have sections of their own beside a common step.
const std::vector<trade> with_rights{
    {"id: put, product: american, option: put, underlying: H, strike: 100, maturity: 0.5, exercise_step: "
     "0.125",
     true},
    {"id: call, product: american, option: call, underlying: H, strike: 100, maturity: 0.5, "
     "exercise_step: 0.125",
     false},
    {"id: basket, product: bermudan_basket, basket: [A, B], price: maximum, strike: 100, "
     "exercise_dates: {start: 0, end: 1, count: 4}",
     false},
};

struct tolerances {
    double of_first_round, of_later_ones;
};

book book_of(const std::vector<trade>& trades, const tolerances* with = nullptr) {
    std::string text = std::string(market_text) + "trades:\n";
    for (const trade& t : trades) {
        text += std::string("  - {") + t.terms;
        if (with != nullptr)
            text += ", tolerance: " + std::to_string(t.goes_on ? with->of_later_ones : with->of_first_round);
        text += "}\n";
    }
    return book::parse(text);
}

run_options options(const std::string& random, const std::string& precision) {
    run_options out;
    out.overrides.device = "cuda";
    out.overrides.random = random;
    if (random == "sobol") out.overrides.construction = construction::steps;
    out.overrides.precision = tests::named{precision};
    out.overrides.controls = technique::none;
    out.overrides.training_paths = 4096;
    out.overrides.threads = 2;
    return out;
}

struct both_runs {
    results one, several;
};
void expect_no_more_kernels(const both_runs& of, const std::vector<trade>& trades) {
    for (std::size_t i = 0; i < trades.size(); ++i) {
        EXPECT_EQ(of.one.rows[i].paths, paths_of_first_round) << of.one.rows[i].message;
        EXPECT_EQ(of.several.rows[i].paths > paths_of_first_round, trades[i].goes_on)
            << of.several.rows[i].trade << of.several.rows[i].message;
    }
    EXPECT_GT(of.several.manifest.launches, of.one.manifest.launches);
    EXPECT_GT(of.one.manifest.kernels_compiled, 0U);
    EXPECT_EQ(of.several.manifest.kernels_compiled, of.one.manifest.kernels_compiled);
    EXPECT_EQ(of.several.manifest.kernels_from_cache, of.one.manifest.kernels_from_cache);
}

// Fake walk: a price of about 1 for any trade, with an error that falls as the root of the number of paths,
// whether estimated from paths or from randomisations.
void walk(const cuda::launch& how, const kernels::path_arguments& a) {
    constexpr word64 randomisations = 16;
    for (word32 block = 0; block < how.blocks; ++block) {
        const bool is_trade_first = a.trades_first != 0;
        const word32 tile = is_trade_first ? block / a.trade_count : block % a.tiles;
        const kernels::trade_record& trade =
            a.trades[is_trade_first ? block % a.trade_count : block / a.tiles];
        const word64 first = (a.first_tile + tile) * kernels::paths_per_tile;
        const bool is_high = first * randomisations / a.paths % 2 == 1;
        const double n = kernels::paths_in_tile(a.paths, a.first_tile + tile);
        const double mean = 1 + (is_high ? 4 : -4) / std::sqrt(static_cast<double>(a.paths));
        a.results[word64{trade.result} * a.tiles + tile] = {{n, mean, n, 0, 3 * n}};
    }
}

struct fresh_run {
    results result;
    std::set<std::string> texts;
};
fresh_run priced(const book& trades, const run_options& with) {
    fresh_run out;
    const auto gpu = std::make_shared<fake_gpu>();
    gpu->kernel = [](const std::string&, const std::string& name, const cuda::launch& l,
                     std::span<void*> arguments) -> fake_gpu::work {
        if (name == "merge_tiles")
            return [l, a = *static_cast<kernels::merge_arguments*>(arguments[0])] { merge_as_a_gpu(l, a); };
        if (name == "walk")
            return [l, a = *static_cast<kernels::path_arguments*>(arguments[0])] { walk(l, a); };
        return [] {};
    };
    cuda::text_compiler compiler;
    std::mutex lock;  // guards out.texts: threads compile side by side
    compiler.refuses = [&](const std::string& text) {
        const std::lock_guard guard(lock);
        return !out.texts.insert(text).second;
    };
    out.result = tests::engine_on({gpu}, compiler).price(trades, with);
    EXPECT_EQ(gpu->report(), "");
    return out;
}

// Fake prices have an error of one over the root of the paths, 1/256 for 65,536.
constexpr tolerances of_fake_prices{0.02, 0.004};

void expect_texts_of_the_first_round(const std::vector<trade>& trades, run_options with) {
    const fresh_run several = priced(book_of(trades, &of_fake_prices), with);
    with.overrides.paths = paths_of_first_round;
    const fresh_run one = priced(book_of(trades), with);
    EXPECT_TRUE(several.texts == one.texts) << "other texts";
    expect_no_more_kernels({one.result, several.result}, trades);
}

TEST(later_rounds, have_the_kernels_of_the_first) {
    for (const char* const random : {"philox", "sobol"}) {
        for (const char* const precision : {"double", "single_fast"}) {
            SCOPED_TRACE(std::string(random) + " in " + precision);
            expect_texts_of_the_first_round(without_rights, options(random, precision));
        }
    }
}

TEST(later_rounds, have_the_kernels_of_the_first_for_rights) {
    expect_texts_of_the_first_round(with_rights, options("philox", "double"));
}

using later_rounds_on_a_gpu = tests::on_a_gpu;

void expect_nothing_compiled_later(const std::vector<trade>& trades, const tolerances& to, run_options with) {
    const auto priced_anew = [](const book& of, const run_options& how) {
        cuda::gpu_machine m;
        m.kernel_folder.clear();
        m.tiles_before_gpus = 0;
        return studies::engine_on(std::make_shared<cuda::backend>(m)).price(of, how);
    };
    both_runs runs;
    runs.several = priced_anew(book_of(trades, &to), with);
    with.overrides.paths = paths_of_first_round;
    runs.one = priced_anew(book_of(trades), with);
    expect_no_more_kernels(runs, trades);
}

TEST_F(later_rounds_on_a_gpu, compile_nothing) {
    expect_nothing_compiled_later(without_rights, {1, 0.01}, options("philox", "double"));
}

TEST_F(later_rounds_on_a_gpu, compile_nothing_for_points) {
    expect_nothing_compiled_later(without_rights, {1, 0.0002}, options("sobol", "double"));
}

TEST_F(later_rounds_on_a_gpu, compile_nothing_for_rights) {
    expect_nothing_compiled_later(with_rights, {1, 0.02}, options("philox", "double"));
}

}  // namespace
}  // namespace tilewalk::later_rounds_test
