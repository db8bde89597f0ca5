// SPDX-License-Identifier: Apache-2.0
// The conditions under which prefetching pays, tested without a GPU and without ncu: reading and refusing
// ncu's output; a suite with a program in ncu's place that counts, refuses or garbles; the HTML page; and
// comparisons with a baseline, which leave ncu's counters out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/baseline.h"
#include "bench/measure/child_process.h"
#include "bench/measure/conditions.h"
#include "bench/measure/ncu.h"
#include "bench/measure/report.h"
#include "bench/measure/table.h"
#include "tests/fake_device.h"
#include "tests/made_run.h"
#include "tests/own_folder.h"
#include "tests/xml_check.h"
#include "tilewalk/error.h"

namespace tilewalk::bench::bench_conditions_test {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
}

constexpr const char* head =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value")"
    "\n";

std::string record(int id, const std::string& metric, const std::string& value) {
    return '"' + std::to_string(id) +
           R"~(","4711","tilewalk","127.0.0.1","walk","1","13","(256, 1, 1)","(1024, 1, 1)","0","9.0",)~"
           R"("Command line profiler metrics",")" +
           metric + R"(","",")" + value + "\"\n";
}

// One launch as ncu prints it: a line per metric, sorted by name.
std::string counted(int id, const std::string& bandwidth, const std::string& stalled,
                    const std::string& latency) {
    const words names = metrics_of_conditions();
    return record(id, names[0], bandwidth) + record(id, names[2], latency) + record(id, names[1], stalled);
}

const std::string connected =
    "==PROF== Connected to process 4711 (/opt/tilewalk/bin/tilewalk)\n"
    "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results "
    "may be inconsistent.\n"
    "==PROF== Profiling \"walk\" - 0: 0%....50%....100% - 2 passes\n";
const std::string disconnected = "==PROF== Disconnected from process 4711\n";

TEST(bench_conditions, counts_of_ncu_are_read_launch_by_launch) {
    const words names = metrics_of_conditions();
    const std::string text = connected + "{\"run\":{}}\n{\"rows\":0}\n" + disconnected + head +
                             counted(0, "53.42", "12.5", "16.25") +
                             record(1, "launch__registers_per_thread", "40") +
                             counted(1, "88", "1,234.5", "12,345,678");
    const auto got = read_ncu(text, names);
    EXPECT_EQ(got.launches, (std::vector<std::vector<double>>{{53.42, 12.5, 16.25}, {88, 1234.5, 12345678}}));
    EXPECT_EQ(got.output, "{\"run\":{}}\n{\"rows\":0}\n");
    EXPECT_TRUE(read_ncu(std::string(head), names).launches.empty());
    EXPECT_EQ(read_ncu("\"ID\",\"Metric Name\",\"Metric Value\"\r\n\"a \"\"0\"\"\",\"m\",\"1\"\r\n", {"m"})
                  .launches.size(),
              1u);
}

TEST(bench_conditions, what_no_ncu_prints_is_refused_with_its_line) {
    const words names = metrics_of_conditions();
    const std::string good = counted(0, "53.42", "12.5", "16.25");
    struct refused {
        std::string text;
        int line;
        const char* says;
    };
    std::vector<refused> all{
        {"", 0, "found no table"},
        {connected + disconnected, 4, "found no table"},
        {"\"ID\",\"Metric Name\"\n", 1, "no column 'Metric Value'"},
        {"\"ID\",\"Metric Value\"\n", 1, "no column 'Metric Name'"},
        {"\"ID\",Metric\n", 1, "fields in quotes"},
        {"\"ID\",\"Metric Na\n", 1, "fields in quotes"},
        {head + good + "\"0\",\"1\"\n", 5, "found 2 fields, expected 15"},
        {head + good + "\"0\" \"1\"\n", 5, "commas between"},
        {head + good + record(0, names[1], "1"), 5, "launch '0' has "},
        {head + record(0, names[1], "1"), 2, "has no dram__bytes_read"},
        {head + good.substr(0, good.find('\n') + 1) + counted(1, "1", "1", "1"), 3,
         "launch '0' has no smsp__"},
    };
    for (const char* value : {"", "n/a", "nan", "inf", "-1", "9,00", "0,5", ",358", "1,2345", "1234,567",
                              "12,34,567", "1.5,000", "5 %", "0x10", "1e999", "(!) nan"}) {
        all.push_back({head + counted(0, value, "1", "1"), 2, "expected a number from 0 on"});
    }
    for (const refused& r : all) {
        try {
            read_ncu(r.text, names);
            ADD_FAILURE() << "no error for\n" << r.text;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << r.text;
            EXPECT_EQ(e.where().line, r.line) << r.text << e.what();
            EXPECT_TRUE(has(e.message(), r.says)) << r.text << e.what();
        }
    }
}

