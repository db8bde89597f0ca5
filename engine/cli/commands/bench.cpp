// SPDX-License-Identifier: Apache-2.0
// tilewalk bench: what is fastest on this GPU, and whether anything became slower.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "engine/cli/program.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/interrupt.h"
#include "engine/cli/terminal/status_line.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/benchmark.h"
#include "tilewalk/book.h"
#include "tilewalk/printable.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::cli {

namespace {

struct bench_arguments {
    std::string suite;
    std::string subject;
    std::vector<std::string> feeds, layouts, precisions;
    std::vector<std::string> distances, widths, warps;
    std::string paths, device = "0", noise, seconds;
    std::string output = "-", format, report, figures, save, against, from;
    bool untimed = false;
};

template <class number>
std::optional<number> parsed(const std::string& text) {
    number out{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

// Parses numbers and ranges, such as "1..4" and "6", into sorted numbers without repeats.
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
            refuse_value(option, text, expected);
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
    if (digits.ends_with('k') || digits.ends_with('K')) unit = 1000;
    if (digits.ends_with('M')) unit = 1'000'000;
    if (unit > 1) digits.pop_back();
    const auto count = parsed<std::uint64_t>(digits);
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    if (!count || *count == 0 || *count > most / unit)
        refuse_value("--paths", text, fmt::format("a whole number from 1 to {}, such as 262144 or 1M", most));
    return *count * unit;
}

double positive(const std::string& option, const std::string& text, double preset, double most) {
    if (text.empty()) return preset;
    const auto number = parsed<double>(text);
    if (!number || !(*number > 0) || !(*number <= most))
        refuse_value(option, text, fmt::format("a number above 0, up to {}", most));
    return *number;
}

benchmark_request request_of(const bench_arguments& asked) {
    benchmark_request out;
    out.suite = asked.suite;
    out.subject = asked.subject;
    out.feeds = words(asked.feeds);
    out.layouts = words(asked.layouts);
    out.precisions = asked.precisions;
    if (std::ranges::find(out.precisions, "all") != out.precisions.end()) {
        out.precisions = {"double", "single", "single_fast", "mixed"};
    }
    out.distances = numbers("--distances", asked.distances, 1, 32);
    out.widths = numbers("--widths", asked.widths, 1, 4);
    out.warps = numbers("--occupancy", asked.warps, 1, 64);
    out.paths = paths_of(asked.paths);
    out.device = asked.device;
    out.noise = positive("--noise", asked.noise, out.noise, 1);
    out.seconds = positive("--seconds", asked.seconds, out.seconds, 3600);
    out.is_timed = !asked.untimed;
    if (asked.untimed) {
        for (const auto& [option, given] : {std::pair{"--report", &asked.report},
                                            {"--figures", &asked.figures},
                                            {"--save", &asked.save},
                                            {"--against", &asked.against}}) {
            if (given->empty()) continue;
            throw error(error_kind::usage,
                        fmt::format("{} needs timings, which --untimed leaves out", option));
        }
    }
    // The report repeats this command under ncu, which explains its figures.
    if (!asked.report.empty()) out.command = words_that_start("bench");
    check(out);
    return out;
}

output_format format_of(const bench_arguments& asked) {
    if (!asked.format.empty()) return parse_format(asked.format, "--format");
    if (const auto by_ending = format_of_ending(asked.output)) return *by_ending;
    if (ending_of(asked.output) == ".jsonl") return output_format::json;
    refuse_ending(asked.output, {".txt", ".csv", ".json", ".jsonl"}, ", or --format with any ending");
    return asked.output == "-" && !is_terminal(STDOUT_FILENO) ? output_format::json : output_format::table;
}

std::vector<std::filesystem::path> inputs_of(const bench_arguments& asked) {
    std::vector<std::filesystem::path> out;
    for (const std::string* file : {&asked.against, &asked.from})
        if (!file->empty()) out.emplace_back(*file);
    std::error_code unknown;
    if (asked.suite != "prefetch" || !std::filesystem::is_regular_file(asked.subject, unknown)) return out;
    out.emplace_back(asked.subject);
    try {
        for (auto& file : book::load(asked.subject).files()) out.push_back(std::move(file));
    } catch (const error&) {
        // The suite itself reports an unreadable book, with a better message.
    }
    return out;
}

struct measured {
    std::optional<benchmark_results> rows;  // empty if interrupted before the first row
    bool is_whole = false;
};

// After an interrupt, waits a moment for the current row to end. If a kernel is being compiled, which can't
// be stopped, the thread is abandoned, since the process ends soon.
measured measure_until_interrupted(benchmark_request what, const std::optional<benchmark_results>& before,
                                   const interrupt& watch) {
    constexpr std::chrono::milliseconds patience{150}, between_looks{20};
    struct shared {
        std::mutex lock;
        std::condition_variable changed;
        std::vector<benchmark_results> rows;
        std::optional<benchmark_results> made;
        std::exception_ptr failure;
        bool is_done = false;
    };
    const auto of = std::make_shared<shared>();
    what.cancel = watch.flag();
    what.on_row = [of](const benchmark_results& row) {
        const std::lock_guard guard(of->lock);
        of->rows.push_back(row);
    };
    std::thread worker([of, what, before] {
        std::optional<benchmark_results> made;
        std::exception_ptr failure;
        try {
            made = measure(what, before ? &*before : nullptr);
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard guard(of->lock);
        of->made = std::move(made);
        of->failure = failure;
        of->is_done = true;
        of->changed.notify_one();
    });
    std::unique_lock guard(of->lock);
    while (!of->changed.wait_for(guard, between_looks, [&] { return of->is_done; }) && !watch.is_asked()) {
    }
    if (!of->is_done) of->changed.wait_for(guard, patience, [&] { return of->is_done; });
    if (!of->is_done) {
        worker.detach();
        if (of->rows.empty()) return {};
        return {benchmark_results::interrupted(of->rows), false};
    }
    guard.unlock();
    worker.join();
    if (of->failure) std::rethrow_exception(of->failure);
    return {of->made, of->made->is_complete()};
}

benchmark_results measured_rows(const bench_arguments& asked, const benchmark_request& what,
                                const std::optional<benchmark_results>& before, output_format format,
                                const output& to, bool makes_more) {
    const interrupt watch;
    status_line status;
    benchmark_request watched = what;
    watched.says = [&](const std::string& text) { status.say(text); };
    const measured got = measure_until_interrupted(watched, before, watch);
    status.wipe();
    if (got.is_whole) return *got.rows;
    // Writes the rows in spite of the interrupt. A thread may still be at work: only _exit stops it.
    watch.take_back();
    try {
        if (got.rows) to.write(got.rows->text(format, to.is_stdout() ? form_of_stdout() : text_form{}));
    } catch (const error& e) {
        complain("tilewalk: " + std::string(e.what()));
        ::_exit(try_again);
    }
    complain(got.rows ? "tilewalk: interrupted; the rows so far are written and marked as incomplete"
                      : words_of_interrupt());
    if (got.rows && (makes_more || !asked.figures.empty()))
        complain("tilewalk: no page, figure or baseline is made of incomplete rows");
    ::_exit(code_of_interrupt());
}

int run_bench(const bench_arguments& asked) {
    if (asked.suite.empty() && asked.from.empty())
        throw error(error_kind::usage, "SUITE is required\ntilewalk bench --help shows how it is used");
    const std::optional<benchmark_request> what =
        asked.from.empty() ? std::optional(request_of(asked)) : std::nullopt;
    const output_format format = format_of(asked);
    const output to(asked.output);
    std::optional<output> report, save;
    std::vector<const output*> all{&to};
    if (!asked.report.empty()) all.push_back(&report.emplace(asked.report, "--report"));
    if (!asked.save.empty()) all.push_back(&save.emplace(asked.save, "--save"));
    if (!asked.figures.empty() && !std::filesystem::is_directory(asked.figures)) {
        throw error(error_kind::io, "--figures: there is no such folder", {asked.figures, 0, 0});
    }
    std::optional<benchmark_results> before;
    if (!asked.against.empty()) {
        before = benchmark_results::parse(text_of_file(asked.against, "a baseline"), asked.against);
    }
    const std::vector<std::filesystem::path> inputs = inputs_of(asked);
    keep_apart(all, inputs);

    const benchmark_results made =
        what ? measured_rows(asked, *what, before, format, to, all.size() > 1)
             : benchmark_results::parse(text_of_file(asked.from, "rows of benchmarks"), asked.from, true);
    if (!asked.from.empty() && !made.note().empty())
        complain(fmt::format("tilewalk: warning: {}: {}", asked.from, made.note()));
    std::vector<std::pair<output, std::string>> figures;
    if (!asked.figures.empty()) {
        for (auto& [name, svg] : made.figures()) {
            figures.emplace_back(
                output((std::filesystem::path(asked.figures) / (name + ".svg")).string(), "--figures"),
                std::move(svg));
        }
        for (const auto& [file, svg] : figures) all.push_back(&file);
        keep_apart(all, inputs);
    }
    to.write(made.text(format, to.is_stdout() ? form_of_stdout() : text_form{}));
    if (report) report->write(made.page());
    for (const auto& [file, svg] : figures) file.write(svg);
    if (save) save->write(made.text(output_format::json));
    if (const auto wrong = made.wrong(); wrong > 0) {
        complain(fmt::format("tilewalk: {} row{} wrong; the end of the table says why", wrong,
                             wrong == 1 ? " is" : "s are"));
    }
    if (before) {
        const benchmark_verdict verdict = compare(made, *before);
        if (to.is_stdout() && format == output_format::table) {
            output("-").write(folded(verdict.text, form_of_stdout().columns));
        } else {
            std::istringstream lines(verdict.text);
            for (std::string line; std::getline(lines, line);) complain(line);
        }
        if (verdict.is_bad) return slower;
    }
    return made.wrong() > 0 ? some_failed : all_well;
}

void refuse_what_measures(const CLI::App& app) {
    for (const char* name :
         {"SUITE", "SUBJECT", "--feeds", "--distances", "--layouts", "--widths", "--occupancy", "--precision",
          "--paths", "--device", "--noise", "--seconds", "--untimed"}) {
        if (app.count(name) > 0)
            throw error(error_kind::usage, fmt::format("--from measures nothing; leave out {}", name));
    }
}

std::string list_of_suites() {
    std::string out;
    for (const auto& s : benchmark_suites()) {
        out += fmt::format("  {:<11} {}\n", s.name, s.summary);
        if (!s.published.empty()) out += fmt::format("  {:<11} published: {}\n", "", s.published);
    }
    return out;
}

std::vector<std::string> suite_words() {
    std::vector<std::string> words;
    for (const auto& s : benchmark_suites()) words.push_back(s.name);
    return words;
}

std::vector<std::string> choices_of(const std::string& setting) {
    std::vector<std::string> words = std::ranges::find(setting_table(), setting, &run_setting::name)->choices;
    std::erase(words, "auto");
    words.emplace_back("all");
    return words;
}

}  // namespace

command add_bench(CLI::App& to) {
    CLI::App* app = to.add_subcommand("bench", bench_summary)->group("Commands");
    const auto asked = std::make_shared<bench_arguments>();
    offers(app->add_option("SUITE", asked->suite, "The suite to run, see below"), suite_words());
    offers_files(
        app->add_option(
            "SUBJECT", asked->subject,
            "For prefetch: a book, or a workload (asian, heston_step, autocallable, "
            "local_volatility, basket_of_50, backward; all but the last two if left out). For models, "
            "greeks, convergence, peers and start: one of them, such as heston"),
        {".yaml", ".yml"});
    const auto list = [&](const char* name, std::vector<std::string>& into, const char* help,
                          const char* type) {
        return app->add_option(name, into, help)->type_name(type)->delimiter(',')->allow_extra_args(false);
    };
    offers(list("--feeds", asked->feeds, "Feeds to compare, or all (default all that read memory)", "NAME"),
           choices_of("prefetch"));
    list("--distances", asked->distances, "Steps ahead, such as 1..16 (default 1,2,4,6,8,12,16)", "N");
    offers(list("--layouts", asked->layouts, "plain, padded, transposed or all (default all)", "NAME"),
           choices_of("layout"));
    list("--widths", asked->widths, "Paths per thread: 1, 2, 4 (default all)", "N");
    list("--occupancy", asked->warps, "Warps per multiprocessor; 64 for as many as fit (default 64,32,16,8)",
         "N");
    offers(list("--precision", asked->precisions,
                "double, single, single_fast, mixed or all (default double)", "NAME"),
           choices_of("precision"));
    app->add_option("--paths", asked->paths, "Paths for each trade (default: those of the workload)")
        ->type_name("N");
    offers(app->add_option("--device", asked->device,
                           "Number of the GPU, as 'tilewalk devices' lists them (default 0); for models also "
                           "cpu, as on a machine without a GPU"),
           {"0", "cpu"})
        ->type_name("N");
    app->add_option("--noise", asked->noise, "Stop sampling a row at this noise (default 0.01)")
        ->type_name("X");
    app->add_option("--seconds", asked->seconds, "Stop sampling a row after this time (default 0.15)")
        ->type_name("X");
    offers(app->add_option("--format", asked->format,
                           "table, csv or json (lines); by default what the ending of --output says, else a "
                           "table on a terminal and json elsewhere"),
           format_words())
        ->type_name("NAME");
    app->add_option("-o,--output", asked->output, "File for the rows; - is standard output")
        ->type_name("FILE");
    app->add_option(
           "--report", asked->report,
           "Write a page with the curves; for prefetch also when it pays, as ncu measures it if it is "
           "on the PATH")
        ->type_name("FILE");
    app->add_option("--figures", asked->figures, "Write the figures of that page as SVG to this folder")
        ->type_name("FOLDER");
    app->add_option("--save", asked->save, "Write the rows as a baseline")->type_name("FILE");
    app->add_option("--from", asked->from,
                    "Measure nothing; read the rows from this file, which --save or --format json wrote")
        ->type_name("FILE");
    app->add_option("--against", asked->against,
                    "Compare with this baseline; exit code 4 if anything is slower")
        ->type_name("FILE");
    app->add_flag("--untimed", asked->untimed,
                  "Check every row by one launch without timing, for a profiler (prefetch)");
    add_quiet(*app);
    app->footer(
        "Suites:\n" + list_of_suites() +
        "\nEvery row is checked before it is timed; it is wrong if it differs from its reference in any "
        "bit.\n\n"
        "Examples:\n"
        "  tilewalk bench prefetch asian --report asian.html\n"
        "  tilewalk bench prefetch book.yaml --feeds none,smem_rolling_async --occupancy 16\n"
        "  tilewalk bench prefetch asian --save monday.jsonl\n"
        "  tilewalk bench prefetch asian --against monday.jsonl\n"
        "  tilewalk bench --from monday.jsonl --report asian.html\n\n"
        "Exit codes: 0 measured, 3 a row is wrong, 4 slower than the baseline, 75 there is no GPU;\n" +
        exit_code_hint());
    return {app, [app, asked] {
                if (!asked->from.empty()) refuse_what_measures(*app);
                return run_bench(*asked);
            }};
}

}  // namespace tilewalk::cli
