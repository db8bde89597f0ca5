// SPDX-License-Identifier: Apache-2.0
// Strict reading of options and variables, and the order in which they count.
#include "engine/cli/settings.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <thread>

#include "tilewalk/error.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

[[noreturn]] void refuse(const std::string& origin, const std::string& text, const std::string& expected) {
    throw error(error_kind::usage, fmt::format("{}: found '{}', expected {}", origin, text, expected));
}

// Digits only; with `suffixes` one k or M may follow.
std::uint64_t parse_natural(const std::string& text, const std::string& origin, std::uint64_t least,
                            std::uint64_t most, bool suffixes, const std::string& expected) {
    std::string_view digits = text;
    std::uint64_t unit = 1;
    if (suffixes && !digits.empty()) {
        unit = digits.back() == 'k' ? 1000 : digits.back() == 'M' ? 1000000 : 1;
        if (unit > 1) digits.remove_suffix(1);
    }
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool read = code == std::errc() && end == digits.data() + digits.size();
    if (!read || number > most / unit || number * unit < least) refuse(origin, text, expected);
    return number * unit;
}

std::uint64_t parse_paths(const std::string& text, const std::string& origin) {
    return parse_natural(text, origin, 1, std::uint64_t{1} << 40, true,
                         "a whole number of paths from 1 to 2^40, such as 65536, 100k or 1M");
}

std::uint64_t parse_seed(const std::string& text, const std::string& origin) {
    return parse_natural(text, origin, 0, std::numeric_limits<std::uint64_t>::max(), false,
                         "a whole number from 0 to 2^64 - 1");
}

int parse_threads(const std::string& text, const std::string& origin) {
    return static_cast<int>(
        parse_natural(text, origin, 0, 1024, false, "a whole number from 1 to 1024, or 0 for all cores"));
}

std::string suggestion(const std::string& wrong, const std::vector<std::string>& known) {
    const std::string near = nearest_name(wrong, known);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

std::string parse_instruction_set(const std::string& text, const std::string& origin) {
    std::vector<std::string> known = engine::instruction_sets();
    known.insert(known.begin(), "auto");
    if (std::ranges::find(known, text) == known.end())
        refuse(
            origin, text,
            "one that this build has and this machine can run: " + joined(known) + suggestion(text, known));
    return text;
}

std::string parse_file(const std::string& text, const std::string& origin) {
    if (text.empty()) refuse(origin, text, "the name of a file");
    return text;
}

const std::vector<std::string> format_names{"table", "csv", "json"};  // in the order of output_format

std::string name_of(output_format format) {
    return format_names[static_cast<std::size_t>(format)];
}

// The format that a file's ending asks for.
std::optional<output_format> format_of_ending(const std::string& file) {
    const std::string ending = std::filesystem::path(file).extension().string();
    if (ending == ".txt") return output_format::table;
    if (ending == ".csv") return output_format::csv;
    if (ending == ".json") return output_format::json;
    return {};
}

constexpr std::string_view prefix = "TILEWALK_";
// What may follow it.
const std::vector<std::string> variable_names{"MARKET",  "PATHS",           "SEED",
                                              "THREADS", "INSTRUCTION_SET", "FORMAT"};

// Offers what the option and the variable say, where they say anything. An empty variable says nothing.
template <class Value, class Parse>
void offer(setting<Value>& to, const std::optional<std::string>& option, const std::string& option_name,
           const environment& variables, const char* variable_name, Parse parse) {
    if (const char* text = variables(variable_name); text != nullptr && *text != '\0')
        to.offer(parse(text, variable_name), source::environment, variable_name);
    if (option) to.offer(parse(*option, option_name), source::option, option_name);
}

}  // namespace

output_format parse_format(const std::string& text, const std::string& origin) {
    const auto at = std::ranges::find(format_names, text);
    if (at == format_names.end()) refuse(origin, text, joined(format_names) + suggestion(text, format_names));
    return static_cast<output_format>(at - format_names.begin());
}