TEST(bench_conditions, a_verdict_names_the_condition_that_is_missing) {
    const auto says = [](const char* feed, double bandwidth, double stalled) {
        return verdict_on(cuda::feed_named(feed), bandwidth, stalled);
    };
    EXPECT_EQ(says("none", 0.53, 0.9), "can pay");
    EXPECT_EQ(says("none", 0.799, 0.3), "can pay");
    EXPECT_EQ(says("none", 0.8, 0.9), "can't pay: the bandwidth is taken");
    EXPECT_EQ(says("smem_rolling_async", 0.5, 0.29), "can't pay: warps seldom wait for loads");
    EXPECT_EQ(says("inline", 0, 0), "can't pay: warps seldom wait for loads");
    EXPECT_EQ(says("bulk_async", 0.9, 0), "can't pay: the bandwidth is taken");
    EXPECT_EQ(says("bulk_async", 0.5, 0.1), "not known: it waits at barriers");
    EXPECT_EQ(says("bulk_async", 0.5, 0.4), "can pay");
}

run walked(const words& feeds) {
    run out;
    for (const auto& feed : feeds) {
        out.rows.push_back({"prefetch",
                            {{"workload", "asian"}, {"precision", "double"}, {"feed", feed}, {"warps", 8}},
                            {{"resident_warps", 8}, {"price", 5.8}},
                            nullptr,
                            {},
                            {}});
    }
    return out;
}

TEST(bench_conditions, launches_become_the_rows_that_made_them) {
    run of = walked({"none", "unroll", "l2_hint"});
    of.rows[1].skipped = "16 warps are resident";
    const auto rows = rows_of_conditions({{17, 12, 16}, {85.5, 3, 4}}, of);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].suite, conditions_suite);
    EXPECT_EQ(rows[0].axes, of.rows[0].axes);
    EXPECT_EQ(rows[0].figures.dump(),
              R"({"resident_warps":8,"share_of_bandwidth":0.17,"stalled_on_loads":12.0,)"
              R"("share_of_time_stalled":0.75,"iterations":"independent","more_prefetching":"can pay"})");
    EXPECT_EQ(rows[1].axes["feed"], "l2_hint");
    EXPECT_EQ(rows[1].figures["share_of_bandwidth"], 0.855);
    EXPECT_EQ(rows[1].figures["more_prefetching"], "can't pay: the bandwidth is taken");
    // Counts of stalls from two passes may add up to slightly more than all of the time: the share is then 1.
    EXPECT_EQ(rows_of_conditions({{10, 4.2, 4}}, walked({"none"}))[0].figures["share_of_time_stalled"], 1.0);

    const auto why = [](const std::vector<std::vector<double>>& launches, const run& from) -> std::string {
        try {
            rows_of_conditions(launches, from);
        } catch (const error& e) {
            return e.message();
        }
        return "nothing";
    };
    EXPECT_TRUE(has(why({{1, 1, 1}}, of), "more rows ran than the 1 launches"));
    EXPECT_TRUE(has(why({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, of), "2 rows ran where ncu saw 3 launches"));
    EXPECT_TRUE(has(why({{120, 1, 1}, {1, 1, 1}}, of), "120 of 100 as the share of bandwidth"));
    EXPECT_TRUE(has(why({{1, 1, 0}, {1, 1, 1}}, of), "1 of 0 as the share of time stalled"));
    EXPECT_TRUE(has(why({{1, 2, 1}, {1, 1, 1}}, of), "2 of 1 as the share of time stalled"));
    EXPECT_TRUE(has(why({{1, 1, 1}}, walked({"nonne"})), "did you mean 'none'?"));
    of.rows[0].wrong = "a launch failed";
    EXPECT_TRUE(has(why({{1, 1, 1}}, of), "a row went wrong: a launch failed"));
    run no_feed = walked({"none"});
    no_feed.rows[0].axes.erase("feed");
    EXPECT_TRUE(has(why({{1, 1, 1}}, no_feed), "without a feed"));
}

