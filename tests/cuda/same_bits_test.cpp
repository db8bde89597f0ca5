// SPDX-License-Identifier: Apache-2.0
// On a GPU every price and standard error has the CPU's bits, for every feed and every build of a kernel. All
// pairs of values of any two settings occur in some run.
//
// Skipped without a GPU, unless TILEWALK_REQUIRE_GPU=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/cpu/lane_program.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "tests/every_model.h"
#include "tests/made_book.h"
#include "tests/many_blocks.h"
#include "tests/named_choice.h"
#include "tests/regressed_call.h"
#include "tests/surface_program.h"
#include "tests/whole.h"
#include "tests/wish_for.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::same_bits_test {
namespace {

constexpr std::uint64_t paths = 4500;

// Trades that together have every kind of a program's section.
const std::string few_trades = "market: " TILEWALK_SOURCE_DIR R"(/configs/markets/demo.yaml
trades:
  - {id: european, product: european, underlying: CASHCOW, option: put, strike: 80, maturity: 1.5, currency: EUR}
  - {id: digital, product: digital, underlying: INDEX, strike: 7000, payout: 100, maturity: 0.5}
  - {id: asian, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: 37}}
  - {id: watched, product: barrier, underlying: ACME, strike: 100, maturity: 1.0, direction: down, barrier: 85,
     rebate: 2, rebate_paid: at_hit}
  - {id: worst, product: autocallable, basket: [ACME, BETA, CASHCOW], initial_level: [100, 48, 82],
     observations: {start: 0, end: 2, count: 8}, coupon: 0.1, protection: 0.6, notional: 1000}
  - {id: variance, product: variance_swap, underlying: INDEX, strike: 0.18, notional: 10000,
     fixings: {start: 0, end: 0.5, count: 26, include_start: true}}
)";
constexpr int most_slots = 3;

bool must_have_gpu() {
    const char* said = std::getenv("TILEWALK_REQUIRE_GPU");
    return said != nullptr && std::string(said) == "1";
}

std::vector<cuda::device_properties> usable_devices(std::string& why_none) {
    const auto survey = cuda::survey_devices();
    why_none = survey.why_none;
    std::vector<cuda::device_properties> out;
    for (const auto& found : survey.devices) {
        if (found.why_not.empty()) {
            out.push_back(found.properties);
        } else {
            why_none = found.properties.name + ": " + found.why_not;
        }
    }
    return out;
}

struct axis {
    std::string name;
    std::vector<std::string> values;
};

// Index of the value on each axis of settings; -1 if the feed does not have the axis.
using combination = std::vector<int>;

class settings_space {
  public:
    explicit settings_space(const std::vector<cuda::device_properties>& devices) : device_(devices.at(0)) {
        axis feeds{"prefetch", {}}, spaces{"space", {}}, row_spaces{"row_space", {}}, all{"device", {}};
        axis reductions{"reduction", {}};
        for (const auto& feed : cuda::feeds()) feeds.values.emplace_back(feed.name);
        for (const auto& space : cuda::spaces()) {
            if (space.holds_paths) spaces.values.emplace_back(space.name);
            if (space.holds_rows) row_spaces.values.emplace_back(space.name);
        }
        for (const auto& reduction : cuda::reductions()) {
            if (reduction.keeps_bits) reductions.values.emplace_back(reduction.name);
        }
        std::string numbers;
        for (std::size_t i = 0; i < std::min<std::size_t>(devices.size(), 2); ++i) {
            numbers += (i > 0 ? "," : "") + std::to_string(devices[i].index);
            all.values.push_back(numbers);
        }
        axes_ = {feeds,
                 spaces,
                 {"distance", {"1", "2", "5", "6", "8", "12"}},
                 {"layout", {"plain", "padded", "transposed"}},
                 {"padding", {"auto", "3"}},
                 {"rows", {"1", "4", "7"}},
                 {"width", {"1", "2", "4"}},
                 {"block", {"64", "128", "256"}},
                 row_spaces,
                 reductions,
                 {"memory_bytes", {"0", "1MB"}},
                 {"precision", {"double", "single", "mixed"}},
                 all};
    }

