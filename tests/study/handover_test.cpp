// SPDX-License-Identifier: Apache-2.0
// Walks that begin on the processor and end on GPUs (fakes whose kernels have the processor's bits): wherever
// they meet, and whatever fails or stops there, results are those of the processor. A run that the processor
// ends waits neither for a GPU nor for a compiler.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/study/session/engine_state.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/device/backend.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "kernels/tile.h"
#include "tests/changing_market.h"
#include "tests/fake_device.h"
#include "tests/own_folder.h"
#include "tests/paths_as_a_gpu.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"

namespace tilewalk::handover_test {
namespace {

using cuda::device_failure;
using cuda::fake_gpu;

constexpr const char* book_text = R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.03}}
  assets:
    A: {currency: USD, spot: 100, volatility: 0.2}
    B: {currency: USD, spot: 50, volatility: 0.3, dividend_yield: 0.02}
  correlations: [[A, B, 0.5]]
trades:
  - {id: call, product: european, underlying: A, option: call, strike: 105, maturity: 1.0}
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: [0.3, 0.6, 1.0]}
  - {id: put, product: european, underlying: B, option: put, strike: 55, maturity: 2.0}
  - {id: worst, product: worst_of, basket: [A, B], initial_level: [100, 50], strike: 0.9, maturity: 0.5}
)";
constexpr std::uint64_t tiles_of_few = 5, trades = 4;
constexpr std::uint64_t few_paths = tiles_of_few * kernels::paths_per_tile - 100;  // the last tile is shorter

run_settings settings(const std::string& device, std::uint64_t paths = few_paths) {
    run_settings s;
    s.paths = paths;
    s.seed = 7;
    s.threads = 2;
    s.device = device;
    s.random = "philox";
    s.controls = technique::none;
    return s;
}

run_options with_settings(const std::string& device, std::uint64_t paths = few_paths) {
    run_options with;
    with.overrides = settings(device, paths);
    return with;
}

// The kernels of the book, by text, as the engine makes them.
struct known_kernel {
    const program::path_program* code;
    program::precision precision;
};
class kernels_of_book {
  public:
    kernels_of_book() {
        const studies::settled run =
            studies::settle(studies::inner_options{with_settings("cpu"), {}, {}}, state_of(book_), {&in_, 1});
        for (const auto& t : state_of(book_).trades)
            plans_.push_back(
                std::make_shared<const studies::ready_trade>(plan::plan_trade(t, state_of(in_)), shapes_));
        std::vector<studies::walked_job> all;
        for (const auto& p : plans_) all.push_back({p});
        trades_.emplace(std::move(all));
        for (const cuda::needed_kernel& k : cuda::kernels_of(trades_->jobs(), run.how, run.correlation))
            if (k.is_walk) by_text_[k.text] = {trades_->jobs()[k.jobs.front()].code, k.how.precision};
    }
    std::optional<known_kernel> find(const std::string& text) const {
        const auto at = by_text_.find(text);
        if (at == by_text_.end()) return std::nullopt;
        return at->second;
    }
    std::vector<std::string> texts() const {
        std::vector<std::string> out;
        for (const auto& [text, k] : by_text_) out.push_back(text);
        return out;
    }

  private:
    book book_ = book::parse(book_text);
    market in_ = *book_.market();
    studies::shape_store shapes_;
    std::vector<std::shared_ptr<const studies::ready_trade>> plans_;
    std::optional<studies::gpu_trades> trades_;
    std::map<std::string, known_kernel> by_text_;
};
const kernels_of_book& the_kernels() {
    static const kernels_of_book one;
    return one;
}

