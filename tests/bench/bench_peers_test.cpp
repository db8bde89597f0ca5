// SPDX-License-Identifier: Apache-2.0
// The suite `peers` without a GPU and without the other libraries: valid and invalid lines of output; books
// made of the workloads' numbers; programs that hang, crash or are missing.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/child_process.h"
#include "bench/measure/suites.h"
#include "bench/suites/peers.h"
#include "tests/fake_device.h"
#include "tests/own_folder.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench::bench_peers_test {
namespace {

namespace fs = std::filesystem;

const std::string good_line =
    R"({"workload": "heston", "library": "torch", "style": "eager", "version": "2.6", "device": "NVIDIA H100",)"
    R"( "precision": "float32", "paths": 1000, "steps": 250, "price": 10.5, "standard_error": 0.1, "milliseconds": 2.5})";

std::string with(const std::string& key, const std::string& value) {
    auto line = nlohmann::json::parse(good_line);
    if (value.empty()) {
        line.erase(key);
    } else {
        line[key] = nlohmann::json::parse(value);
    }
    return line.dump();
}

TEST(bench_peers_peers, lines_become_rows) {
    const auto got = peers::read_line(good_line, "torch", "peer_torch.py", 3);
    EXPECT_EQ(got.workload, "heston");
    EXPECT_EQ(got.milliseconds, 2.5);
    const row r = peers::row_of(got);
    EXPECT_TRUE(r.is_result());
    EXPECT_EQ(key_of(r),
              R"(peers {"workload":"heston","library":"torch","style":"eager","precision":"float32"})");
    EXPECT_EQ(r.figures["path_steps_per_second"], 1000 * 250 / 2.5e-3);
    EXPECT_EQ(r.figures["device"], "NVIDIA H100");

    const auto skipped = peers::read_line(
        R"({"workload": "asian", "library": "jax", "skipped": "ModuleNotFoundError: No module named 'jax'"})",
        "jax", "p", 1);
    EXPECT_EQ(peers::row_of(skipped).skipped, "ModuleNotFoundError: No module named 'jax'");
    EXPECT_EQ(key_of(peers::row_of(skipped)), R"(peers {"workload":"asian","library":"jax"})");
}

TEST(bench_peers_peers, hostile_lines_are_refused_with_their_place) {
    const std::vector<std::string> lines{
        "",
        "hello",
        "[]",
        "{",
        "{}",
        "null",
        std::string(100000, '['),
        "{\"workload\": \"" + std::string(100000, 'x') + "\"}",
        with("workload", ""),
        with("workload", "\"american\""),
        with("workload", "1"),
        with("workload", "[\"asian\"]"),
        with("library", "\"jax\""),
        with("style", "\"\""),
        with("style", "\"" + std::string(500, 'x') + "\""),
        with("version", ""),
        with("device", "{}"),
        with("precision", "\"float16\""),
        with("price", "\"10\""),
        with("price", "null"),
        with("price", "-1"),
        R"({"workload": "asian", "library": "torch", "price": 1e999999})",
        with("standard_error", "0"),
        with("standard_error", ""),
        with("milliseconds", "0"),
        with("milliseconds", "-2"),
        with("paths", "true"),
        with("steps", "0"),
        with("skipped", "7"),
        good_line + good_line,
    };
    for (const std::string& line : lines) {
        try {
            peers::read_line(line, "torch", "peer_torch.py", 3);
            ADD_FAILURE() << "no error for " << line.substr(0, 300);
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << line.substr(0, 300);
            EXPECT_EQ(e.where(), (location{"peer_torch.py", 3, 0})) << line.substr(0, 300);
            EXPECT_LT(e.message().size(), 1000u);
        }
    }
    const auto got = peers::read_line(with("device", "\"a\\u001b[2Jb\""), "torch", "p", 1);
    EXPECT_EQ(got.device, "a [2Jb");
}

TEST(bench_peers_peers, gradients_are_read_and_compared) {
    const auto of = [](const std::string& key, const std::string& value) {
        auto line = nlohmann::json::parse(good_line);
        line["workload"] = "asian_greeks";
        line["gradient"] = {{"spot", 0.59}, {"volatilities", 21.7}, {"rates", 24.6}};
        line["gradient_errors"] = {{"spot", 0.001}, {"volatilities", 0.05}, {"rates", 0.03}};
        line["peak_bytes"] = 1000;
        if (!key.empty()) line[key] = nlohmann::json::parse(value);
        return peers::read_line(line.dump(), "torch", "p", 1);
    };
    const auto got = of("", "");
    EXPECT_EQ(got.gradient.size(), 3u);
    const row r = peers::row_of(got);
    EXPECT_EQ(r.figures["d_volatilities"], 21.7);
    EXPECT_EQ(r.figures["d_rates_error"], 0.03);
    EXPECT_EQ(r.figures["peak_bytes"], 1000);
    for (const char* bad :
         {"7", "{}", R"({"spot": 1, "volatilities": 1})", R"({"spot": "1", "volatilities": 1, "rates": 1})",
          R"({"spot": null, "volatilities": 1, "rates": 1})"}) {
        EXPECT_THROW(of("gradient", bad), error) << bad;
        EXPECT_THROW(of("gradient_errors", bad), error) << bad;
    }
    EXPECT_THROW(of("gradient_errors", R"({"spot": 0, "volatilities": 1, "rates": 1})"), error);
    EXPECT_THROW(of("peak_bytes", "-1"), error);

    const std::map<std::string, estimate> truth{{"spot", {0.59, 0.001}}, {"rates", {24.5, 0.01}}};
    EXPECT_EQ(peers::why_not_the_gradient(got.gradient, truth, "ours"), "");
    const auto off = peers::why_not_the_gradient(got.gradient, {{"spot", {0.6, 0.001}}}, "ours");
    EXPECT_NE(off.find("the derivative to spot is 0.59"), std::string::npos) << off;
    EXPECT_NE(peers::why_not_the_gradient({}, truth, "ours"), "");
}

TEST(bench_peers_peers, books_have_the_gradients_of_the_workloads) {
    const json numbers = peers::read_workloads(TILEWALK_SOURCE_DIR "/bench/peers");
    run_options options;
    options.overrides.paths = 1 << 14;
    options.overrides.device = "cpu";
    const auto greek = [&](const std::string& text, const std::string& key, const std::string& measure) {
        const book b = book::parse(text);
        for (const greek_row& g : engine().greeks(b, *b.market(), {{measure}}, options).greeks)
            if (g.key == key) return estimate{g.value, g.standard_error};
        return estimate{std::nan(""), 0};
    };
    const std::string asian = peers::asian_greeks_book(numbers["asian_greeks"]),
                      heston = peers::heston_book(numbers["heston_greeks"]);
    EXPECT_TRUE(peers::agree(greek(asian, "A.spot", "delta"), {0.5891, 0.0004}));
    EXPECT_TRUE(peers::agree(greek(asian, "", "vega"), {0.2174, 0.0003}));
    EXPECT_TRUE(peers::agree(greek(asian, "", "rho"), {0.002458, 0.000002}));
    EXPECT_TRUE(peers::agree(greek(heston, "A.spot", "delta"), {0.6993, 0.0004}));
    EXPECT_TRUE(peers::agree(greek(heston, "A.heston.v0", "parameter"), {46.94, 0.07}));
    EXPECT_TRUE(peers::agree(greek(heston, "A.heston.kappa", "parameter"), {0.0787, 0.0014}));
    EXPECT_TRUE(peers::agree(greek(heston, "A.heston.theta", "parameter"), {44.72, 0.08}));
    EXPECT_TRUE(peers::agree(greek(heston, "A.heston.sigma", "parameter"), {-1.185, 0.015}));
    EXPECT_TRUE(peers::agree(greek(heston, "A.heston.rho", "parameter"), {-0.139, 0.007}));
}

TEST(bench_peers_peers, agree_within_four_errors_of_both) {
    EXPECT_TRUE(peers::agree({10, 0.3}, {11.9, 0.4}));
    EXPECT_FALSE(peers::agree({10, 0.3}, {12.1, 0.4}));
    EXPECT_FALSE(peers::agree({std::nan(""), 0.3}, {10, 0.4}));
}

// Expected prices: the Asian's 5.78 is known; on the note's, peer_jax.py and peer_torch.py agree.
TEST(bench_peers_peers, books_price_the_workloads) {
    const std::string in = TILEWALK_SOURCE_DIR "/bench/peers";
    const json numbers = peers::read_workloads(in);
    run_options options;
    options.overrides.paths = 16384;
    options.overrides.device = "cpu";
    const auto price = [&](const std::string& text) {
        const auto rows = engine().price(book::parse(text), options).rows;
        EXPECT_EQ(rows.size(), 1u);
        EXPECT_EQ(rows[0].status, trade_status::priced) << rows[0].message;
        return estimate{rows[0].price, rows[0].standard_error};
    };
    EXPECT_TRUE(peers::agree(price(peers::asian_book(numbers["asian"])), {5.78, 0.005}));
    EXPECT_TRUE(peers::agree(price(peers::autocallable_book(numbers["autocallable"])), {97.51, 0.06}));
    EXPECT_TRUE(peers::agree(price(peers::heston_book(numbers["heston"])), {10.36, 0.01}));
    EXPECT_THROW(peers::read_workloads("/nowhere"), error);
}

TEST(bench_peers_children, are_read_to_their_end) {
    const auto got =
        run_child({"python3", "-c", "import sys; print('a'); print('b', file=sys.stderr)"}, 60, 1000);
    EXPECT_EQ(got.output, "a\n");
    EXPECT_EQ(got.last_error, "b");
    EXPECT_EQ(got.why_not, "");
    EXPECT_TRUE(got.has_started);
}

TEST(bench_peers_children, that_go_wrong_are_told) {
    EXPECT_NE(run_child({"python3", "-c", "raise SystemExit(7)"}, 60, 1000).why_not.find("exit code 7"),
              std::string::npos);
    EXPECT_NE(run_child({"python3", "-c", "import os; os.abort()"}, 60, 1000).why_not.find("signal 6"),
              std::string::npos);
    EXPECT_NE(run_child({"sleep", "100"}, 0.2, 1000).why_not.find("still at work"), std::string::npos);
    const auto loud = run_child({"python3", "-c", "while True: print('x' * 1000)"}, 60, 100000);
    EXPECT_NE(loud.why_not.find("wrote more"), std::string::npos);
    EXPECT_LT(loud.output.size(), 200000u);
    const auto missing = run_child({"no_such_program_of_anyone"}, 60, 1000);
    EXPECT_FALSE(missing.has_started);
    EXPECT_NE(missing.why_not.find("no_such_program_of_anyone"), std::string::npos);
    const std::atomic<bool> cancel = true;
    EXPECT_THROW(run_child({"sleep", "100"}, 60, 1000, &cancel), error);
}

class bench_peers_made : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(folder_);
        fs::copy_file(fs::path(TILEWALK_SOURCE_DIR) / "bench/peers/workloads.json",
                      folder_ / "workloads.json", fs::copy_options::overwrite_existing);
        ::setenv("TILEWALK_PEERS", folder_.c_str(), 1);
    }
    void TearDown() override { ::unsetenv("TILEWALK_PEERS"); }
    void write(const std::string& library, const std::string& python) const {
        std::ofstream(folder_ / ("peer_" + library + ".py")) << python;
    }
    std::map<std::string, row> run() const {
        std::map<std::string, row> out;
        const auto gpu = std::make_shared<cuda::fake_gpu>();
        cuda::text_compiler compiler;
        cuda::kernel_store store(compiler, {});
        gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)), store,
                     open_clocks(""), {0.5, 1, 1, 0});
        suite_named("peers").run(on, {}, [&](row r) {
            const std::string key = key_of(r);
            EXPECT_TRUE(out.emplace(key, std::move(r)).second) << key;
        });
        EXPECT_EQ(gpu->faults, std::vector<std::string>{});
        return out;
    }

    tests::own_folder own_;
    fs::path folder_ = own_ / "a name with spaces";
};