    const std::vector<axis>& axes() const { return axes_; }
    std::string value(const combination& c, std::string_view name) const {
        const std::size_t a = place(name);
        return c[a] < 0 ? "" : axes_[a].values[static_cast<std::size_t>(c[a])];
    }

    combination draw(std::mt19937_64& random) const {
        for (;;) {
            combination c;
            for (const axis& a : axes_) c.push_back(static_cast<int>(random() % a.values.size()));
            const auto& feed = cuda::feed_named(value(c, "prefetch"));
            const auto leave_out = [&](std::string_view name) { c[place(name)] = -1; };
            if (!feed.makes_use_of(cuda::feed_entry::array)) leave_out("space");
            if (!feed.makes_use_of(cuda::knobs::distance)) leave_out("distance");
            if (!feed.makes_use_of(cuda::knobs::layout)) leave_out("layout");
            if (value(c, "layout") != "padded") leave_out("padding");
            if (!feed.makes_use_of(cuda::knobs::rows)) leave_out("rows");
            if (can_run(c)) return c;
        }
    }

    run_settings settings(const combination& c) const {
        run_settings s;
        for (const auto& known : setting_table()) {
            const auto found = std::ranges::find(axes_, known.name, &axis::name);
            if (found == axes_.end()) continue;
            const std::string text = value(c, known.name);
            if (text.empty()) continue;
            const auto expected = known.read(text, s);
            if (expected) throw std::runtime_error(known.name + ": " + text + ", expected " + *expected);
        }
        s.paths = paths;
        return s;
    }

    std::string text(const combination& c) const {
        std::string out;
        for (const axis& a : axes_) {
            if (!value(c, a.name).empty()) out += (out.empty() ? "" : ", ") + a.name + " " + value(c, a.name);
        }
        return out;
    }

  private:
    std::size_t place(std::string_view name) const {
        return static_cast<std::size_t>(std::ranges::find(axes_, name, &axis::name) - axes_.begin());
    }

    bool can_run(const combination& c) const {
        cuda::kernel_wish how;
        const std::string precision = value(c, "precision");
        how.precision = precision == "double"   ? cuda::precision::double_
                        : precision == "single" ? cuda::precision::single
                                                : cuda::precision::mixed;
        how.feed = value(c, "prefetch");
        how[cuda::knobs::layout] = static_cast<int>(kernels::ring_layout::transposed);
        for (const cuda::knob_id k : cuda::all_knobs())
            if (const auto said = cuda::value_of(k.line(), value(c, k.line().name))) how[k] = said;
        if (!value(c, "space").empty()) how.space = value(c, "space");
        how.row_space = value(c, "row_space");
        try {
            cuda::check(cuda::with_presets(how), most_slots,
                        {device_.major, device_.minor, device_.shared_bytes_per_block});
            return true;
        } catch (const error&) {
            return false;
        }
    }

    cuda::device_properties device_;
    std::vector<axis> axes_;
};

using pair_of_values = std::tuple<std::size_t, int, std::size_t, int>;

std::set<pair_of_values> pairs_of(const combination& c) {
    std::set<pair_of_values> out;
    for (std::size_t a = 0; a < c.size(); ++a) {
        for (std::size_t b = a + 1; b < c.size(); ++b) {
            if (c[a] >= 0 && c[b] >= 0) out.emplace(a, c[a], b, c[b]);
        }
    }
    return out;
}

std::vector<combination> covering(const settings_space& space) {
    constexpr int draws = 20000, tries = 60;
    std::mt19937_64 random(7);
    std::set<pair_of_values> left;
    std::map<pair_of_values, combination> example;
    for (int i = 0; i < draws; ++i) {
        const combination c = space.draw(random);
        for (const auto& p : pairs_of(c)) {
            left.insert(p);
            example.emplace(p, c);
        }
    }
    std::vector<combination> out;
    while (!left.empty()) {
        combination best = example.at(*left.begin());
        std::size_t most = 0;
        for (int i = 0; i < tries; ++i) {
            const combination c = i == 0 ? best : space.draw(random);
            std::size_t covers = 0;
            for (const auto& p : pairs_of(c)) covers += left.count(p);
            if (covers > most) {
                most = covers;
                best = c;
            }
        }
        for (const auto& p : pairs_of(best)) left.erase(p);
        out.push_back(std::move(best));
    }
    return out;
}