class machine {
  public:
    explicit machine(std::optional<std::uint64_t> tiles_first, std::size_t count = 1) {
        for (std::size_t i = 0; i < count; ++i) {
            auto& gpu = *gpus_.emplace_back(std::make_shared<fake_gpu>());
            gpu.properties.index = static_cast<int>(i);
            gpu.properties.name = "fake " + std::to_string(i);
            gpu.kernel = [this](const std::string& text, const std::string& name, const cuda::launch& l,
                                std::span<void*> arguments) { return work_of(text, name, l, arguments); };
        }
        cuda::gpu_machine on;
        on.survey = [this] {
            cuda::device_survey found;
            for (const auto& g : gpus_) found.devices.push_back({g->properties, ""});
            return found;
        };
        on.open = [this](int i) -> std::unique_ptr<cuda::device> {
            if (before_opening) before_opening();
            return std::make_unique<cuda::fake_device>(gpus_[static_cast<std::size_t>(i)]);
        };
        on.why_no_compiler = [] { return std::string(); };
        on.compiler = [this]() -> cuda::compiler& { return compiler_; };
        on.kernel_folder.clear();
        on.tiles_before_gpus = tiles_first;
        back_end = std::make_shared<cuda::backend>(on);
    }
    ~machine() {
        back_end.reset();
        for (const auto& g : gpus_) EXPECT_EQ(g->report(), "");
    }
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    fake_gpu& gpu(std::size_t i = 0) { return *gpus_[i]; }
    results price(const run_options& with) const {
        return studies::engine_on(back_end).price(book::parse(book_text), with);
    }
    results price(const std::string& device = "auto", std::uint64_t paths = few_paths) const {
        return price(with_settings(device, paths));
    }

    std::shared_ptr<cuda::backend> back_end;
    std::function<void()> before_opening, before_walk;
    std::function<void(const std::string& text)> before_compiling;

  private:
    // Compiles nothing; see text_compiler.
    class slow_compiler final : public cuda::compiler {
      public:
        explicit slow_compiler(machine& of) : of_(of) {}
        cuda::compiled compile(const cuda::compile_request& what, bool) override {
            if (of_.before_compiling) of_.before_compiling(what.text);
            return {what.text, "", ""};
        }
        std::string fingerprint() const override { return "text"; }

      private:
        machine& of_;
    };
    fake_gpu::work work_of(const std::string& text, const std::string& name, const cuda::launch& l,
                           std::span<void*> arguments) const {
        if (name == "merge_tiles")
            return [l, a = *static_cast<kernels::merge_arguments*>(arguments[0])] { tests::run_merge(l, a); };
        const std::optional<known_kernel> known = the_kernels().find(text);
        if (!known) {
            ADD_FAILURE() << "a kernel of no trade:\n" << text;
            return [] {};
        }
        if (before_walk) before_walk();
        return [l, known, a = *static_cast<kernels::path_arguments*>(arguments[0])] {
            tests::run_walk(*known->code, known->precision, l, a);
        };
    }

    std::vector<std::shared_ptr<fake_gpu>> gpus_;
    slow_compiler compiler_{*this};
};

const results& on_cpu(std::uint64_t paths = few_paths) {
    static std::map<std::uint64_t, results> known;
    const auto at = known.find(paths);
    return at != known.end() ? at->second
                             : known.emplace(paths, machine(0).price("cpu", paths)).first->second;
}

// Path-steps of the processor if it walks the first `tiles` tiles, trade after trade.
std::uint64_t steps_of_first(std::uint64_t tiles) {
    constexpr std::array<std::uint64_t, trades> steps{1, 3, 1, 1};
    std::uint64_t out = 0;
    for (const std::uint64_t of_path : steps) {
        const std::uint64_t here = std::min(tiles, tiles_of_few);
        out += std::min(here * kernels::paths_per_tile, few_paths) * of_path;
        tiles -= here;
    }
    return out;
}

// A row's message says why no GPU walked the trade.
void expect_same_prices(const results& a, const results& b, const std::string& what) {
    ASSERT_EQ(a.rows.size(), b.rows.size()) << what;
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        EXPECT_EQ(a.rows[i].status, b.rows[i].status) << what << ": " << a.rows[i].message;
        EXPECT_EQ(a.rows[i].part_means, b.rows[i].part_means) << what;
        tests::expect_same_bits(a.rows[i].price, b.rows[i].price, what);
        tests::expect_same_bits(a.rows[i].standard_error, b.rows[i].standard_error, what);
    }
}

constexpr std::uint64_t all_tiles = tiles_of_few * trades;

