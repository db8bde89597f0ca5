// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (hundreds of millions of path-steps)
// The suite `models` without a GPU: every model has a row of 252 steps, one core is measured, a GPU that
// computes the CPU's results passes, and wrong prices and bits are caught.
#include "bench/suites/models.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/walk.h"
#include "engine/base/inside.h"
#include "engine/base/machine.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "kernels/arguments.h"
#include "kernels/tile.h"
#include "tests/fake_device.h"
#include "tilewalk/benchmark.h"

namespace tilewalk::bench::bench_models_test {
namespace {

using models::example;
using program::precision;

constexpr models::sizes few{4 * kernels::paths_per_tile, 2 * kernels::paths_per_tile,
                            kernels::paths_per_tile};
constexpr stop_rule short_rule{1, 1, 1, 0};

std::vector<example> named(const std::set<std::string_view>& names) {
    std::vector<example> out;
    for (const example& e : models::examples()) {
        if (names.contains(e.name)) out.push_back(e);
    }
    EXPECT_EQ(out.size(), names.size());
    return out;
}

planned_walk plan_of(const example& of, precision in) {
    cuda::kernel_wish how;
    how.precision = in;
    return plan_walk(models::book_of(of), how);
}

// A fake GPU that knows kernels by their texts and walks as the CPU does, except that `spoil` alters tiles.
class playing_gpu {
  public:
    using spoiler = std::function<void(precision, std::uint64_t tile, kernels::tile_result&)>;

    explicit playing_gpu(const std::vector<example>& of, spoiler spoil = {}) : spoil_(std::move(spoil)) {
        for (const example& e : of) {
            for (const precision p : {precision::single_fast, precision::single, precision::double_}) {
                auto walked = plan_of(e, p);
                const std::string text = cuda::path_kernel_text(walked.trade.code, walked.how);
                kernels_.emplace(text, kernel{cpu::compile(walked.trade.code), std::move(walked.trade), p});
            }
        }
        gpu_->kernel = [this](const std::string& cubin, const std::string&, const cuda::launch&,
                              std::span<void*> arguments) -> cuda::fake_gpu::work {
            const auto at = kernels_.find(cubin);
            if (at == kernels_.end()) return [] {};
            const auto a = *static_cast<const kernels::path_arguments*>(arguments[0]);
            return [this, a, &of_text = at->second] { walk(a, of_text); };
        };
    }

    std::vector<row> rows(const std::vector<example>& of) {
        cuda::text_compiler compiler;
        cuda::kernel_store store(compiler, {});
        gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu_)), store,
                     open_clocks(""), short_rule);
        std::vector<row> out;
        models::measure({short_rule, on.says, nullptr}, &on, "", of, few,
                        [&](row r) { out.push_back(std::move(r)); });
        EXPECT_EQ(gpu_->report(), "");
        return out;
    }

  private:
    struct kernel {
        cpu::lane_program lanes;
        plan::trade_program trade;
        precision in;
    };

    void walk(const kernels::path_arguments& a, const kernel& k) const {
        const precision in = k.in == precision::single_fast ? precision::single : k.in;
        const cpu::path_job job{&k.lanes, &k.trade.data, &k.trade.when, a.seed, a.paths, in};
        cpu::lane_machine machine(*cpu::runnable_instruction_sets().sets[0]);
        for (kernels::word32 tile = 0; tile < a.tiles; ++tile) {
            machine.walk(job, tile, {&a.results[tile], 1});
            if (spoil_) spoil_(k.in, tile, a.results[tile]);
        }
    }

    std::shared_ptr<cuda::fake_gpu> gpu_ = std::make_shared<cuda::fake_gpu>();
    std::map<std::string, kernel> kernels_;
    spoiler spoil_;
};

bool is_on_gpu(const row& r) {
    return r.axes.at("device") == "gpu";
}

TEST(bench_models, have_a_row_for_every_model_of_the_catalogue) {
    std::set<std::string_view> measured, names;
    for (const example& e : models::examples()) {
        measured.insert(e.model);
        EXPECT_TRUE(names.insert(e.name).second) << e.name;
    }
    std::set<std::string_view> known;
    for (const auto& model : tilewalk::models::catalogue()) {
        known.insert(model.name);
        EXPECT_TRUE(measured.contains(model.name)) << "no example of " << model.name;
    }
    for (const auto& model : tilewalk::models::rate_catalogue()) {
        known.insert(model.name);
        EXPECT_TRUE(measured.contains(model.name)) << "no example of " << model.name;
    }
    EXPECT_EQ(measured, known);
}