struct difference_count {
    std::size_t prices = 0, different = 0;
    std::string first;  // text of the first difference found
};

difference_count compare_bits(const results& expected, const results& got) {
    difference_count out;
    const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    if (expected.rows.size() != got.rows.size()) return {0, 1, "another number of rows"};
    for (std::size_t i = 0; i < expected.rows.size(); ++i) {
        const price_row &a = expected.rows[i], &b = got.rows[i];
        ++out.prices;
        if (a.status == trade_status::priced && b.status == trade_status::priced &&
            bits(a.price) == bits(b.price) && bits(a.standard_error) == bits(b.standard_error))
            continue;
        if (out.different++ > 0) continue;
        char text[300];
        std::snprintf(text, sizeof text, "%s: expected %a +- %a, got %a +- %a %s%s", a.trade.c_str(), a.price,
                      a.standard_error, b.price, b.standard_error, a.message.c_str(), b.message.c_str());
        out.first = text;
    }
    return out;
}

class same_bits_on_a_gpu : public testing::Test {
  protected:
    void SetUp() override {
        std::string why_none;
        devices_ = usable_devices(why_none);
        if (!devices_.empty()) return;
        ASSERT_FALSE(must_have_gpu()) << "TILEWALK_REQUIRE_GPU is set: " << why_none;
        GTEST_SKIP() << "no GPU: " << why_none;
    }

    static results on_cpu(const book& trades, const std::string& precision) {
        run_options options;
        options.overrides.device = "cpu";
        options.overrides.precision = tests::named{precision};
        options.overrides.paths = paths;
        return engine().price(trades, options);
    }

    static results on_gpus(const engine& pricer, const book& trades, const run_settings& with) {
        run_options options;
        options.overrides = with;
        results r = pricer.price(trades, options);
        // With two GPUs one may do all the work, so expect only that some GPU took part.
        if (r.manifest.devices.empty() || !r.manifest.lost_devices.empty())
            throw std::runtime_error("the GPUs asked for were not used");
        return r;
    }

    void compare_all(const book& trades, const settings_space& space,
                     const std::vector<combination>& combinations,
                     const std::map<std::string, results>& expected) {
        const engine pricer;
        std::atomic<std::size_t> next{0};
        std::mutex lock;
        difference_count total;
        std::size_t failed = 0;
        const auto work = [&] {
            for (std::size_t i = next++; i < combinations.size(); i = next++) {
                const combination& c = combinations[i];
                difference_count found;
                try {
                    found = compare_bits(expected.at(space.value(c, "precision")),
                                         on_gpus(pricer, trades, space.settings(c)));
                } catch (const std::exception& e) {
                    found = {0, 1, e.what()};
                }
                const std::lock_guard guard(lock);
                total.prices += found.prices;
                total.different += found.different;
                if (found.different == 0) continue;
                if (++failed <= 20) ADD_FAILURE() << space.text(c) << ": " << found.first;
            }
        };
        std::vector<std::jthread> threads;
        for (int t = 1; t < 4; ++t) threads.emplace_back(work);
        work();
        threads.clear();
        std::printf("%s: %zu combinations, %zu prices and standard errors compared, %zu different\n",
                    devices_.at(0).name.c_str(), combinations.size(), total.prices, total.different);
    }

    std::vector<cuda::device_properties> devices_;
};

TEST_F(same_bits_on_a_gpu, every_two_settings_together) {
    const book trades = book::parse(few_trades, "few");
    const settings_space space(devices_);
    const auto combinations = covering(space);
    std::map<std::string, results> expected;
    for (const char* precision : {"double", "single", "mixed"})
        expected.emplace(precision, on_cpu(trades, precision));
    compare_all(trades, space, combinations, expected);
    std::set<std::string> feeds;
    for (const auto& c : combinations) feeds.insert(space.value(c, "prefetch"));
    EXPECT_GE(feeds.size(), devices_.at(0).major >= 9 ? cuda::feeds().size() : cuda::feeds().size() - 1);
}

