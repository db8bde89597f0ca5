// SPDX-License-Identifier: Apache-2.0
// tilewalk bench: what is fastest on this GPU, and whether anything became slower.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include "engine/bench/baseline.h"
#include "engine/bench/clocks.h"
#include "engine/bench/gpu_bench.h"
// REPORT
#include "engine/bench/suites.h"
#include "engine/bench/table.h"
#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/input.h"
#include "engine/cli/interrupt.h"
#include "engine/cli/output.h"
#include "engine/cli/status_line.h"
#include "engine/cuda/backend.h"
#include "engine/cuda/feeds.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

struct spoken_bench {
    std::string suite;
    std::string subject;
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<std::string> distances, widths, warps;
    std::string paths, device = "0", noise, seconds;
    std::string output = "-", format, report, save, against;
};

[[noreturn]] void refuse(const std::string& option, const std::string& found, const std::string& expected) {
    throw error(error_kind::usage, fmt::format("{}: found '{}', expected {}", option, found, expected));
}

template <class number>
std::optional<number> parsed(const std::string& text) {
    number out{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

// "1..4" and "6" as numbers, each once, in order.
std::vector<int> numbers(const std::string& option, const std::vector<std::string>& texts, int least,
                         int most) {
    const std::string expected = fmt::format("a number from {} to {}, or a range such as 1..8", least, most);
    std::vector<int> out;
    for (const auto& text : texts) {
        if (text == "all") return {};
        const auto dots = text.find("..");
        const auto first = parsed<int>(text.substr(0, dots));
        const auto last = dots == std::string::npos ? first : parsed<int>(text.substr(dots + 2));
        if (!first || !last || *first < least || *last > most || *first > *last)
            refuse(option, text, expected);
        for (int i = *first; i <= *last; ++i) out.push_back(i);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::vector<std::string> words(const std::vector<std::string>& texts) {
    return std::ranges::find(texts, "all") == texts.end() ? texts : std::vector<std::string>{};
}

std::uint64_t paths_of(const std::string& text) {
    if (text.empty()) return 0;
    std::string digits = text;
    std::uint64_t unit = 1;
    if (digits.ends_with('k')) unit = 1000;
    if (digits.ends_with('M')) unit = 1'000'000;
    if (unit > 1) digits.pop_back();
    const auto count = parsed<std::uint64_t>(digits);
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    if (!count || *count == 0 || *count > most / unit)
        refuse("--paths", text, fmt::format("a whole number from 1 to {}, such as 262144 or 1M", most));
    return *count * unit;
}

double positive(const std::string& option, const std::string& text, double preset, double most) {
    if (text.empty()) return preset;
    const auto number = parsed<double>(text);
    if (!number || !(*number > 0) || !(*number <= most))
        refuse(option, text, fmt::format("a number above 0, up to {}", most));
    return *number;
}

bench::request request_of(const spoken_bench& asked) {
    bench::request out;
    out.subject = asked.subject;
    out.feeds = words(asked.feeds);
    for (const auto& name : out.feeds) static_cast<void>(cuda::feed_named(name));
    out.layouts = words(asked.layouts);
    out.precisions = asked.precisions;
    if (std::ranges::find(out.precisions, "all") != out.precisions.end())
        out.precisions = plan::precision_names();
    for (const auto& name : out.precisions) static_cast<void>(plan::precision_named(name));
    out.distances = numbers("--distances", asked.distances, 1, 32);
    out.widths = numbers("--widths", asked.widths, 1, 4);
    out.warps = numbers("--occupancy", asked.warps, 1, 64);
    out.paths = paths_of(asked.paths);
    return out;
}

bool asks_nothing(const bench::request& r) {
    return r.subject.empty() && r.feeds.empty() && r.layouts.empty() && r.precisions.empty() &&
           r.distances.empty() && r.widths.empty() && r.warps.empty() && r.paths == 0;
}

bench::run read_baseline(const std::string& file) {
    std::istringstream in(text_of_file(file, "a baseline"));
    return bench::read_lines(in, file);
}

std::string text_of(const bench::run& made, const std::string& format) {
    if (format == "csv") return bench::csv(made);
    if (format == "table") return bench::table(made);
    std::ostringstream text;
    bench::write_lines(text, made);
    return text.str();
}

std::string format_of(const spoken_bench& asked) {
    if (!asked.format.empty()) {
        if (asked.format != "table" && asked.format != "csv" && asked.format != "json")
            refuse("--format", asked.format, "table, csv or json");
        return asked.format;
    }
    if (asked.output.ends_with(".json") || asked.output.ends_with(".jsonl")) return "json";
    if (asked.output.ends_with(".csv")) return "csv";
    return asked.output == "-" && !is_terminal(STDOUT_FILENO) ? "json" : "table";
}

// What would be refused after the measurement is refused before it.
void check_baseline(const bench::run& before, const std::string& file, const std::string& device,
                    std::string_view suite) {
    const auto said = [&](const char* key) {
        const auto at = before.about.find(key);
        return at != before.about.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    if (said("device") != device) {
        throw error(
            error_kind::usage,
            fmt::format("--against: the baseline {} was measured on '{}', this is '{}'; a ratio of one "
                        "says nothing of the other",
                        file, printable(said("device")), device));
    }
    if (said("suite") != suite) {
        throw error(error_kind::usage,
                    fmt::format("--against: the baseline {} is of the benchmark '{}', not of '{}'", file,
                                printable(said("suite")), suite));
    }
}

bench::run measured(const spoken_bench& asked, const bench::request& what, const bench::suite_entry& suite,
                    const std::optional<bench::run>& before) {
    cuda::backend gpus;
    const auto found = gpus.choose(asked.device);
    if (found.devices.empty()) {
        throw error(error_kind::device,
                    "a benchmark needs a GPU; " + found.why_cpu + "; tilewalk devices tells more");
    }
    const auto& on = found.devices.front();
    if (before) check_baseline(*before, asked.against, on->get().properties().name, suite.name);
    bench::stop_rule until;
    until.noise = positive("--noise", asked.noise, until.noise, 1);
    until.seconds = positive("--seconds", asked.seconds, 0.15, 3600);
    bench::gpu_bench with(on, gpus.kernels(), bench::open_clocks(on->get().properties().uuid), until);
    const interrupt watch;
    status_line status;
    with.cancel = watch.flag();
    with.says = [&](const std::string& text) { status.say(text); };
    bench::run out;
    out.about = with.about();
    if (const char* commit = std::getenv("TILEWALK_COMMIT"); commit != nullptr && *commit != '\0') {
        out.about["commit"] = commit;
    }
    out.about["suite"] = std::string(suite.name);
    suite.run(with, what, [&](bench::row r) { out.rows.push_back(std::move(r)); });
    watch.check();
    return out;
}

int run_bench(const spoken_bench& asked) {
    const bench::suite_entry& suite = bench::suite_named(asked.suite);
    const bench::request what = request_of(asked);
    if (!suite.takes_request && !asks_nothing(what)) {
        throw error(error_kind::usage,
                    fmt::format("the benchmark '{}' takes no workload and no choice of feeds, distances, "
                                "layouts, widths, occupancy, precision or paths",
                                suite.name));
    }
    const std::string format = format_of(asked);
    // Whatever can be refused is, before anything is measured.
    const output to(asked.output);
    std::optional<output> report, save;
    if (!asked.report.empty()) report.emplace(asked.report);
    if (!asked.save.empty()) save.emplace(asked.save);
    std::optional<bench::run> before;
    if (!asked.against.empty()) before = read_baseline(asked.against);

    const bench::run made = measured(asked, what, suite, before);
    to.write(text_of(made, format));
    // REPORT2
    if (save) save->write(text_of(made, "json"));
    std::size_t wrong = 0;
    for (const auto& r : made.rows) wrong += !r.wrong.empty();
    if (wrong > 0)
        complain(fmt::format("tilewalk: {} rows are wrong, not slow; see the end of the table", wrong));
    if (before) {
        const bench::comparison c = bench::compare(made, *before);
        std::ostringstream text;
        bench::write(text, c);
        if (to.is_stdout() && format == "table") {
            output("-").write(text.view());
        } else {
            complain(text.str());
        }
        if (c.is_bad()) return slower;
    }
    return wrong > 0 ? some_failed : all_well;
}

std::string list_of_suites() {
    std::string out;
    for (const auto& s : bench::suites()) {
        out += fmt::format("  {:<11} {}\n", s.name, s.summary);
        if (!s.published.empty()) out += fmt::format("  {:<11} published: {}\n", "", s.published);
    }
    return out;
}

}  // namespace

command add_bench(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("bench", "Measure a GPU: feeds, memory, reductions, generators")->group("Commands");
    const auto asked = std::make_shared<spoken_bench>();
    app->add_option("SUITE", asked->suite, "What to measure, see below")->required();
    app->add_option("SUBJECT", asked->subject,
                    "On what, for prefetch: a book's file, or a workload (asian, heston_step,\n"
                    "autocallable); all workloads if left out");
    const auto list = [&](const char* name, std::vector<std::string>& into, const char* help,
                          const char* type) {
        app->add_option(name, into, help)->type_name(type)->delimiter(',')->allow_extra_args(false);
    };
    list("--feeds", asked->feeds, "Feeds to compare, or all (default all that read memory)", "NAME");
    list("--distances", asked->distances, "Steps ahead, such as 1..16 (default 1,2,4,6,8,12,16)", "N");
    list("--layouts", asked->layouts, "plain, padded, transposed or all (default all)", "NAME");
    list("--widths", asked->widths, "Paths a thread: 1, 2, 4 (default all)", "N");
    list("--occupancy", asked->warps, "Warps on a multiprocessor; 64 is as many as fit (default 64,32,16,8)",
         "N");
    list("--precision", asked->precisions, "double, single, single_fast, mixed or all (default double)",
         "NAME");
    app->add_option("--paths", asked->paths, "Paths of a trade (default: the workload's)")->type_name("N");
    app->add_option("--device", asked->device, "The GPU, as tilewalk devices numbers them (default 0)")
        ->type_name("N");
    app->add_option("--noise", asked->noise, "Stop sampling a row at this noise (default 0.01)")
        ->type_name("X");
    app->add_option("--seconds", asked->seconds, "Or after so long (default 0.15)")->type_name("X");
    app->add_option("--format", asked->format,
                    "table, csv or json (lines); if left out, what the ending of --output says,\n"
                    "else a table on a terminal and json elsewhere")
        ->type_name("NAME");
    app->add_option("-o,--output", asked->output, "File for the rows; - is standard output")
        ->type_name("FILE");
    app->add_option("--report", asked->report, "A page with the curves, for a browser or print")
        ->type_name("FILE");
    app->add_option("--save", asked->save, "Keep the rows as a baseline")->type_name("FILE");
    app->add_option("--against", asked->against, "Compare with a baseline; exit code 4 if anything is slower")
        ->type_name("FILE");
    app->footer("Suites:\n" + list_of_suites() +
                "\nEvery row is checked before it is timed: one whose bits differ from its reference's is "
                "wrong, not fast.\n\n"
                "Examples:\n"
                "  tilewalk bench prefetch asian --report asian.html\n"
                "  tilewalk bench prefetch book.yaml --feeds none,smem_rolling_async --occupancy 16\n"
                "  tilewalk bench prefetch asian --save monday.jsonl\n"
                "  tilewalk bench prefetch asian --against monday.jsonl\n\n"
                "Exit codes: 0 measured, 3 a row is wrong or there is no GPU, 4 slower than the baseline,\n"
                "2 bad usage or input, 130 interrupted.");
    return {app, [asked] { return run_bench(*asked); }};
}

}  // namespace tilewalk::cli