TEST(bench_models, take_252_steps) {
    for (const example& e : models::examples()) {
        const auto walked = plan_of(e, precision::double_).trade;
        std::size_t parts = 1;
        for (const std::string& m : walked.models) {
            if (const auto at = m.find(" steps at a time"); at != std::string::npos)
                parts = std::stoul(m.substr(m.rfind(' ', at - 1)));
        }
        EXPECT_EQ(walked.when.steps() * parts, 252u) << e.name;
        EXPECT_EQ(parts == 1, e.stops == 252) << e.name;
        ASSERT_EQ(walked.assets.size(), static_cast<std::size_t>(e.assets)) << e.name;
        const auto named = [&](std::string_view model) {
            return std::ranges::count_if(
                walked.models, [&](const std::string& m) { return m.find(model) != std::string::npos; });
        };
        EXPECT_EQ(named(e.model), std::max(e.assets, 1)) << e.name;
        const auto of_rates =
            std::ranges::count_if(walked.models, [](const std::string& m) { return m.starts_with("USD: "); });
        EXPECT_EQ(of_rates, e.rates.empty() ? 0 : 1) << e.name;
    }
}

TEST(bench_models, are_measured_on_one_core_where_there_is_no_gpu) {
    std::set<std::string> keys;
    std::size_t results = 0;
    const std::string why = "there is none";
    models::measure({.until = short_rule}, nullptr, why, models::examples(), few, [&](row r) {
        EXPECT_TRUE(keys.insert(key_of(r)).second) << key_of(r);
        EXPECT_EQ(r.wrong, "") << key_of(r);
        EXPECT_EQ(r.skipped, is_on_gpu(r) ? why : "") << key_of(r);
        if (!r.is_result()) return;
        ++results;
        EXPECT_EQ(r.figures.at("steps"), 252) << key_of(r);
        EXPECT_GT(r.figures.at("path_steps_per_second"), 0) << key_of(r);
        EXPECT_EQ(r.figures.contains("asset_steps_per_second"), r.axes.at("model") == "basket_of_10");
    });
    EXPECT_EQ(results, 2 * models::examples().size());
    EXPECT_EQ(keys.size(), 5 * models::examples().size());
    EXPECT_NE(suite_named("models").run_on_cpu, nullptr);
}