TEST_F(same_bits_on_a_gpu, of_many_blocks) {
    const tests::many_blocks many = tests::of_many_blocks(70, "ACME", 39);
    const book trades = book::parse("market: " TILEWALK_SOURCE_DIR "/configs/markets/demo.yaml\nproducts:\n" +
                                    many.products + "trades:\n" + many.trades);
    const engine pricer;
    for (const std::string precision : {"double", "single", "mixed"}) {
        run_settings with;
        with.device = std::to_string(devices_.at(0).index);
        with.precision = tests::named{precision};
        with.paths = paths;
        const auto found = compare_bits(on_cpu(trades, precision), on_gpus(pricer, trades, with));
        EXPECT_EQ(found.prices, 2u);
        EXPECT_EQ(found.different, 0u) << precision << ": " << found.first;
    }
    run_options on_gpu, on_host;
    on_gpu.overrides.device = std::to_string(devices_.at(0).index);
    on_host.overrides.device = "cpu";
    for (run_options* o : {&on_gpu, &on_host}) o->overrides.paths = paths;
    const results got = pricer.greeks(trades, *trades.market(), {}, on_gpu),
                  expected = pricer.greeks(trades, *trades.market(), {}, on_host);
    ASSERT_EQ(got.greeks.size(), expected.greeks.size());
    ASSERT_FALSE(got.greeks.empty());
    for (std::size_t i = 0; i < got.greeks.size(); ++i) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(got.greeks[i].value),
                  std::bit_cast<std::uint64_t>(expected.greeks[i].value))
            << got.greeks[i].trade << " " << got.greeks[i].key << got.greeks[i].message;
    }
}

// A run of every kind of trade. Each run is a test of its own, so that several run in parallel.
struct library_run {
    std::string precision, feed;
};

std::ostream& operator<<(std::ostream& to, const library_run& r) {
    return to << r.precision << " " << r.feed;
}

// Runs with every feed in double, and with the two most different feeds in the other precisions.
std::vector<library_run> library_runs() {
    std::vector<library_run> runs;
    for (const std::string precision : {"double", "single", "mixed"})
        for (const auto& feed : cuda::feeds())
            if (precision == "double" || feed.name == "inline" || feed.name == "smem_rolling_async")
                runs.push_back({precision, std::string(feed.name)});
    return runs;
}

class same_bits_of_the_library_on_a_gpu : public same_bits_on_a_gpu,
                                          public testing::WithParamInterface<library_run> {};

TEST_P(same_bits_of_the_library_on_a_gpu, on_a_gpu) {
    const auto& [precision, feed] = GetParam();
    if (cuda::feed_named(feed).least_compute_capability > devices_.at(0).major * 10 + devices_.at(0).minor)
        GTEST_SKIP() << "the GPU is too old for " << feed;
    const book trades = book_of_every_kind();
    const engine pricer;
    const results expected = on_cpu(trades, precision);
    std::vector<std::string> places{std::to_string(devices_[0].index)};
    if (feed == "inline" && devices_.size() > 1)
        places.push_back(places[0] + "," + std::to_string(devices_[1].index));
    for (const auto& place : places) {
        run_settings with;
        with.device = place;
        with.precision = tests::named{precision};
        with.prefetch = feed;
        with.paths = paths;
        const auto found = compare_bits(expected, on_gpus(pricer, trades, with));
        EXPECT_EQ(found.different, 0u) << "GPUs " << place << ": " << found.first;
        std::printf(
            "%s: %zu trades, %s, %s, GPUs %s: %zu prices and standard errors compared, %zu different\n",
            devices_[0].name.c_str(), trades.size(), precision.c_str(), feed.c_str(), place.c_str(),
            found.prices, found.different);
    }
}

