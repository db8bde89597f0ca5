// SPDX-License-Identifier: Apache-2.0
// The suite `python`: a book by the command and by the Python package, and the cost of a million rows as a
// DataFrame and as an Arrow table. bench/python_cost.py measures and compares bits; its output is read here.
#include "bench/suites/python_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "bench/measure/attempt.h"
#include "bench/measure/child_process.h"
#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace python_cost {

namespace {

constexpr std::string_view suite = "python";
constexpr std::size_t most_of_line = 16384, most_of_word = 400, most_samples = 1000;
constexpr double most_count = 0x1p53;
constexpr double most_seconds = 1200;
constexpr std::array<std::string_view, 3> sizes{"trades", "paths", "rows"};

constexpr std::string_view by_command = "command", by_python = "python", start = "start of python";

const row* result_of(const std::vector<row>& rows, std::string_view what) {
    const auto found = std::ranges::find_if(
        rows, [&](const row& r) { return r.axes.at("what") == what && r.figures.contains("milliseconds"); });
    return found != rows.end() && found->is_result() ? &*found : nullptr;
}

}  // namespace

row read_line(std::string_view line, const std::string& program, int number) {
    const auto refuse = [&](const std::string& why) {
        throw error(error_kind::input, why, {program, number, 0});
    };
    if (line.size() > most_of_line)
        refuse(fmt::format("found a line of {} bytes, expected at most {}", line.size(), most_of_line));
    const json read = json::parse(line, nullptr, false);
    if (read.is_discarded() || !read.is_object())
        refuse("found " + config::shown(std::string(line.substr(0, 80))) + ", expected a JSON object");
    const auto word = [&](const char* key) -> std::string {
        if (!read.contains(key)) return {};
        if (!read[key].is_string()) refuse(fmt::format("expected a text as '{}'", key));
        std::string out = read[key];
        if (out.empty() || out.size() > most_of_word)
            refuse(fmt::format("expected 1 to {} bytes as '{}', found {}", most_of_word, key, out.size()));
        for (char& c : out) {
            if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
        }
        return out;
    };
    const auto count = [&](std::string_view key) {
        const json& value = read[std::string(key)];
        if (!value.is_number_unsigned() || value.get<double>() > most_count)
            refuse(fmt::format("expected a whole number as '{}'", key));
        return value.get<std::uint64_t>();
    };

    row out;
    out.suite = suite;
    out.axes = {{"what", word("what")}};
    if (out.axes["what"] == "") refuse("expected a text as 'what'");
    for (const std::string_view size : sizes) {
        if (read.contains(size)) out.axes[std::string(size)] = count(size);
    }
    out.skipped = word("skipped");
    out.wrong = word("wrong");
    if (!out.is_result()) return out;

    const auto samples = read.find("milliseconds");
    if (samples == read.end() || !samples->is_array() || samples->empty() || samples->size() > most_samples)
        refuse(fmt::format("expected a list of 1 to {} times as 'milliseconds'", most_samples));
    std::vector<double> times;
    for (const json& one : *samples) {
        const double time = one.is_number() ? one.get<double>() : 0;
        if (!std::isfinite(time) || time <= 0) refuse("expected times of more than 0 as 'milliseconds'");
        times.push_back(time);
    }
    const summary of = tuning::summarise(std::move(times));
    out.figures = {{"milliseconds", of.median}, {"noise", of.noise}, {"samples", of.samples}};
    if (read.contains("copied_bytes")) {
        const std::uint64_t copied = count("copied_bytes");
        out.figures["copied_bytes"] = copied;
        if (copied > 0) out.wrong = fmt::format("{} bytes of numbers were copied", copied);
    }
    return out;
}

void compare(std::vector<row>& rows) {
    const row *command = result_of(rows, by_command), *alone = result_of(rows, start),
              *python = result_of(rows, by_python);
    if (command == nullptr || alone == nullptr || python == nullptr) return;
    const double of_command = command->figures.at("milliseconds"),
                 of_start = alone->figures.at("milliseconds"), of_python = python->figures.at("milliseconds");
    row& to = rows[static_cast<std::size_t>(python - rows.data())];
    to.over = command->axes;
    to.figures["ratio"] = of_command / of_python;
    to.figures["over_command_and_start"] = of_python / (of_command + of_start);
}

namespace {

void measure(const cpu_bench& on, const request& asked, const sink& to) {
    namespace fs = std::filesystem;
    row whole;
    whole.suite = suite;
    whole.axes = {{"what", "all"}};
    const std::string program = TILEWALK_PYTHON_COST;
    const fs::path command = fs::read_symlink("/proc/self/exe").parent_path() / "tilewalk";
    if (!fs::exists(program))
        return skip(whole, to,
                    "it is for a build of the sources of Tilewalk, whose bench/python_cost.py is not there");
    if (!fs::exists(command)) return skip(whole, to, command.string() + " is not there");
    on.says("python: the command and the package take turns, which takes a minute or two");
    std::vector<std::string> words{"python3", "-B", program, command.string()};
    if (asked.paths > 0) words.insert(words.end(), {"--paths", std::to_string(asked.paths)});
    const child_outcome ran = run_child(words, most_seconds, std::size_t{1} << 20, on.cancel);

    std::vector<row> rows;
    std::string amiss = ran.why_not.empty() ? "" : program + ": " + ran.why_not;
    if (!ran.last_error.empty() && !amiss.empty()) amiss += ": " + ran.last_error;
    std::istringstream lines(ran.output);
    std::string text;
    try {
        for (int number = 1; std::getline(lines, text); ++number)
            rows.push_back(read_line(text, program, number));
    } catch (const error& e) {
        amiss += (amiss.empty() ? "" : "; ") + std::string(e.what());
    }
    if (rows.empty() && amiss.empty()) amiss = program + " printed nothing";
    compare(rows);
    for (row& r : rows) to(std::move(r));
    if (amiss.empty()) return;
    (ran.has_started ? whole.wrong : whole.skipped) = amiss;
    to(std::move(whole));
}

}  // namespace

}  // namespace python_cost

void run_python_on_cpu(const cpu_bench& on, const request& asked, const std::string&, const sink& to) {
    python_cost::measure(on, asked, to);
}

void run_python(gpu_timer& on, const request& asked, const sink& to) {
    python_cost::measure({on.until(), on.says, on.cancel}, asked, to);
}

}  // namespace tilewalk::bench
