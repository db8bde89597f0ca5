// SPDX-License-Identifier: Apache-2.0
// Prepared books on fake GPUs: a call reuses the numbers that the last call left on the device, copies
// changed ones, and returns what a call without preparation would, whatever failed before.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/walk/cuda/compile/kernel_text.h"
#include "kernels/arguments.h"
#include "tests/changing_market.h"
#include "tests/fake_backend.h"
#include "tests/fake_device.h"
#include "tests/merge_as_a_gpu.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/session.h"

namespace tilewalk::ready_run_test {
namespace {

using cuda::device_failure;
using cuda::fake_gpu;
using kernels::word32;
using kernels::word64;
using call_counts = std::map<std::string, int>;

constexpr const char* book_text = R"(
trades:
  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}
  - {id: asian, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: worst, product: worst_of, basket: [BETA, GAMMA], initial_level: [50, 20], strike: 0.9, maturity: 0.5}
)";

market market_of(double acme, double beta, const std::string& dividend = "") {
    return market::parse(
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0.03}}\nassets:\n  ACME: {currency: "
        "USD, spot: " +
        std::to_string(acme) + ", volatility: 0.2" + dividend +
        "}\n  BETA: {currency: USD, spot: " + std::to_string(beta) +
        ", volatility: 0.3}\n  GAMMA: {currency: USD, spot: 20, volatility: 0.3}\ncorrelations: [[BETA, "
        "GAMMA, "
        "0.5]]\n");
}

// Fake walk: a meaningless price from a trade's terms, initial states and first rows of sections.
void walk(const cuda::launch& how, const kernels::path_arguments& a) {
    for (word32 block = 0; block < how.blocks; ++block) {
        const word32 tile = block % a.tiles;
        const kernels::trade_record& trade = a.trades[block / a.tiles];
        const double* numbers = static_cast<const double*>(a.numbers) + trade.numbers_at;
        double sum = static_cast<double>(a.seed % 1000);
        const word32* places = a.words + trade.words_at + kernels::whole_pieces(4, sizeof(word32));
        while (places[1] > places[0]) ++places;
        for (word32 i = 0; i < *places + 2; ++i) sum += numbers[i] / (i + 1.0);
        const double n = kernels::paths_in_tile(a.paths, a.first_tile + tile);
        kernels::tile_result& to = a.results[word64{trade.result} * a.tiles + tile];
        EXPECT_EQ(to.moments.count, 0) << "not cleared";
        to = {{n, sum, n, 0, n}};
    }
}

using fake_gpus = std::vector<std::shared_ptr<fake_gpu>>;

class machine {
  public:
    explicit machine(std::size_t count = 1)
        : gpus(new_gpus(count)),
          gpu(gpus.front()),
          pricer(tests::engine_on(gpus, compiler)),
          ready(pricer->open(trades)) {}
    ~machine() {
        ready.reset();
        pricer.reset();
        for (const auto& g : gpus) EXPECT_EQ(g->report(), "");
    }
    machine(const machine&) = delete;
    machine& operator=(const machine&) = delete;

    static fake_gpu::work kernel_of(const std::string& text, const std::string&, const cuda::launch& l,
                                    std::span<void*> arguments) {
        if (text == cuda::merge_kernel_text())
            return [l, a = *static_cast<kernels::merge_arguments*>(arguments[0])] { merge_as_a_gpu(l, a); };
        return [l, a = *static_cast<kernels::path_arguments*>(arguments[0])] { walk(l, a); };
    }
    static run_options options(std::uint64_t paths = 3000) {
        run_options o;
        o.overrides.paths = paths;
        o.overrides.threads = 1;
        o.overrides.device = "auto";
        return o;
    }
    call_counts calls_of(const market& in, const run_options& with, results* told = nullptr) {
        const call_counts before = gpu->calls;
        results got = ready->price(in, with);
        call_counts calls;
        for (const auto& [name, count] : gpu->calls) {
            const auto known = before.find(name);
            const int more = count - (known == before.end() ? 0 : known->second);
            if (more > 0) calls[name] = more;
        }
        if (told != nullptr) *told = std::move(got);
        return calls;
    }
    void expect_as_plain(const market& in, const run_options& with, const std::string& what) {
        const engine plain = tests::engine_on(new_gpus(1), compiler);
        tests::expect_same_rows(ready->price(in, with), plain.price(trades, in, with), what);
    }