TEST(bench_models, one_is_measured_alone) {
    benchmark_request asked;
    asked.suite = "models";
    asked.subject = "heston_without_tail";
    asked.device = "cpu";
    asked.noise = 1;
    asked.seconds = 1e-3;
    const auto got = tilewalk::measure(asked);
    EXPECT_EQ(state_of(got).rows.size(), 5u);
    for (const row& r : state_of(got).rows) EXPECT_EQ(r.axes.at("model"), asked.subject) << key_of(r);

    const auto complaint = [](const benchmark_request& r) {
        try {
            check(r);
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("none");
    };
    EXPECT_EQ(complaint(asked), "none");
    asked.subject = "hestn";
    EXPECT_NE(complaint(asked).find("found 'hestn', expected a model"), std::string::npos);
    EXPECT_NE(complaint(asked).find("did you mean 'heston'"), std::string::npos);
    asked.subject = "heston";
    asked.feeds = {"none"};
    EXPECT_NE(complaint(asked).find("no choice of feeds"), std::string::npos);
}

TEST(bench_models, of_kernels_that_do_nothing_are_wrong) {
    std::size_t wrong = 0;
    for (const row& r : playing_gpu({}).rows({models::examples().begin(), models::examples().end()})) {
        EXPECT_EQ(r.is_result(), !is_on_gpu(r)) << key_of(r);
        if (!r.wrong.empty()) ++wrong;
    }
    EXPECT_EQ(wrong, 3 * models::examples().size());
}

TEST(bench_models, pass_on_a_gpu_that_computes_what_the_processor_does) {
    const auto some = named({"heston", "local_volatility", "basket_of_10", "g2"});
    std::size_t on_gpu = 0;
    for (const row& r : playing_gpu(some).rows(some)) {
        EXPECT_TRUE(r.is_result()) << key_of(r) << ": " << r.wrong << r.skipped;
        if (!is_on_gpu(r)) continue;
        ++on_gpu;
        EXPECT_EQ(r.figures.at("paths"), few.on_gpu);
        EXPECT_EQ(r.figures.at("registers"), 32);
    }
    EXPECT_EQ(on_gpu, 12u);
}

TEST(bench_models, one_bit_of_a_tile_is_noticed) {
    const auto some = named({"heston"});
    // Flips the last bit of tile 1, the last tile that the CPU walks too.
    playing_gpu gpu(some, [](precision, std::uint64_t tile, kernels::tile_result& r) {
        if (tile != 1) return;
        std::uint64_t bits = 0;
        std::memcpy(&bits, &r.moments.m2, sizeof bits);
        bits ^= 1;
        std::memcpy(&r.moments.m2, &bits, sizeof bits);
    });
    for (const row& r : gpu.rows(some)) {
        const bool is_free = !is_on_gpu(r) || r.axes.at("precision") == "single_fast";
        EXPECT_EQ(r.wrong.empty(), is_free) << key_of(r) << ": " << r.wrong;
        if (!is_free) {
            EXPECT_NE(r.wrong.find("tile 1 has other bits"), std::string::npos) << r.wrong;
        }
    }
}

TEST(bench_models, a_fast_mean_that_leaves_double_by_an_error_is_noticed) {
    const auto some = named({"heston"});
    // A tile's standard error is twice that of the four tiles, so the mean is off by 1.5 of the latter.
    playing_gpu gpu(some, [](precision p, std::uint64_t, kernels::tile_result& r) {
        if (p == precision::single_fast) r.moments.mean += 0.75 * estimate_of(r).standard_error;
    });
    for (const row& r : gpu.rows(some)) {
        const bool is_spoilt = is_on_gpu(r) && r.axes.at("precision") == "single_fast";
        EXPECT_EQ(!r.wrong.empty(), is_spoilt) << key_of(r) << ": " << r.wrong;
        if (is_spoilt) {
            EXPECT_NE(r.wrong.find("off that of double"), std::string::npos) << r.wrong;
        }
    }
}

TEST(bench_models, a_wrong_price_is_noticed) {
    auto some = named({"merton"});
    some.front().price *= 1.3;
    const auto rows = playing_gpu(some).rows(some);
    EXPECT_EQ(rows.size(), 5u);
    for (const row& r : rows) {
        EXPECT_NE(r.wrong.find("expected 12.18"), std::string::npos) << key_of(r) << ": " << r.wrong;
        EXPECT_TRUE(r.figures.empty()) << key_of(r);
    }
}

TEST(bench_models, stop_where_somebody_says_so) {
    const std::atomic<bool> stopped = true;
    const cpu_bench here{.until = short_rule, .cancel = &stopped};
    const auto run = [&] { models::measure(here, nullptr, "", models::examples(), few, [](const row&) {}); };
    EXPECT_THROW(run(), error);
}

TEST(bench_models, need_no_gpu) {
    benchmark_request asked;
    asked.suite = "models";
    asked.subject = "kou";
    asked.device = "cpu";
    asked.noise = 1;
    asked.seconds = 1e-3;
    const auto got = tilewalk::measure(asked);
    EXPECT_EQ(state_of(got).about.at("device"), processor_name());
    EXPECT_EQ(state_of(got).rows.size(), 5U);
    EXPECT_EQ(got.wrong(), 0u);
    for (const row& r : state_of(got).rows)
        EXPECT_EQ(r.skipped, is_on_gpu(r) ? "the processor was asked for" : "") << key_of(r);
    EXPECT_FALSE(compare(got, got).is_bad);

    run elsewhere = state_of(got);
    elsewhere.about["device"] = "another processor";
    const auto baseline = with_state<benchmark_results>(std::make_shared<const run>(elsewhere));
    EXPECT_THROW(tilewalk::measure(asked, &baseline), error);
    asked.device = "no such device";
    EXPECT_THROW(tilewalk::measure(asked), error);
    asked.device = "cpu";
    asked.suite = "random";
    EXPECT_THROW(tilewalk::measure(asked), error) << "which measures nothing on a processor";
}

}  // namespace
}  // namespace tilewalk::bench::bench_models_test