class path_of_programs {
  public:
    explicit path_of_programs(const std::string& now) : before_(std::getenv("PATH")) {
        ::setenv("PATH", now.c_str(), 1);
    }
    ~path_of_programs() { ::setenv("PATH", before_.c_str(), 1); }
    path_of_programs(const path_of_programs&) = delete;
    path_of_programs& operator=(const path_of_programs&) = delete;

  private:
    std::string before_;
};

struct walked_suite {
    run got;
    int walks = 0;  // number of launches of path kernels
};

walked_suite prefetch(const request& asked) {
    walked_suite out;
    const auto gpu = std::make_shared<cuda::fake_gpu>();
    gpu->kernel = [&](const std::string&, const std::string& name, const cuda::launch&, std::span<void*>) {
        out.walks += name == "walk";
        return [] {};
    };
    cuda::text_compiler compiler;
    cuda::kernel_store store(compiler, {});
    gpu_timer on(std::make_shared<cuda::loaded_device>(std::make_unique<cuda::fake_device>(gpu)), store,
                 open_clocks(gpu->properties.uuid), {1.0, 1, 3, 0});
    suite_named("prefetch").run(on, asked, [&](row r) { out.got.rows.push_back(std::move(r)); });
    EXPECT_EQ(gpu->report(), "");
    return out;
}

std::string lines_of(const run& what) {
    std::ostringstream out;
    write_lines(out, what);
    return out.str();
}

request few_feeds() {
    request out;
    out.subject = "asian";
    out.feeds = {"none", "smem_rolling_async", "bulk_async"};
    out.distances = {2, 8};
    out.layouts = {"transposed"};
    out.widths = {1, 4};
    out.warps = {8, 64};
    out.paths = 4096;
    return out;
}

TEST(bench_conditions, an_untimed_row_is_one_launch_and_has_no_time) {
    request asked = few_feeds();
    asked.is_timed = false;
    const auto untimed = prefetch(asked);
    int results = 0;
    for (const row& r : untimed.got.rows) {
        EXPECT_EQ(r.wrong, "") << key_of(r);
        EXPECT_FALSE(r.figures.contains("milliseconds")) << key_of(r);
        EXPECT_EQ(r.skipped.empty(), r.axes["warps"] == 64) << r.skipped;
        results += r.is_result();
    }
    EXPECT_EQ(results, 10);
    EXPECT_EQ(untimed.walks, results);
    asked.is_timed = true;
    const auto timed = prefetch(asked);
    ASSERT_EQ(timed.got.rows.size(), untimed.got.rows.size());
    EXPECT_GT(timed.walks, 2 * results);
    for (std::size_t i = 0; i < timed.got.rows.size(); ++i) {
        EXPECT_EQ(key_of(timed.got.rows[i]), key_of(untimed.got.rows[i]));
        EXPECT_EQ(timed.got.rows[i].figures.contains("milliseconds"), timed.got.rows[i].is_result());
    }
}