settings settle(const spoken& options, const environment& variables, const book& of,
                const std::string& book_name, bool stdout_is_terminal) {
    settings s;
    const run_settings& said = of.settings();
    if (of.market()) s.market.offer("", source::book, book_name);
    if (said.paths) s.paths.offer(*said.paths, source::book, book_name);
    if (said.seed) s.seed.offer(*said.seed, source::book, book_name);
    if (said.threads) s.threads.offer(*said.threads, source::book, book_name);

    offer(s.market, options.market, "--market", variables, "TILEWALK_MARKET", parse_file);
    offer(s.paths, options.paths, "--paths", variables, "TILEWALK_PATHS", parse_paths);
    offer(s.seed, options.seed, "--seed", variables, "TILEWALK_SEED", parse_seed);
    offer(s.threads, options.threads, "--threads", variables, "TILEWALK_THREADS", parse_threads);
    offer(s.instruction_set, options.instruction_set, "--instruction-set", variables,
          "TILEWALK_INSTRUCTION_SET", parse_instruction_set);
    if (options.output) s.output.offer(parse_file(*options.output, "--output"), source::option, "--output");

    // The ending of an output file is an option's word, so it beats the environment; --format beats both.
    const bool to_terminal = s.output.value == "-" && stdout_is_terminal;
    s.format = {to_terminal ? output_format::table : output_format::csv, source::preset,
                to_terminal ? "default on a terminal" : "default off a terminal"};
    offer(s.format, {}, "", variables, "TILEWALK_FORMAT", parse_format);
    if (const auto by_ending = format_of_ending(s.output.value))
        s.format.offer(*by_ending, source::option, "the ending of --output");
    if (options.format) s.format.offer(parse_format(*options.format, "--format"), source::option, "--format");
    return s;
}

run_options settings::options() const {
    run_options run;
    if (paths.from > source::book) run.overrides.paths = paths.value;
    if (seed.from > source::book) run.overrides.seed = seed.value;
    if (threads.from > source::book) run.overrides.threads = threads.value;
    return run;
}

std::string settings::text(const book& of) const {
    std::string out = fmt::format("{:<15}  {:<32}  {}\n{:-<15}  {:-<32}  {:-<22}\n", "setting", "value",
                                  "from", "", "", "");
    const auto line = [&](const char* name, const std::string& value, const std::string& origin) {
        out += fmt::format("{:<15}  {:<32}  {}\n", name, printable(value), printable(origin));
    };
    const std::string own_market = of.market() ? "the book's, as of " + of.market()->as_of() : "none";
    line("market", market.value.empty() ? own_market : market.value, market.origin);
    line("paths", std::to_string(paths.value), paths.origin);
    line("seed", std::to_string(seed.value), seed.origin);
    line("threads",
         threads.value == 0 ? fmt::format("all cores ({})", std::max(1U, std::thread::hardware_concurrency()))
                            : std::to_string(threads.value),
         threads.origin);
    const std::vector<std::string> sets = engine::instruction_sets();
    line("instruction_set",
         instruction_set.value == "auto" && !sets.empty() ? "auto (" + sets.front() + ")"
                                                          : instruction_set.value,
         instruction_set.origin);
    line("format", name_of(format.value), format.origin);
    line("output", output.value == "-" ? "standard output" : output.value, output.origin);
    return out;
}

environment process_environment() {
    return [](const char* name) -> const char* { return std::getenv(name); };
}

std::vector<std::string> misspelt_variables() {
    std::vector<std::string> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!text.starts_with(prefix)) continue;
        const std::string name(text.substr(prefix.size(), text.find('=') - prefix.size()));
        if (std::ranges::find(variable_names, name) != variable_names.end()) continue;
        if (const std::string near = nearest_name(name, variable_names); !near.empty())
            out.push_back(fmt::format("the environment variable {0}{1} is not known; did you mean {0}{2}?",
                                      prefix, name, near));
    }
    return out;
}

}  // namespace tilewalk::cli