    cuda::text_compiler compiler;
    const book trades = book::parse(book_text);
    const fake_gpus gpus;
    const std::shared_ptr<fake_gpu> gpu;  // the first of gpus
    std::optional<engine> pricer;
    std::optional<session> ready;

  private:
    static fake_gpus new_gpus(std::size_t count) {
        fake_gpus made;
        for (std::size_t i = 0; i < count; ++i) {
            made.push_back(std::make_shared<fake_gpu>());
            made.back()->properties.index = static_cast<int>(i);
            made.back()->kernel = kernel_of;
        }
        return made;
    }
};

const call_counts of_a_call_again{
    {"fill", 1},     {"record", 13}, {"wait_for", 6},     {"run", 4},
    {"download", 1}, {"wait", 1},    {"has_happened", 5}, {"milliseconds_between", 9}};

TEST(ready_run, makes_and_brings_nothing_that_is_there) {
    machine m;
    const market in = market_of(100, 50);
    const call_counts first = m.calls_of(in, machine::options());
    for (const char* call : {"open_stream", "open_event", "allocate", "upload", "load", "find", "free_bytes"})
        EXPECT_TRUE(first.contains(call)) << call;
    for (int k = 0; k < 3; ++k) {
        results got;
        EXPECT_EQ(m.calls_of(in, machine::options(), &got), of_a_call_again);
        EXPECT_EQ(got.manifest.kernels_compiled, 0U);
        EXPECT_EQ(got.manifest.kernels_from_cache, 4U);
        EXPECT_EQ(got.manifest.launches, 3U);
        EXPECT_EQ(got.manifest.devices, std::vector<std::string>{m.gpu->properties.name});
    }
    m.expect_as_plain(in, machine::options(), "again");
}

TEST(ready_run, brings_only_the_numbers_that_have_changed) {
    machine m;
    m.ready->price(market_of(100, 50), machine::options());
    const std::size_t all = m.gpu->uploaded_bytes;
    const auto brought = [&](const market& in, int uploads) {
        const std::size_t before = m.gpu->uploaded_bytes;
        call_counts calls = m.calls_of(in, machine::options());
        EXPECT_LE(calls["upload"], uploads);
        calls.erase("upload");
        EXPECT_EQ(calls, of_a_call_again);
        const std::size_t bytes = m.gpu->uploaded_bytes - before;
        m.expect_as_plain(in, machine::options(), "a spot has moved");
        return bytes;
    };
    const std::size_t of_beta = brought(market_of(100, 51), 1);
    EXPECT_GT(of_beta, 0U);
    EXPECT_LT(of_beta, all / 2);
    const std::size_t of_acme = brought(market_of(101, 51), 1);
    EXPECT_GT(of_acme, of_beta) << "two trades, one of many dates";
    EXPECT_LT(of_acme + of_beta, all);
    EXPECT_EQ(brought(market_of(101, 51), 0), 0U);
    // Changed numbers that are neighbours are copied together, with small gaps between them.
    const std::size_t of_both = brought(market_of(100, 50), 2);
    EXPECT_GT(of_both, of_acme);
    EXPECT_LE(of_both, of_acme + of_beta);
}

TEST(ready_run, the_rows_tell_old_numbers_from_new) {
    machine m;
    const results a = m.ready->price(market_of(100, 50), machine::options()),
                  b = m.ready->price(market_of(101, 50), machine::options());
    EXPECT_NE(a.rows[0].price, b.rows[0].price);
    EXPECT_NE(a.rows[1].price, b.rows[1].price);
    EXPECT_EQ(a.rows[2].price, b.rows[2].price);
}