TEST(handover_test, meets_at_every_tile) {
    for (const std::size_t gpus : {1U, 2U}) {
        for (std::uint64_t first = 0; first <= all_tiles + 1; ++first) {
            const machine on(first, gpus);
            const results got = on.price();
            const std::string what = std::to_string(first) + " tiles first";
            tests::expect_same_rows(got, on_cpu(), what);
            EXPECT_EQ(got.manifest.path_steps_on_gpus,
                      got.manifest.path_steps - steps_of_first(std::min(first, all_tiles)))
                << what;
            EXPECT_EQ(got.manifest.devices.empty(), first >= all_tiles) << what;
            if (first < all_tiles) {
                EXPECT_GT(got.manifest.kernels_compiled, 0U) << what;
            }
        }
    }
}

TEST(handover_test, loses_its_gpu_at_every_meeting) {
    for (const std::size_t gpus : {1U, 2U}) {
        for (std::uint64_t first = 1; first < all_tiles; ++first) {
            machine on(first, gpus);
            on.gpu().failures = {{"run", 1, device_failure::lost}};
            const results got = on.price();
            const std::string what = std::to_string(first) + " tiles first, " + std::to_string(gpus);
            expect_same_prices(got, on_cpu(), what);
            ASSERT_EQ(got.manifest.lost_devices.size(), 1U) << what;
            EXPECT_TRUE(got.manifest.lost_devices.front().starts_with("fake 0: ")) << what;
            if (gpus == 1) {
                EXPECT_EQ(got.manifest.path_steps_on_gpus, 0U) << what;
                EXPECT_EQ(got.rows.back().message,
                          "priced on the CPU, because the GPU failed: run: failed as planned");
            } else {
                EXPECT_GT(got.manifest.path_steps_on_gpus, 0U) << what;
            }
        }
    }
}

TEST(handover_test, is_cancelled_at_every_meeting) {
    for (std::uint64_t first = 1; first < all_tiles; ++first) {
        machine on(first);
        std::atomic<bool> cancel = false;
        on.before_walk = [&] { cancel = true; };
        run_options with;
        with.overrides = settings("auto");
        with.cancel = &cancel;
        try {
            on.price(with);
            ADD_FAILURE() << first << ": a cancelled run has results";
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::cancelled) << first;
        }
        on.before_walk = {};
        tests::expect_same_rows(on.price(), on_cpu(), "the next run");
    }
}

TEST(handover_test, leaves_a_kernel_that_does_not_compile_to_the_processor) {
    machine on(3);
    const std::string refused = the_kernels().texts().front();
    on.before_compiling = [&](const std::string& text) {
        if (text == refused) throw error(error_kind::compile, "refused as planned");
    };
    const results got = on.price();
    expect_same_prices(got, on_cpu(), "one kernel refused");
    EXPECT_GT(std::ranges::count(got.rows, "priced on the CPU, because the GPU failed: refused as planned",
                                 &price_row::message),
              0);
    EXPECT_LT(got.manifest.path_steps_on_gpus, got.manifest.path_steps - steps_of_first(3));
}

TEST(handover_test, walks_a_journal_s_blocks_alike) {
    const tests::own_folder folder;
    run_options with;
    with.overrides = settings("auto");
    with.journal = (folder / "journal").string();
    with.journal_block_seconds = 1e-9;
    machine on(7);
    tests::expect_same_rows(on.price(with), on_cpu(), "with a journal");
    const results again = on.price(with);
    tests::expect_same_rows(again, on_cpu(), "from the journal");
    EXPECT_EQ(again.manifest.path_steps_on_gpus, 0U);
    EXPECT_GT(again.manifest.journal_blocks, 0U);
}

TEST(handover_test, shares_nothing_that_the_processor_lacks) {
    machine on(7);
    on.before_compiling = [](const std::string&) { throw error(error_kind::compile, "refused as planned"); };
    run_options with = with_settings("auto");
    with.overrides.precision = precision::single_fast;
    const results got = on.price(with);
    for (const price_row& row : got.rows) EXPECT_EQ(row.status, trade_status::failed) << row.trade;
}