// A program named ncu that prints a given text, exits with a given code, and records its arguments.
class stand_in {
  public:
    stand_in(const std::string& says, int code, const std::string& complains = "")
        : path_(folder_.path().string() + ":" + std::getenv("PATH")) {
        folder_.write("says", says);
        folder_.write("complains", complains);
        const std::string in = folder_.path().string();
        const auto program = folder_.write("ncu", "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + in +
                                                      "/arguments\ncat " + in + "/says\ncat " + in +
                                                      "/complains >&2\nexit " + std::to_string(code) + "\n");
        fs::permissions(program, fs::perms::owner_all);
    }
    words arguments() const {
        std::ifstream in(folder_ / "arguments");
        words out;
        for (std::string line; std::getline(in, line);) out.push_back(line);
        return out;
    }

  private:
    tests::own_folder folder_;
    path_of_programs path_;
};

request with_command() {
    request out = few_feeds();
    out.command = {TILEWALK_CLI, "bench", "prefetch", "--device", "0"};
    return out;
}

run below_ncu() {
    request few = few_feeds();
    few.distances = {8};
    few.is_timed = false;
    return prefetch(few).got;
}

std::vector<row> conditions_among(const run& what) {
    std::vector<row> out;
    for (const row& r : what.rows) {
        if (r.suite == conditions_suite) out.push_back(r);
    }
    return out;
}

TEST(bench_conditions, a_sweep_with_a_command_has_its_counters_read) {
    const run below = below_ncu();
    std::string counts;
    std::vector<const row*> ran;
    for (const row& r : below.rows) {
        if (r.is_result()) ran.push_back(&r);
    }
    ASSERT_EQ(ran.size(), 6u);
    for (std::size_t i = 0; i < ran.size(); ++i) {
        counts += counted(static_cast<int>(i), std::to_string(10 * (i + 1)), "6", "8");
    }
    const stand_in ncu(connected + lines_of(below) + disconnected + head + counts, 0);
    const auto got = prefetch(with_command());
    const auto rows = conditions_among(got.got);
    ASSERT_EQ(rows.size(), ran.size()) << (rows.empty() ? "" : rows[0].skipped);
    std::set<std::string> keys, of_sweep;
    for (const row& r : got.got.rows) {
        if (r.suite == "prefetch") of_sweep.insert(r.axes.dump());
    }
    for (std::size_t i = 0; i < ran.size(); ++i) {
        EXPECT_TRUE(rows[i].is_result()) << rows[i].skipped << rows[i].wrong;
        EXPECT_EQ(rows[i].axes, ran[i]->axes);
        EXPECT_TRUE(of_sweep.contains(rows[i].axes.dump())) << "a way that the sweep has not";
        EXPECT_DOUBLE_EQ(rows[i].figures["share_of_bandwidth"].get<double>(),
                         0.1 * static_cast<double>(i + 1));
        EXPECT_TRUE(keys.insert(key_of(rows[i])).second);
    }

    // ncu was told to count path kernels alone, on a command line that tilewalk accepts.
    const words arguments = ncu.arguments();
    const auto command = std::ranges::find(arguments, TILEWALK_CLI);
    ASSERT_NE(command, arguments.end());
    EXPECT_EQ(words(arguments.begin(), command),
              (words{"--csv", "--log-file", "stdout", "--print-units", "base", "--clock-control", "none",
                     "--kernel-name", "walk", "--metrics",
                     "dram__bytes_read.sum.pct_of_peak_sustained_elapsed,"
                     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio,"
                     "smsp__average_warp_latency_per_inst_issued.ratio"}));
    words as_run{"env", "CUDA_VISIBLE_DEVICES="};
    as_run.insert(as_run.end(), command, arguments.end());
    const auto refused = run_child(as_run, 60, 100000);
    EXPECT_EQ(refused.why_not, "ended with exit code 75") << refused.last_error;
    EXPECT_TRUE(has(refused.last_error, "GPU")) << refused.last_error;
}