INSTANTIATE_TEST_SUITE_P(runs, same_bits_of_the_library_on_a_gpu, testing::ValuesIn(library_runs()),
                         [](const auto& run) { return run.param.precision + "_" + run.param.feed; });

TEST_F(same_bits_on_a_gpu, every_model) {
    const book trades = book::parse(book_of_every_model(), "models");
    const engine pricer;
    std::size_t runs = 0, prices = 0, different = 0;
    for (const std::string precision : {"double", "single", "mixed"}) {
        const results expected = on_cpu(trades, precision);
        for (const char* feed : {"inline", "none", "smem_rolling_async"}) {
            run_settings with;
            with.device = std::to_string(devices_.at(0).index);
            with.precision = tests::named{precision};
            with.prefetch = feed;
            with.distance = 2;  // the feed's ring must fit models with many shocks a step
            with.paths = paths;
            const auto found = compare_bits(expected, on_gpus(pricer, trades, with));
            ++runs;
            prices += found.prices;
            different += found.different;
            EXPECT_EQ(found.different, 0u) << feed << " " << precision << ": " << found.first;
        }
    }
    std::printf(
        "%s: %zu trades of %zu models in %zu runs, %zu prices and standard errors compared, %zu different\n",
        devices_.at(0).name.c_str(), trades.size(), every_model().size(), runs, prices, different);
}

// single_fast uses the GPU's own approximations, so GPU runs are compared with one another.
TEST_F(same_bits_on_a_gpu, single_fast_whatever_the_feed_and_the_grid) {
    const book trades = book::parse(few_trades, "few");
    const engine pricer;
    std::size_t runs = 0, different = 0;
    std::vector<results> by_source;
    for (const char* source : {"philox", "philox_7"}) {
        run_settings plain;
        plain.device = std::to_string(devices_.at(0).index);
        plain.precision = precision::single_fast;
        plain.random = source;
        plain.prefetch = "inline";
        plain.paths = paths;
        const results expected = on_gpus(pricer, trades, plain);
        by_source.push_back(expected);
        for (const auto& feed : cuda::feeds()) {
            if (feed.least_compute_capability > devices_.at(0).major * 10 + devices_.at(0).minor) continue;
            for (const auto& [block, width] : {std::pair{256, 1}, {128, 2}, {64, 4}}) {
                run_settings with = plain;
                with.prefetch = std::string(feed.name);
                with.block = block;
                with.width = width;
                const auto found = compare_bits(expected, on_gpus(pricer, trades, with));
                ++runs;
                different += found.different;
                EXPECT_EQ(found.different, 0u) << source << ", " << feed.name << ", block " << block
                                               << ", width " << width << ": " << found.first;
            }
        }
    }
    // Fewer Philox rounds give other random numbers, so prices change.
    EXPECT_GT(compare_bits(by_source[0], by_source[1]).different, 0u);
    std::printf("%s: single_fast in %zu runs, %zu different\n", devices_.at(0).name.c_str(), runs, different);
}

TEST(same_bits_without_a_gpu, a_difference_is_found) {
    const book trades = book::parse(few_trades, "few");
    run_options options;
    options.overrides.device = "cpu";
    options.overrides.paths = paths;
    const results first = engine().price(trades, options), again = engine().price(trades, options);
    EXPECT_EQ(compare_bits(first, again).different, 0u);
    EXPECT_EQ(compare_bits(first, again).prices, first.rows.size());
    options.overrides.seed = 43;
    EXPECT_EQ(compare_bits(first, engine().price(trades, options)).different, first.rows.size());
}

