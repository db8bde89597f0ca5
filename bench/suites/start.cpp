// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/start.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include "bench/measure/attempt.h"
#include "bench/measure/child_process.h"
#include "bench/measure/timing.h"
#include "engine/base/json_members.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace start {

namespace {

namespace fs = std::filesystem;

constexpr double most_seconds = 1200;  // time limit of one process
constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr std::string_view processor = "cpu";

class scratch_folder {
  public:
    scratch_folder() {
        std::string name = (fs::temp_directory_path() / "tilewalk_start_XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw error(error_kind::io, std::string("can't make a folder: ") + std::strerror(errno), {name});
        path_ = name;
    }
    ~scratch_folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

// The runs at one place from one kind of start, from which its row is made.
struct lane {
    place at;
    std::vector<double> milliseconds{};
    std::vector<answer> answers{};      // of the same runs, without prices
    std::vector<double> of_before{};    // milliseconds of the build before
    std::vector<double> over_before{};  // of_before over milliseconds, turn by turn
    std::string wrong{};
};

bool wants_more(const lane& of, std::size_t fewest, const stop_rule& until) {
    const std::size_t samples = of.milliseconds.size();
    if (!of.wrong.empty()) return false;
    if (samples < fewest) return true;
    double spent = 0;
    for (const double one : of.milliseconds) spent += one * 1e-3;
    return samples < until.most && spent < until.seconds &&
           tuning::summarise(of.milliseconds).noise > until.noise;
}

// Calls `run` for each lane by turns, with the number of the turn, until no lane wants more samples. A lane
// that fails says why and leaves.
void take_turns(std::vector<lane>& lanes, std::size_t fewest, const stop_rule& until,
                const std::function<void(lane&, std::size_t turn)>& run) {
    const auto wants = [&](const lane& l) { return wants_more(l, fewest, until); };
    for (std::size_t turn = 0; std::ranges::any_of(lanes, wants); ++turn) {
        for (lane& l : lanes) {
            if (!l.wrong.empty()) continue;
            try {
                run(l, turn);
            } catch (const error& e) {
                if (e.kind() == error_kind::cancelled) throw;
                l.wrong = e.what();
            }
        }
    }
}

row row_of(const lane& from, const priced_book& book, std::string_view begun) {
    row r;
    r.suite = "start";
    r.axes = {{"book", book.name}, {"device", from.at.device}, {"start", begun}};
    r.axes.update(book.axes);
    r.wrong = from.wrong;
    if (!r.wrong.empty()) return r;
    const summary of = tuning::summarise(from.milliseconds);
    r.figures = {{"milliseconds", of.median}, {"noise", of.noise}, {"samples", of.samples}};
    if (!from.of_before.empty()) {
        r.figures["before_milliseconds"] = tuning::summarise(from.of_before).median;
        r.figures["ratio_to_before"] = tuning::summarise(from.over_before).median;
    }
    // The run whose time is the median, or the faster of two, stands for the others.
    std::vector<std::size_t> order(from.milliseconds.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return from.milliseconds[i]; });
    const answer& told = from.answers[order[(order.size() - 1) / 2]];
    r.figures.update({{"plan_seconds", told.plan_seconds},
                      {"path_seconds", told.path_seconds},
                      {"kernels_compiled", told.kernels_compiled},
                      {"kernels_from_cache", told.kernels_from_cache},
                      {"path_steps", told.path_steps},
                      {"path_steps_on_gpus", told.path_steps_on_gpus}});
    if (told.path_steps > 0)
        r.figures["share_of_gpus"] =
            static_cast<double>(told.path_steps_on_gpus) / static_cast<double>(told.path_steps);
    return r;
}

struct timed_answer {
    double milliseconds = 0;
    answer told;
};

class runner {
  public:
    runner(const contest& of, const priced_book& book, const std::atomic<bool>* cancel)
        : of_(of), book_(book), cancel_(cancel) {}