// A door that stays shut until it is opened.
class door {
  public:
    void wait() { opened_.wait(); }
    void open() { open_.set_value(); }

  private:
    std::promise<void> open_;
    std::shared_future<void> opened_ = open_.get_future().share();
};

TEST(handover_test, does_not_wait_for_a_gpu_to_open) {
    door opens;
    std::promise<void> begun;
    machine on({});
    on.before_opening = [&] {
        begun.set_value();
        opens.wait();
    };
    on.back_end->add_seconds_on_processor(10);
    const results got = on.price();
    tests::expect_same_rows(got, on_cpu(), "while the GPU opens");
    EXPECT_EQ(got.manifest.path_steps_on_gpus, 0U);
    begun.get_future().wait();
    opens.open();
}

TEST(handover_test, opens_no_gpu_for_little_work) {
    machine on({});
    on.before_opening = [] { ADD_FAILURE() << "a GPU was opened"; };
    const results got = on.price();
    tests::expect_same_rows(got, on_cpu(), "without a GPU");
    EXPECT_TRUE(got.manifest.devices.empty());
}

TEST(handover_test, waits_for_no_compiler_and_walks_on_gpus_once_it_is_done) {
    constexpr std::uint64_t many_paths = std::uint64_t{1} << 16;
    door compiles;
    std::promise<void> begun;
    std::atomic<int> count = 0;
    machine on({});
    on.before_compiling = [&](const std::string&) {
        if (count++ == 0) begun.set_value();
        compiles.wait();
    };
    ASSERT_FALSE(on.back_end->choose("auto").devices.empty());
    // Hours that walks took for want of the kernels, as far as the engine knows.
    for (const std::string& text : the_kernels().texts()) on.back_end->ahead().add_missed(text, 1e6);
    const results got = on.price("auto", many_paths);
    tests::expect_same_rows(got, on_cpu(many_paths), "while kernels are compiled");
    EXPECT_EQ(got.manifest.path_steps_on_gpus, 0U);
    begun.get_future().wait();
    compiles.open();
    while (on.back_end->ahead().at_work() > 0) std::this_thread::yield();
    // How far the walk comes decides which kernels are compiled now, and which later.
    const auto is_there = [&](const std::string& text) {
        return on.back_end->kernels().known({text, on.gpu().properties.architecture(), {}}) != nullptr;
    };
    while (!std::ranges::all_of(the_kernels().texts(), is_there)) std::this_thread::yield();
    while (!is_there(cuda::merge_kernel_text())) std::this_thread::yield();
    const results later = on.price("auto", many_paths);
    tests::expect_same_rows(later, on_cpu(many_paths), "by the kernels");
    EXPECT_EQ(later.manifest.path_steps_on_gpus, later.manifest.path_steps);
    EXPECT_EQ(later.manifest.kernels_compiled, 0U);
}

TEST(handover_test, is_left_to_the_processor_in_a_forked_process) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "this sanitizer allows no fork of a process with threads";
#endif
    const machine on(0);
    tests::expect_same_rows(on.price(), on_cpu(), "before the fork");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int code = 0;
        try {
            const results got = on.price();
            if (got.rows.front().price != on_cpu().rows.front().price) code = 1;
            if (got.manifest.path_steps_on_gpus != 0) code = 2;
            run_options with = with_settings("cuda");
            try {
                on.price(with);
                code = 3;
            } catch (const error& e) {
                if (e.message().find("forked") == std::string::npos) code = 4;
            }
        } catch (...) {
            code = 5;
        }
        ::_exit(code);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(handover_test, takes_little_work_to_no_compiler) {
    machine on({});
    ASSERT_FALSE(on.back_end->choose("auto").devices.empty());
    const results got = on.price();
    EXPECT_EQ(got.manifest.path_steps_on_gpus, 0U);
    EXPECT_EQ(got.manifest.kernels_compiled, 0U);
    EXPECT_EQ(on.back_end->ahead().at_work(), 0);
}

}  // namespace
}  // namespace tilewalk::handover_test