TEST(same_bits_without_a_gpu, every_two_values_that_can_stand_together_do) {
    cuda::device_properties h100;
    h100.major = 9;
    h100.shared_bytes_per_block = 227 * 1024;
    cuda::device_properties second = h100;
    second.index = 1;
    const settings_space space({h100, second});
    const auto combinations = covering(space);
    std::set<std::pair<std::size_t, int>> seen;
    for (const auto& c : combinations) {
        for (std::size_t a = 0; a < c.size(); ++a) seen.emplace(a, c[a]);
        EXPECT_NO_THROW(check(space.settings(c))) << space.text(c);
    }
    for (std::size_t a = 0; a < space.axes().size(); ++a) {
        for (std::size_t v = 0; v < space.axes()[a].values.size(); ++v) {
            EXPECT_TRUE(seen.contains({a, static_cast<int>(v)}))
                << space.axes()[a].name << " " << space.axes()[a].values[v];
        }
    }
    // Limits the test's time: a combination compiles six kernels, about a third of a second on 16 cores.
    EXPECT_LE(combinations.size(), 150u);
    std::printf("%zu combinations\n", combinations.size());
}

TEST_F(same_bits_on_a_gpu, of_several_outputs_and_ranges_of_tiles) {
    const book trades = book::parse(R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.03}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: european, product: european, underlying: A, strike: 100, maturity: 1.0}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: autocallable, product: autocallable, basket: [A], initial_level: [100], observations: [0.5, 1.0],
     call_level: [1.0, 0.9], coupon: [0.05, 0.1], protection: 0.6}
)");
    // The parts of a tally have four tiles each.
    constexpr std::uint64_t many = 150 * std::uint64_t{kernels::paths_per_tile} - 77;
    std::vector<plan::trade_program> made;
    std::vector<cpu::lane_program> lanes;
    for (const auto& t : state_of(trades).trades) {
        made.push_back(plan::plan_trade(t, state_of(*trades.market())));
        auto& code = made.back().code;
        for (std::uint32_t s = 0; s < code.states.size(); ++s) code.outputs.push_back(s);
        if (code.outputs.size() > 2) code.crossed = {{0, 1}, {1, 2}};
        lanes.push_back(cpu::compile(code));
    }
    std::vector<run::job> jobs;
    for (const auto& p : made) jobs.push_back({&p.code, &p.data, &p.when});
    const auto device = std::make_shared<cuda::loaded_device>(cuda::open_device(devices_.at(0).index));
    cuda::kernel_store kernels(cuda::nvrtc_compiler(), {});
    std::size_t compared = 0;
    for (const auto precision : {cuda::precision::double_, cuda::precision::single, cuda::precision::mixed}) {
        std::vector<cpu::path_job> walks;
        for (std::size_t i = 0; i < made.size(); ++i)
            walks.push_back({&lanes[i], jobs[i].data, jobs[i].when, 5, many, precision});
        const auto expected = cpu::walk_all(walks, *cpu::runnable_instruction_sets().sets[0], 2, nullptr, {});
        for (const std::string feed : {"inline", "smem_rolling_async", "bulk_async"}) {
            for (const std::string reduction : {"tree", "last_block"}) {
                SCOPED_TRACE(std::string(program::name_of(precision)) + ", " + feed + ", " + reduction);
                cuda::gpu_run run;
                run.jobs = jobs;
                run.how.precision = precision;
                run.how.feed = feed;
                run.how.reduction = reduction;
                run.seed = 5;
                run.paths = many;
                run.threads = 4;
                cuda::launcher launcher({device}, kernels);
                const auto all = launcher.walk_all(run);
                run.tiles = {37, 113};
                auto pieces = launcher.walk_all(run);
                run.tiles = {0, 37};
                const auto first = launcher.walk_all(run);
                for (std::size_t i = 0; i < jobs.size(); ++i) {
                    ASSERT_FALSE(all.failures[i]) << all.failures[i]->what();
                    EXPECT_TRUE(all.tallies[i] == expected[i]) << "trade " << i;
                    pieces.tallies[i].add(first.tallies[i]);
                    EXPECT_TRUE(pieces.tallies[i] == expected[i]) << "trade " << i << " in two ranges";
                    compared += 2 * expected[i].rows() * expected[i].known().size();
                }
            }
        }
    }
    std::printf("%zu parts of outputs compared\n", compared);
}