TEST(bench_conditions, few_ways_stand_for_a_sweep) {
    const auto after = [](const words& all, const char* option) -> std::string {
        const auto at = std::ranges::find(all, option);
        return at == all.end() ? "left out" : *(at + 1);
    };
    const words all = few_ways_of({}, "asian", "double");
    EXPECT_EQ(all[0], "asian");
    EXPECT_EQ(after(all, "--precision"), "double");
    EXPECT_EQ(after(all, "--distances"), "8");
    EXPECT_EQ(after(all, "--layouts"), "transposed");
    EXPECT_EQ(after(all, "--widths"), "1,4");
    EXPECT_EQ(after(all, "--occupancy"), "8,64");
    EXPECT_EQ(after(all, "--feeds"), "left out");
    EXPECT_EQ(after(all, "--paths"), "left out");
    request asked;
    asked.distances = {2, 4, 16};
    asked.layouts = {"plain", "padded"};
    asked.widths = {2};
    asked.warps = {32, 64, 16};
    asked.feeds = {"unroll", "inline"};
    asked.paths = 5000;
    const words few = few_ways_of(asked, "book.yaml", "single_fast");
    EXPECT_EQ(after(few, "--distances"), "4");
    EXPECT_EQ(after(few, "--layouts"), "plain");
    EXPECT_EQ(after(few, "--widths"), "2");
    EXPECT_EQ(after(few, "--occupancy"), "16,64");
    EXPECT_EQ(after(few, "--feeds"), "unroll,inline");
    EXPECT_EQ(after(few, "--paths"), "5000");
}

void expect_no_counters(const std::string& why) {
    const auto got = prefetch(with_command());
    const auto rows = conditions_among(got.got);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].axes.dump(), R"({"workload":"asian","precision":"double"})");
    EXPECT_EQ(rows[0].wrong, "");
    EXPECT_TRUE(has(rows[0].skipped, why)) << rows[0].skipped;
    EXPECT_FALSE(has(rows[0].skipped, "\n")) << rows[0].skipped;
    static const std::size_t without = prefetch(few_feeds()).got.rows.size();
    EXPECT_EQ(got.got.rows.size(), without + 1);
    const std::string page = report_html(got.got);
    EXPECT_EQ(tests::xml_check::fault(page), "");
    EXPECT_TRUE(has(page, "Not read off: ncu gave no counters"));
    EXPECT_TRUE(has(page, "Iterations are independent"))
        << "what the conditions are is said without ncu as well";
}

TEST(bench_conditions, without_ncu_the_run_says_so) {
    const tests::own_folder empty;
    const path_of_programs path(empty.path().string());
    expect_no_counters("can't run ncu: No such file or directory; it is part of CUDA's Nsight Compute");
}

TEST(bench_conditions, an_ncu_that_refuses_is_quoted) {
    const std::string refusal =
        "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on "
        "the "
        "target device 0. For instructions on enabling permissions and to get more information see "
        "https://developer.nvidia.com/ERR_NVGPUCTRPERM";
    for (const int code : {0, 1}) {
        const stand_in ncu("==PROF== Connected to process 4711 (/opt/tilewalk)\n==ERROR== " + refusal + "\n" +
                               disconnected + "==WARNING== No kernels were profiled.\n",
                           code, "tilewalk: 4 rows are wrong\n");
        expect_no_counters("ncu refused: " + refusal +
                           "; the last that was said is 'tilewalk: 4 rows are wrong'");
    }
}