TEST(ready_run, any_change_gives_the_rows_of_a_plain_call) {
    machine m;
    const std::vector<market> in{market_of(100, 50), market_of(90, 50), market_of(100, 55),
                                 market_of(100, 50, ", dividends: [{date: 0.5, amount: 1}]")};
    std::mt19937 dice(3);
    for (int k = 0; k < 60; ++k) {
        run_options with = machine::options(dice() % 3 == 0 ? 5000 : 3000);
        with.overrides.seed = 1 + dice() % 3;
        m.expect_as_plain(in[dice() % in.size()], with, "round " + std::to_string(k));
        EXPECT_LE(m.ready->facts().gpu_runs, 8U);
    }
}

TEST(ready_run, nothing_grows) {
    machine m;
    const std::vector<market> in{market_of(100, 50), market_of(101, 50)};
    for (const market& one : in) m.ready->price(one, machine::options());
    const std::size_t most = m.gpu->most_bytes;
    const call_counts before = m.gpu->calls;
    for (std::size_t k = 0; k < 1000; ++k) m.ready->price(in[k % 2], machine::options());
    EXPECT_EQ(m.gpu->most_bytes, most);
    for (const char* call : {"open_stream", "open_event", "allocate", "allocate_pinned", "load", "find"})
        EXPECT_EQ(m.gpu->calls[call], before.at(call)) << call;
    EXPECT_EQ(m.ready->facts().gpu_runs, 1U);
}

TEST(ready_run, few_runs_are_left) {
    machine m;
    const market in = market_of(100, 50);
    std::size_t most = 0;
    for (std::uint64_t k = 0; k < 40; ++k) {
        m.ready->price(in, machine::options(2000 + k));
        if (k == 10) most = m.gpu->most_bytes;
        EXPECT_LE(m.ready->facts().gpu_runs, 8U);
    }
    EXPECT_EQ(m.gpu->most_bytes, most);
}

TEST(ready_run, every_call_that_fails_leaves_the_book_ready) {
    const market first = market_of(100, 50), moved = market_of(101, 51);
    call_counts again = of_a_call_again;
    again["upload"] = 1;
    int on_cpu = 0, on_gpu = 0;
    for (const auto& [call, count] : again) {
        for (int nth = 1; nth <= count; ++nth) {
            for (const auto failure : {device_failure::out_of_memory, device_failure::refused,
                                       device_failure::other, device_failure::lost}) {
                SCOPED_TRACE(call + " number " + std::to_string(nth) + " fails with " +
                             std::to_string(static_cast<int>(failure)));
                machine m;
                m.gpu->when = fake_gpu::schedule::late;
                m.ready->price(first, machine::options());
                m.gpu->failures = {{call, m.gpu->calls[call] + nth, failure}};
                const results failed = m.ready->price(moved, machine::options());
                EXPECT_EQ(failed.failed(), 0U);
                for (const price_row& row : failed.rows)
                    ++(row.message.find("priced on the CPU") == std::string::npos ? on_gpu : on_cpu);
                if (failure != device_failure::lost) {
                    m.expect_as_plain(moved, machine::options(), "after the failure");
                    m.expect_as_plain(first, machine::options(), "and back");
                }
            }
        }
    }
    EXPECT_GT(on_cpu, 0);
    EXPECT_GT(on_gpu, 0);
}

TEST(ready_run, several_gpus_have_the_numbers_of_the_call) {
    machine m(3);
    for (const auto& g : m.gpus) g->when = fake_gpu::schedule::by_dice;
    const std::vector<market> in{market_of(100, 50), market_of(101, 50), market_of(100, 52)};
    m.expect_as_plain(in[0], machine::options(9000), "first");
    const int allocated = m.gpus[1]->calls["allocate"];
    for (std::size_t k = 0; k < 60; ++k)
        m.expect_as_plain(in[k / 2 % in.size()], machine::options(9000), "call " + std::to_string(k));
    EXPECT_LE(m.gpus[1]->calls["allocate"], allocated + 8) << "the memory of results, at the first pieces";
    m.gpus[2]->failures = {{"record", m.gpus[2]->calls["record"] + 1, device_failure::lost}};
    for (std::size_t k = 0; k < 6; ++k)
        m.expect_as_plain(in[k % in.size()], machine::options(9000), "without one of them");
}