TEST_F(same_bits_on_a_gpu, of_cross_moments) {
    const tests::regressed_call call;
    const auto device = std::make_shared<cuda::loaded_device>(cuda::open_device(devices_.at(0).index));
    cuda::kernel_store kernels(cuda::nvrtc_compiler(), {});
    for (const auto precision : {cuda::precision::double_, cuda::precision::single, cuda::precision::mixed}) {
        cpu::back_end on_cpu(*cpu::runnable_instruction_sets().sets[0], 2, precision);
        cuda::kernel_decision how;
        how.precision = precision;
        cuda::launcher on_gpu({device}, kernels, {.how = tests::wish_for(how)});
        EXPECT_TRUE(call.walked(on_gpu, 42, 100 * 1024 + 5, 0.4) ==
                    call.walked(on_cpu, 42, 100 * 1024 + 5, 0.4));
        EXPECT_GT(on_gpu.facts().launches, 0u);
    }
}

// Hand-made programs with tables (rows read at places of the path's own), in every memory space, with every
// feed and number of paths a thread. If the smallest were read like other rows, registers could hold it.
TEST_F(same_bits_on_a_gpu, of_tables_in_every_space_and_with_every_feed) {
    const std::vector<tests::surface_program> made = {{11, 2, 1}, {11, 3, 1}, {12, 3, 2}, {12, 100, 2}};
    std::vector<run::job> jobs;
    std::vector<cpu::lane_program> lanes;
    for (const auto& p : made) {
        jobs.push_back({&p.code, &p.data, &p.when});
        lanes.push_back(cpu::compile(p.code));
    }
    const cuda::device_properties& on = devices_.at(0);
    const auto device = std::make_shared<cuda::loaded_device>(cuda::open_device(on.index));
    cuda::kernel_store kernels(cuda::nvrtc_compiler(), {});
    std::size_t compared = 0;
    for (const auto precision : {cuda::precision::double_, cuda::precision::single, cuda::precision::mixed}) {
        std::vector<cpu::path_job> walks;
        for (std::size_t i = 0; i < made.size(); ++i)
            walks.push_back({&lanes[i], jobs[i].data, jobs[i].when, 5, paths, precision, {}, {}});
        const auto expected =
            tests::whole(cpu::walk_all(walks, *cpu::runnable_instruction_sets().sets[0], 1, nullptr, {}));
        const auto compare = [&](const cuda::kernel_wish& how) {
            const auto width = how[cuda::knobs::width];
            SCOPED_TRACE(std::string(program::name_of(precision)) + ", feed " +
                         std::string(cuda::feed_of(how).name) + ", width " +
                         (width ? std::to_string(*width) : "open") + ", rows in " + how.row_space);
            cuda::gpu_run run;
            run.jobs = jobs;
            run.how = how;
            run.seed = 5;
            run.paths = paths;
            run.threads = 4;
            const auto got = cuda::launcher({device}, kernels).walk_all(run);
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                ASSERT_FALSE(got.failures[i]) << got.failures[i]->what();
                EXPECT_EQ(got.tallies[i].whole().not_finite, 0u);
                for (const auto part : {&kernels::moments::mean, &kernels::moments::m2, &kernels::moments::m3,
                                        &kernels::moments::m4}) {
                    EXPECT_EQ(std::bit_cast<std::uint64_t>(got.tallies[i].whole().moments.*part),
                              std::bit_cast<std::uint64_t>(expected[i].moments.*part))
                        << "program " << i;
                }
                ++compared;
            }
        };
        cuda::kernel_decision how;
        how.precision = precision;
        for (const auto& space : cuda::spaces()) {
            if (!space.holds_rows) continue;
            for (const int width : {1, 4}) {
                how.row_space = space.name;
                how[cuda::knobs::width] = width;
                compare(tests::wish_for(how));
            }
        }
        how = {};
        how.precision = precision;
        for (const auto& feed : cuda::feeds()) {
            if (feed.least_compute_capability > 10 * on.major + on.minor) continue;
            how.feed = feed.name;
            compare(tests::wish_for(how));
        }
        cuda::kernel_wish open;
        open.precision = precision;
        compare(open);
    }
    std::printf("%zu results compared\n", compared);
}

}  // namespace
}  // namespace tilewalk::same_bits_test