TEST(bench_conditions, an_ncu_that_prints_something_else_is_no_truth) {
    const run below = below_ncu();
    const std::string one = counted(0, "10", "6", "8");
    {
        const stand_in ncu("", 0);
        expect_no_counters("the output of ncu: found no table");
    }
    {
        const stand_in ncu(lines_of(below) + "==WARNING== No kernels were profiled.\n", 0);
        expect_no_counters("ncu warned: No kernels were profiled");
    }
    {
        const stand_in ncu(lines_of(below) + head, 0);
        expect_no_counters("ncu saw no launch of walk");
    }
    {
        const stand_in ncu(lines_of(below) + head + one, 0);
        expect_no_counters("more rows ran than the 1 launches that ncu saw");
    }
    {
        const stand_in ncu(std::string(head) + one, 0);
        expect_no_counters("what ran under ncu");
    }
    {
        const stand_in ncu(lines_of(below) + head + counted(0, "n/a", "6", "8"), 0);
        expect_no_counters("found 'n/a' as dram__bytes_read");
    }
    {
        const stand_in ncu("\x1b[2J\xff\xfe garbage", 0);
        expect_no_counters("found no table");
    }
    {
        const stand_in ncu(lines_of(below) + head + one, 9, "Segmentation fault\n");
        expect_no_counters("ncu ended with exit code 9; the last that was said is 'Segmentation fault'");
    }
}

TEST(bench_conditions, nothing_is_asked_of_ncu_without_a_command) {
    const stand_in ncu("", 0);
    EXPECT_TRUE(conditions_among(prefetch(few_feeds()).got).empty());
    EXPECT_TRUE(ncu.arguments().empty());
}

run with_conditions(run of) {
    std::vector<std::vector<double>> launches;
    run below;
    for (const row& r : of.rows) {
        if (!r.is_result() || below.rows.size() == 12) continue;
        below.rows.push_back(r);
        launches.push_back({7.0 * static_cast<double>(launches.size() + 1), 12, 16});
    }
    for (row& r : rows_of_conditions(launches, below)) of.rows.push_back(std::move(r));
    return of;
}

TEST(bench_conditions, the_page_shows_the_counters_and_explains_them) {
    const run of = with_conditions(tests::made_run());
    const std::string page = report_html(of);
    EXPECT_EQ(tests::xml_check::fault(page), "");
    for (const char* said :
         {"prefetch: where it can pay", "The bandwidth is not saturated", "80 % or more", "long scoreboard",
          "30 % or more", "Iterations are independent", "iterations independent", "share of bandwidth",
          "77.0 %", "stalled on loads", "share of time stalled", "75.0 %", "more prefetching",
          ">can pay</td>", ">can&#39;t pay: the bandwidth is taken</td>"}) {
        EXPECT_TRUE(has(page, said)) << said;
    }
    EXPECT_FALSE(has(page, "Not read off"));
    EXPECT_FALSE(has(report_html(tests::made_run()), "where it can pay"));
    EXPECT_EQ(figure_names(of), figure_names(tests::made_run()));
    EXPECT_TRUE(has(table(of, 200), "can't pay: the bandwidth is taken"));
    std::istringstream again(lines_of(of));
    EXPECT_EQ(report_html(read_lines(again, "run.jsonl")), page);
}

TEST(bench_conditions, a_baseline_hears_nothing_of_them) {
    const run without = tests::made_run(), with = with_conditions(without);
    run other = with;
    for (row& r : other.rows) {
        if (r.suite == conditions_suite) r.figures["share_of_bandwidth"] = 0.001;
    }
    const std::size_t rows = compare(without, without).rows.size();
    for (const auto& [now, before] : {std::pair{&with, &without}, {&without, &with}, {&other, &with}}) {
        const comparison c = compare(*now, *before);
        EXPECT_FALSE(c.is_bad());
        EXPECT_EQ(c.rows.size(), rows);
        EXPECT_EQ(c.count(finding::same), compare(without, without).count(finding::same));
    }
}

}  // namespace
}  // namespace tilewalk::bench::bench_conditions_test