    std::string cache(const std::string& name) const { return folder_ / name; }

    timed_answer run(const std::string& program, const std::string& device, const std::string& cache) const {
        const std::string file = folder_ / "results.json";
        std::error_code ignored;
        fs::remove(file, ignored);
        std::vector<std::string> words{"env", "TILEWALK_CACHE_DIR=" + cache + "/kernels",
                                       "CUDA_CACHE_PATH=" + cache + "/driver"};
        words.insert(words.end(), of_.environment.begin(), of_.environment.end());
        words.insert(words.end(), {program, "price", book_.file, "--device", device, "--format", "json",
                                   "--quiet", "--output", file});
        words.insert(words.end(), book_.options.begin(), book_.options.end());
        const double begin = seconds_now();
        const child_outcome ran = run_child(words, most_seconds, most_output, cancel_);
        const double took = (seconds_now() - begin) * 1e3;
        if (!ran.why_not.empty())
            throw error(error_kind::internal, program + " --device " + device + " " + ran.why_not +
                                                  (ran.last_error.empty() ? "" : ": " + ran.last_error));
        return {took, read_answer(report::text_of_file(file, "results"), program)};
    }

    timed_answer run_cold(const std::string& device) const {
        const std::string cache = this->cache("cold");
        fs::remove_all(cache);
        fs::create_directories(cache);
        return run(of_.program, device, cache);
    }