std::string key(const std::string& axes) {
    return "peers {" + axes + "}";
}

TEST_F(bench_peers_made, are_held_against_each_other) {
    write("torch", "print('''" + good_line + "''')\nprint('hello')\n");
    auto apart = nlohmann::json::parse(good_line);
    apart["library"] = "jax";
    const std::string same = apart.dump();
    apart["precision"] = "float64";
    apart["price"] = 11.5;
    write("jax", "print('''" + same + "''')\nprint('''" + apart.dump() + "''')\n");
    apart["library"] = "quantlib";
    apart["style"] = "monte_carlo";
    apart["device"] = "CPU, one thread";
    apart["price"] = 10.4;
    write("quantlib", "print('''" + apart.dump() + "''')\n");
    const auto rows = run();
    const auto is = [&](const std::string& axes) -> const row& {
        static const row none{};
        const auto found = rows.find(key(axes));
        EXPECT_NE(found, rows.end()) << axes;
        return found == rows.end() ? none : found->second;
    };
    EXPECT_TRUE(
        is(R"("workload":"heston","library":"torch","style":"eager","precision":"float32")").is_result());
    EXPECT_TRUE(
        is(R"("workload":"heston","library":"jax","style":"eager","precision":"float32")").is_result());
    const row& wrong = is(R"("workload":"heston","library":"jax","style":"eager","precision":"float64")");
    EXPECT_NE(wrong.wrong.find("Tilewalk's 10."), std::string::npos) << wrong.wrong;
    const row& refused = is(R"("workload":"all","library":"torch")");
    EXPECT_NE(refused.wrong.find("peer_torch.py:2: found 'hello'"), std::string::npos) << refused.wrong;
    const row& missing = is(R"("workload":"all","library":"cupy")");
    EXPECT_NE(missing.wrong.find("exit code"), std::string::npos) << missing.wrong;
    EXPECT_NE(missing.wrong.find("No such file"), std::string::npos) << missing.wrong;
    // The reference of a library on a CPU is Tilewalk on the CPU; ratios are of times per path.
    row own = is(R"("workload":"heston","library":"tilewalk","style":"one_thread","precision":"float64")");
    row slow = is(R"("workload":"heston","library":"quantlib","style":"monte_carlo","precision":"float64")");
    ASSERT_TRUE(own.is_result()) << own.wrong << own.skipped;
    ASSERT_TRUE(slow.is_result()) << slow.wrong << slow.skipped;
    EXPECT_EQ(slow.over, own.axes);
    const auto each = [](row& r) {
        return r.figures["milliseconds"].get<double>() / r.figures["paths"].get<double>();
    };
    EXPECT_DOUBLE_EQ(slow.figures["ratio"].get<double>(), each(own) / each(slow));
    const row& right =
        is(R"("workload":"bermudan_put","library":"tilewalk","style":"one_thread","precision":"float64")");
    ASSERT_TRUE(right.is_result()) << right.wrong << right.skipped;
    EXPECT_GT(right.figures.at("upper_bound"), right.figures.at("price"));
    for (const char* workload : {"asian", "heston", "autocallable"}) {
        for (const char* style : {R"(single_fast","precision":"float32)", R"(single","precision":"float32)",
                                  R"(double","precision":"float64)"}) {
            const row& mute = is(std::string(R"("workload":")") + workload +
                                 R"(","library":"tilewalk","style":")" + style + "\"");
            EXPECT_NE(mute.wrong.find("on the CPU"), std::string::npos) << mute.wrong;
        }
    }
}

TEST(bench_peers_peers, programs_skip_what_is_not_installed) {
    for (const std::string library : {"torch", "jax", "cupy", "numba", "quantlib"}) {
        const std::string program = std::string(TILEWALK_SOURCE_DIR) + "/bench/peers/peer_" + library + ".py";
        const auto got = run_child({"python3", "-B", "-S", "-E", program}, 60, 100000);
        EXPECT_EQ(got.why_not, "") << got.last_error;
        std::istringstream lines(got.output);
        std::string text;
        int count = 0;
        while (std::getline(lines, text)) {
            const auto line = peers::read_line(text, library, program, ++count);
            EXPECT_NE(line.skipped.find("No module named"), std::string::npos) << text;
        }
        EXPECT_EQ(count, library == "torch" || library == "jax" ? 6 : 4) << library;
    }
}

}  // namespace
}  // namespace tilewalk::bench::bench_peers_test