// A run of one piece uses one device, unless its progress is observed.
TEST(ready_run, no_gpu_keeps_the_numbers_of_a_call_that_it_had_no_part_in) {
    machine m(2);
    for (const auto& g : m.gpus) g->when = fake_gpu::schedule::late;  // delays all work
    const std::vector<market> in{market_of(100, 50), market_of(101, 50), market_of(100, 52)};
    std::mt19937 dice(5);
    run_options heard = machine::options(500), quiet = heard;
    heard.on_progress = [](const progress&) {};
    for (int k = 0; k < 60; ++k) {
        if (dice() % 4 == 0) m.gpu->failures = {{"run", m.gpu->calls["run"] + 1, device_failure::other}};
        m.expect_as_plain(in[dice() % in.size()], dice() % 2 == 0 ? heard : quiet,
                          "call " + std::to_string(k));
    }
    // Thread timing decides which GPU takes which call, so expect only that both took part.
    EXPECT_GT(m.gpus[1]->calls["run"], 0);
    EXPECT_GT(m.gpu->calls["run"], 0);
}

TEST(ready_run, trades_that_gpus_never_walk_go_to_the_cpu_each_time) {
    machine m;
    std::string refused;
    m.compiler.refuses = [&](const std::string& text) {
        if (refused.empty() && text != cuda::merge_kernel_text()) refused = text;
        return text == refused;
    };
    for (const double spot : {100, 101, 100}) {
        const results got = m.ready->price(market_of(spot, 50), machine::options());
        EXPECT_EQ(got.failed(), 0U);
        // Any trade's kernel may be the first that is compiled.
        EXPECT_EQ(
            std::ranges::count(got.rows, "priced on the CPU, because the GPU failed: refused as planned",
                               &price_row::message),
            1);
        m.expect_as_plain(market_of(spot, 50), machine::options(), "refused");
    }
    EXPECT_EQ(m.ready->facts().gpu_runs, 0U) << "whatever fails is tried again from the beginning";
}

TEST(ready_run, a_call_that_is_stopped_leaves_the_book_ready) {
    machine m;
    const market in = market_of(100, 50);
    std::atomic<bool> stop{false};
    run_options with = machine::options();
    with.cancel = &stop;
    for (int k = 0; k < 3; ++k) {
        m.ready->price(in, machine::options());
        stop = false;
        m.gpu->kernel = [&](const auto& text, const auto& name, const auto& l, std::span<void*> arguments) {
            stop = true;
            return machine::kernel_of(text, name, l, arguments);
        };
        EXPECT_THROW(m.ready->price(market_of(101, 50), with), error);
        m.gpu->kernel = machine::kernel_of;
        m.expect_as_plain(in, machine::options(), "after a stop");
    }
}

TEST(ready_run, progress_is_told_as_ever) {
    machine m;
    const market in = market_of(100, 50);
    for (int k = 0; k < 3; ++k) {
        std::uint64_t done = 0, all = 0;
        run_options with = machine::options();
        with.on_progress = [&](const progress& p) {
            EXPECT_GE(p.path_steps_done, done);
            done = p.path_steps_done;
            all = p.path_steps;
        };
        m.ready->price(in, with);
        EXPECT_GT(all, 0U);
        EXPECT_EQ(done, all);
    }
}

TEST(ready_run, each_of_eight_threads_has_its_own) {
    machine m;
    m.gpu->when = fake_gpu::schedule::by_dice;
    const std::vector<market> in{market_of(100, 50), market_of(101, 50), market_of(100, 52)};
    std::vector<results> wanted;
    for (const market& one : in) wanted.push_back(m.pricer->price(m.trades, one, machine::options()));
    std::atomic<int> wrong{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < 8; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t k = 0; k < 60; ++k) {
                    const std::size_t which = (k / 2 + t) % in.size();
                    const results got = m.ready->price(in[which], machine::options());
                    for (std::size_t i = 0; i < got.rows.size(); ++i)
                        wrong += got.rows[i].price != wanted[which].rows[i].price;
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GE(m.ready->facts().gpu_runs, 1U);
    EXPECT_LE(m.ready->facts().gpu_runs, 8U);
}

}  // namespace
}  // namespace tilewalk::ready_run_test