  private:
    const contest& of_;
    const priced_book& book_;
    const std::atomic<bool>* cancel_;
    scratch_folder folder_;
};

}  // namespace

answer read_answer(std::string_view results, const std::string& name) {
    const auto refuse = [&](const std::string& why) { throw error(error_kind::input, why, {name, 0, 0}); };
    const json read = json::parse(results, nullptr, false);
    if (!read.is_object() || !read.contains("manifest") || !read["manifest"].is_object() ||
        !read.contains("rows") || !read["rows"].is_array())
        refuse("expected results of prices as JSON, with a 'manifest' and 'rows'");
    const json& manifest = read["manifest"];
    const auto seconds = [&](const char* key) {
        const auto at = manifest.find(key);
        const double found = at != manifest.end() && at->is_number() ? at->get<double>() : -1;
        if (!std::isfinite(found) || found < 0)
            refuse(fmt::format("expected a number of seconds as '{}'", key));
        return found;
    };
    const auto count = [&](const char* key) {
        const auto at = manifest.find(key);
        if (at == manifest.end() || !at->is_number_unsigned())
            refuse(fmt::format("expected a whole number as '{}'", key));
        return at->get<std::uint64_t>();
    };
    answer out;
    out.plan_seconds = seconds("plan_seconds");
    out.path_seconds = seconds("path_seconds");
    out.kernels_compiled = count("kernels_compiled");
    out.kernels_from_cache = count("kernels_from_cache");
    out.path_steps = count("path_steps");
    if (manifest.contains("path_steps_on_gpus")) out.path_steps_on_gpus = count("path_steps_on_gpus");
    for (const json& trade : read["rows"]) {
        if (!trade.is_object() || !trade.contains("trade") || !trade["trade"].is_string())
            refuse("expected rows that name their trade");
        std::string figures;
        for (const char* key : {"price", "standard_error", "status"}) {
            if (!trade.contains(key)) refuse(fmt::format("expected rows that have a '{}'", key));
            figures += (figures.empty() ? "" : ", ") + trade[key].dump(-1, ' ', true);
        }
        out.prices.emplace_back(trade["trade"], std::move(figures));
    }
    if (out.prices.empty()) refuse("expected the price of a trade");
    return out;
}

std::string why_other_bits(const answer& got, const answer& on_the_processor) {
    const auto [ours, its] = std::ranges::mismatch(got.prices, on_the_processor.prices);
    const bool is_short = ours == got.prices.end();
    if (is_short && its == on_the_processor.prices.end()) return {};
    if (is_short || its == on_the_processor.prices.end())
        return fmt::format("there are {} trades, on the processor {}", got.prices.size(),
                           on_the_processor.prices.size());
    return fmt::format("{} is {}, on the processor {} is {}", config::shown(ours->first), ours->second,
                       config::shown(its->first), its->second);
}

void compare(std::vector<row>& rows) {
    for (row& r : rows) {
        json axes = r.axes;
        axes["device"] = processor;
        const auto its = std::ranges::find(rows, axes, &row::axes);
        if (&r == std::to_address(its) || its == rows.end() || !r.is_result() || !its->is_result()) continue;
        r.over = its->axes;
        r.figures["ratio"] =
            its->figures.at("milliseconds").get<double>() / r.figures.at("milliseconds").get<double>();
    }
}

void measure(const contest& of, const priced_book& book, const cpu_bench& on, const sink& to) {
    const runner runs(of, book, on.cancel);
    std::vector<lane> cold;
    for (const place& at : of.places) cold.push_back({.at = at});
    std::vector<lane> warm = cold;
    answer reference;
    const auto says = [&](const lane& l, std::string_view begun, std::size_t turn) {
        on.says(fmt::format("start: {} on {}, {}, run {}", book.name, l.at.device, begun, turn + 1));
    };
    const auto keep = [&](lane& l, timed_answer ran) {
        if (reference.prices.empty() && l.at.device == processor) reference = ran.told;
        if (reference.prices.empty())
            throw error(error_kind::internal, "the processor has no prices to compare with");
        if (l.wrong = why_other_bits(ran.told, reference); !l.wrong.empty()) return;
        ran.told.prices = {};
        l.milliseconds.push_back(ran.milliseconds);
        l.answers.push_back(std::move(ran.told));
    };
    take_turns(cold, of.cold, on.until, [&](lane& l, std::size_t turn) {
        says(l, "cold", turn);
        keep(l, runs.run_cold(l.at.device));
    });
    take_turns(warm, of.warm, on.until, [&](lane& l, std::size_t turn) {
        const std::string own = runs.cache(l.at.device), of_before = runs.cache(l.at.device + " before");
        if (turn == 0) {
            on.says(fmt::format("start: {} on {}, filling the cache", book.name, l.at.device));
            runs.run(of.program, l.at.filled_by, own);
            if (!of.before.empty()) runs.run(of.before, l.at.filled_by, of_before);
        }
        says(l, "warm", turn);
        // The two builds change places from turn to turn, as one may leave something to the other.
        timed_answer before, now;
        const bool is_before_first = turn % 2 == 1;
        const auto run_before = [&] {
            if (!of.before.empty()) before = runs.run(of.before, l.at.device, of_before);
        };
        if (is_before_first) run_before();
        now = runs.run(of.program, l.at.device, own);
        if (!is_before_first) run_before();
        if (!of.before.empty()) {
            l.of_before.push_back(before.milliseconds);
            l.over_before.push_back(before.milliseconds / now.milliseconds);
        }
        keep(l, std::move(now));
    });
    std::vector<row> rows;
    for (const lane& l : cold) rows.push_back(row_of(l, book, "cold"));
    for (const lane& l : warm) rows.push_back(row_of(l, book, "warm"));
    compare(rows);
    for (row& r : rows) to(std::move(r));
}

namespace {

struct known_book {
    std::string_view name;
    std::string_view file;                // in the sources; empty: made by bench/make_book.py
    std::uint64_t trades = 0, paths = 0;  // of a book that is made
    bool needs_gpu = false;               // takes minutes on few cores, so it is run there only if named
};
constexpr std::array<known_book, 4> known_books{{
    {.name = "demo", .file = "configs/books/demo.yaml"},
    {.name = "early", .file = "configs/books/early.yaml"},
    {.name = "mixed_1500", .file = "", .trades = 1500, .paths = 4096},
    {.name = "mixed_10000", .file = "", .trades = 10000, .paths = 65536, .needs_gpu = true},
}};

row whole_of(const known_book& of) {
    row r;
    r.suite = "start";
    r.axes = {{"book", of.name}, {"device", "all"}, {"start", "all"}};
    return r;
}

void measure_all(contest of, const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                 const sink& to) {
    const fs::path sources = TILEWALK_SOURCES;
    of.program = (fs::read_symlink("/proc/self/exe").parent_path() / "tilewalk").string();
    if (const char* set = std::getenv("TILEWALK_BEFORE"); set != nullptr) of.before = set;
    if (!of.before.empty()) of.before = fs::absolute(of.before).string();
    if (!of.before.empty() && !fs::is_regular_file(of.before))
        throw error(error_kind::usage, "TILEWALK_BEFORE is to name another build of the command tilewalk",
                    {of.before, 0, 0});
    const scratch_folder made;
    for (const known_book& known : known_books) {
        if (!asked.subject.empty() && asked.subject != known.name) continue;
        if (!fs::exists(of.program)) {
            skip(whole_of(known), to, of.program + " is not there");
            continue;
        }
        if (known.needs_gpu && !why_no_gpu.empty() && asked.subject.empty()) {
            skip(whole_of(known), to,
                 "without a GPU it takes minutes, so it is measured only if it is named");
            continue;
        }
        const fs::path from = sources / (known.file.empty() ? "bench/make_book.py" : known.file);
        if (!fs::exists(from)) {
            skip(whole_of(known), to,
                 "it is for a build of the sources of Tilewalk, whose " + from.string() + " is not there");
            continue;
        }
        priced_book book{.name = std::string(known.name), .file = from.string()};
        if (known.file.empty()) {
            book.file = made / (book.name + ".yaml");
            const child_outcome ran =
                run_child({"python3", "-B", from.string(), "--trades", std::to_string(known.trades),
                           "--paths", std::to_string(known.paths), "--output", book.file},
                          most_seconds, most_output, on.cancel);
            if (!ran.why_not.empty()) {
                skip(whole_of(known), to, "python3 " + ran.why_not + ": " + ran.last_error);
                continue;
            }
        }
        if (asked.paths > 0) {
            book.options = {"--paths", std::to_string(asked.paths)};
            book.axes = {{"paths", asked.paths}};
        }
        measure(of, book, on, to);
        if (why_no_gpu.empty()) continue;
        for (const char* begun : {"cold", "warm"}) {
            row r = whole_of(known);
            r.axes["device"] = "0";
            r.axes["start"] = begun;
            r.axes.update(book.axes);
            skip(std::move(r), to, why_no_gpu);
        }
    }
}

}  // namespace

}  // namespace start

void check_start(const request& asked) {
    std::vector<std::string> known;
    for (const start::known_book& book : start::known_books) known.emplace_back(book.name);
    if (asked.subject.empty() || std::ranges::find(known, asked.subject) != known.end()) return;
    throw error(error_kind::usage, "the benchmark 'start' has no book " + config::shown(asked.subject) +
                                       config::alternatives(asked.subject, "it has", known));
}

void run_start(gpu_timer& on, const request& asked, const sink& to) {
    const std::string gpu = std::to_string(on.device().properties().index);
    // A run by `auto` may leave a book to the processor and compile nothing, so it takes what the GPUs leave.
    start::measure_all({.places = {{"cpu", "cpu"}, {"auto", "cuda"}, {gpu, gpu}}},
                       {on.until(), on.says, on.cancel}, asked, "", to);
}

void run_start_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                      const sink& to) {
    // Hides GPUs from `auto` where the processor alone was asked for.
    start::measure_all(
        {.places = {{"cpu", "cpu"}, {"auto", "auto"}}, .environment = {"CUDA_VISIBLE_DEVICES="}}, on, asked,
        why_no_gpu, to);
}

}  // namespace tilewalk::bench
