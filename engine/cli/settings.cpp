// SPDX-License-Identifier: Apache-2.0
// Strict parsing of options and environment variables, and the order in which they override each other.
#include "engine/cli/settings.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "tilewalk/devices.h"
#include "tilewalk/error.h"
#include "tilewalk/printable.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

// Suggests the nearest name first, as the list of expected ones may be long.
[[noreturn]] void refuse_word(const std::string& origin, const std::string& text, const std::string& expected,
                              const std::vector<std::string>& known) {
    throw error(error_kind::usage, fmt::format("{}: found {}{} expected {}", origin, quoted(text),
                                               suggestion(text, known, ","), expected));
}

std::vector<std::string> instruction_set_words() {
    std::vector<std::string> words = engine::instruction_sets();
    words.insert(words.begin(), "auto");
    return words;
}

std::string parse_instruction_set(const std::string& text, const std::string& origin) {
    const std::vector<std::string> known = instruction_set_words();
    if (std::ranges::find(known, text) == known.end())
        refuse_word(origin, text, "one that this build has and this machine can run: " + joined(known),
                    known);
    return text;
}

const std::vector<std::string> endings{".txt", ".csv", ".json", ".parquet"};

std::string name_of(result_format format) {
    return result_format_words()[static_cast<std::size_t>(format)];
}

template <class Format>
Format parse(const std::string& text, const std::string& origin, const std::vector<std::string>& known) {
    const auto at = std::ranges::find(known, text);
    if (at == known.end()) refuse_word(origin, text, joined(known), known);
    return static_cast<Format>(at - known.begin());
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

constexpr std::string_view prefix = "TILEWALK_";

// Returns the names, after the prefix, of the environment variables that the command or the library reads.
std::vector<std::string> variable_names() {
    std::vector<std::string> names{"MARKET",    "STRICT", "CONFINE", "INSTRUCTION_SET", "FORMAT",
                                   "CACHE_DIR", "COMMIT", "PEERS",   "BEFORE"};
    for (const auto& known : setting_table()) names.push_back(known.variable().substr(prefix.size()));
    return names;
}

std::string placeholder(const run_setting& of) {
    switch (of.takes) {
        case run_setting::value_type::count:
            return "N";
        case run_setting::value_type::bytes:
            return "BYTES";
        case run_setting::value_type::devices:
            return "WHERE";
        case run_setting::value_type::choice:
            return of.is_number() ? "N" : "NAME";
        case run_setting::value_type::file:
            return "FILE";
        case run_setting::value_type::accuracy:
            return "X";
        case run_setting::value_type::share:
            return "SHARE";
        case run_setting::value_type::duration:
            return "TIME";
    }
    return {};
}

std::string help_of(const run_setting& of) {
    const std::string choices = of.takes == run_setting::value_type::choice ? joined(of.choices) : "";
    const std::string preset = of.preset.empty() ? "" : "default " + of.preset;
    if (choices.empty() && preset.empty()) return of.meaning;
    return of.meaning + " (" + choices + (choices.empty() || preset.empty() ? "" : "; ") + preset + ")";
}

std::string preset_text(const run_setting& of) {
    if (of.name == "threads") return fmt::format("all cores ({})", usable_cores());
    if (!of.preset.empty()) return of.preset;
    return of.of == run_setting::part::gpu ? "set by prefetch" : "none";
}

// Applies the environment variable, then the option over it, if set. An empty variable counts as not set.
template <class Value, class Parse>
void offer(setting<Value>& to, const std::optional<std::string>& option, const std::string& option_name,
           const environment& variables, const char* variable_name, Parse parse) {
    if (const char* text = variables(variable_name); text != nullptr && *text != '\0')
        to.offer(parse(text, variable_name), source::environment, variable_name);
    if (option) to.offer(parse(*option, option_name), source::option, option_name);
}

setting<bool> resolve_flag(bool is_said, const std::string& option_name, const environment& variables,
                           const char* variable_name) {
    setting<bool> flag{false};
    const auto parse = [](const std::string& text, const std::string& origin) {
        if (text != "true" && text != "false") refuse_value(origin, text, "true or false");
        return text == "true";
    };
    offer(flag, is_said ? std::optional<std::string>("true") : std::nullopt, option_name, variables,
          variable_name, parse);
    return flag;
}

void resolve_run(settings& s, const spoken& options, const environment& variables,
                 const run_settings& of_book, const std::string& book_name) {
    for (std::size_t i = 0; i < options.run.size(); ++i) {
        const run_setting& known = setting_table()[i];
        origin& from = s.run_origins.emplace_back();
        if (known.text(of_book)) from = {source::book, book_name};
        const auto take = [&](const std::string& text, source by, const std::string& name) {
            if (const auto wrong = known.read(text, s.run))
                throw error(error_kind::usage, fmt::format("{}: found {}{}", name, quoted(text), *wrong));
            from = {by, name};
        };
        const std::string variable = known.variable();
        if (const char* text = variables(variable.c_str()); text != nullptr && *text != '\0')
            take(text, source::environment, variable);
        if (options.run[i]) take(*options.run[i], source::option, known.option());
    }
}

void resolve_output(settings& s, const spoken& options, const environment& variables,
                    bool stdout_is_terminal) {
    if (options.journal)
        s.journal.offer(parse_file(*options.journal, "--journal"), source::option, "--journal");
    if (options.output) s.output.offer(parse_file(*options.output, "--output"), source::option, "--output");

    // The ending of --output counts as an option, which beats the environment; --format beats both.
    const bool to_terminal = s.output.value == "-" && stdout_is_terminal;
    s.format = {to_terminal ? result_format::table : result_format::csv,
                {source::preset, to_terminal ? "default on a terminal" : "default off a terminal"}};
    offer(s.format, {}, "", variables, "TILEWALK_FORMAT", parse_result_format);
    if (const auto by_ending = result_format_of_ending(s.output.value))
        s.format.offer(*by_ending, source::option, "the ending of --output");
    if (options.format)
        s.format.offer(parse_result_format(*options.format, "--format"), source::option, "--format");
    if (s.format.from.from == source::preset) refuse_unknown_ending(s.output.value);
    if (to_terminal && s.format.value == result_format::parquet)
        throw error(error_kind::usage,
                    s.format.from.name + ": parquet is binary; write it to a file, --output FILE, or a pipe");
}

std::string gpu_group() {
    std::string exceptions;
    for (const run_setting& known : setting_table()) {
        if (known.of != run_setting::part::gpu || !known.decides_bits) continue;
        exceptions += (exceptions.empty() ? " but for " : " and ") + known.name;
    }
    return "GPU; no price depends on these" + exceptions;
}

}  // namespace

void refuse_value(const std::string& origin, const std::string& found, const std::string& expected) {
    throw error(error_kind::usage, fmt::format("{}: found {}, expected {}", origin, quoted(found), expected));
}

void add_load_options(CLI::App& to, spoken& into, const std::string& also_strict) {
    to.add_flag("--strict", into.strict,
                "Refuse files that may be truncated: each must end with a line '...', or, if it is a book, "
                "state its trade_count" +
                    also_strict);
    to.add_flag("--confine", into.confine,
                "Refuse files that name files outside their own folder; symbolic links are followed");
}

namespace {

// Parses a change such as "ACME.spot=-5". The key ends at the last "=".
market_change parse_change(const std::string& text, const std::string& option, market_change::way is) {
    const std::size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0)
        refuse_value(option, text, "a market key, = and a number, such as ACME.spot=-5");
    market_change out{text.substr(0, at), 0, is};
    const char* const begin = text.data() + at + 1;
    const char* const end = text.data() + text.size();
    // Skips a plus sign, which users write in front of a shift and from_chars rejects.
    const auto [stop, status] =
        std::from_chars(begin + (begin != end && *begin == '+' ? 1 : 0), end, out.amount);
    if (status != std::errc{} || stop != end || !std::isfinite(out.amount))
        refuse_value(option, text, "a finite number behind the =, such as ACME.spot=-5");
    return out;
}

}  // namespace

void add_change_options(CLI::App& to, std::vector<market_change>& into) {
    const auto add = [&](const std::string& option, market_change::way is, const std::string& help) {
        to.add_option_function<std::vector<std::string>>(
              option,
              [&into, option, is](const std::vector<std::string>& texts) {
                  for (const std::string& text : texts) into.push_back(parse_change(text, option, is));
              },
              help)
            ->type_name("KEY=NUMBER")
            ->allow_extra_args(false);
    };
    add("--shift", market_change::way::shift,
        "Add this to a number of the market; may be repeated. 'tilewalk market FILE --keys' lists the keys");
    add("--set", market_change::way::set, "Set a number of the market to this; may be repeated");
}

namespace {

void add_settings(CLI::App& to, spoken& into, const std::function<bool(const run_setting&)>& has) {
    offers(to.add_option("--instruction-set", into.instruction_set,
                         "Instruction set of the CPU: auto or a name. No price depends on it"),
           instruction_set_words())
        ->type_name("NAME");
    for (std::size_t i = 0; i < into.run.size(); ++i) {
        const run_setting& known = setting_table()[i];
        if (!has(known)) continue;
        CLI::Option* const option =
            to.add_option(known.option(), into.run[i], help_of(known))->type_name(placeholder(known));
        if (known.of == run_setting::part::gpu) option->group(gpu_group());
        if (!known.choices.empty()) offers(option, known.choices);
    }
    to.set_help_all_flag("--help-gpu", "Print the options for GPUs and exit");
    add_quiet(to);
}

}  // namespace

void add_book_options(CLI::App& to, spoken& into) {
    to.add_option("--trade", into.trades,
                  "Only the trade with this id; may be repeated. Its figures stay the same, bit for bit")
        ->type_name("ID")
        ->allow_extra_args(false);
    offers_files(
        to.add_option("--market", into.market, "Market to use instead of the one that the book names"),
        {".yaml", ".yml"})
        ->type_name("FILE");
    add_change_options(to, into.changes);
    add_load_options(to, into, ". Refuse trades that need a correlation which the market does not state");
    to.add_flag("--print-config", into.print_config, "Print every setting with its source and exit");
    add_settings(to, into, [](const run_setting&) { return true; });
}

void add_machine_options(CLI::App& to, spoken& into) {
    add_settings(to, into, [](const run_setting& known) { return !known.decides_bits; });
}

void add_quiet(CLI::App& to) {
    to.add_flag_callback("--quiet", be_quiet, "Print nothing but errors to standard error");
}

std::string help_text(CLI::App& of, const std::string& before, bool of_gpus) {
    const std::string gpus = gpu_group();
    for (CLI::Option* option : of.get_options()) {
        if ((option->get_group() == gpus) != of_gpus) option->group("");  // an empty group hides it
    }
    if (of_gpus) of.footer("'tilewalk " + of.get_name() + " --help' lists the other options.");
    return of.help(before, CLI::AppFormatMode::Normal);
}

std::string ranking_text() {
    return "An option overrides its environment variable (TILEWALK_PATHS for --paths), which overrides the "
           "settings\n"
           "of the book (paths), which override the defaults.\n";
}

std::string parse_file(const std::string& text, const std::string& origin) {
    if (text.empty()) refuse_value(origin, text, "the name of a file");
    return text;
}

output_format parse_format(const std::string& text, const std::string& origin) {
    return parse<output_format>(text, origin, format_words());
}

result_format parse_result_format(const std::string& text, const std::string& origin) {
    return parse<result_format>(text, origin, result_format_words());
}

std::string ending_of(const std::string& file) {
    return lower(std::filesystem::path(file).extension().string());
}

bool is_regular_or_new(const std::string& file) {
    std::error_code unknown;
    const auto is = std::filesystem::status(file, unknown).type();
    return file != "-" &&
           (is == std::filesystem::file_type::regular || is == std::filesystem::file_type::not_found ||
            is == std::filesystem::file_type::none);
}

std::optional<result_format> result_format_of_ending(const std::string& file) {
    const auto at = std::ranges::find(endings, ending_of(file));
    if (at == endings.end()) return {};
    return static_cast<result_format>(at - endings.begin());
}

std::optional<output_format> format_of_ending(const std::string& file) {
    const auto found = result_format_of_ending(file);
    if (!found || static_cast<std::size_t>(*found) >= format_words().size()) return {};
    return static_cast<output_format>(*found);
}

void refuse_ending(const std::string& file, const std::vector<std::string>& expected,
                   const std::string& otherwise, const std::string& option) {
    if (!is_regular_or_new(file)) return;
    const std::string ending = ending_of(file);
    throw error(error_kind::usage,
                fmt::format("{}: found '{}', which {}{} expected {}{}", option, file,
                            ending.empty() ? "has no ending" : "ends in '" + ending + "'",
                            suggestion(ending, expected, ";"), joined(expected), otherwise));
}

void refuse_unknown_ending(const std::string& file, const std::string& option) {
    if (result_format_of_ending(file)) return;
    refuse_ending(file, endings, option == "--output" ? ", or --format with any ending" : "", option);
}

std::size_t parse_count(const std::string& text, const std::string& option, std::size_t most) {
    std::size_t count = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (code != std::errc() || end != text.data() + text.size() || count < 1 || count > most)
        refuse_value(option, text, fmt::format("a whole number from 1 to {}", most));
    return count;
}

std::string quoted(const std::string& text) {
    constexpr std::size_t most = 60;
    std::size_t end = std::min(text.size(), most);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    return "'" + text.substr(0, end) + (end < text.size() ? "...'" : "'");
}

std::string suggestion(const std::string& wrong, const std::vector<std::string>& known,
                       const std::string& otherwise) {
    const std::string near = tilewalk::suggestion(wrong, known);
    return near.empty() ? otherwise : near;
}

setting<bool> resolve_strict(const spoken& options, const environment& variables) {
    return resolve_flag(options.strict, "--strict", variables, "TILEWALK_STRICT");
}

setting<bool> resolve_confine(const spoken& options, const environment& variables) {
    return resolve_flag(options.confine, "--confine", variables, "TILEWALK_CONFINE");
}

setting<std::string> resolve_instruction_set(const spoken& options, const environment& variables) {
    setting<std::string> s{"auto"};
    offer(s, options.instruction_set, "--instruction-set", variables, "TILEWALK_INSTRUCTION_SET",
          parse_instruction_set);
    return s;
}

namespace {

std::optional<std::string> said(const run_setting& of, const spoken& options, const environment& variables) {
    if (const auto& option = options.run[static_cast<std::size_t>(&of - setting_table().data())])
        return option;
    const char* const text = variables(of.variable().c_str());
    return text != nullptr && *text != '\0' ? std::optional<std::string>(text) : std::nullopt;
}

const run_setting& setting_named(std::string_view name) {
    return *std::ranges::find(setting_table(), name, &run_setting::name);
}

}  // namespace

load_options resolve_load(const spoken& options, const environment& variables) {
    load_options out{resolve_strict(options, variables).value, resolve_confine(options, variables).value};
    // A text that is no number is ignored here: resolve_settings() refuses it later.
    const run_setting& threads = setting_named("threads");
    run_settings of_reading;
    if (const auto text = said(threads, options, variables); text && !threads.read(*text, of_reading))
        out.threads = of_reading.threads.value_or(0);
    return out;
}

std::optional<std::string> said_device(const spoken& options, const environment& variables) {
    return said(setting_named("device"), options, variables);
}

settings resolve_settings(const spoken& options, const environment& variables, const book& of,
                          const std::string& book_name, bool stdout_is_terminal) {
    settings s;
    s.strict = resolve_strict(options, variables);
    s.confine = resolve_confine(options, variables);
    if (of.market()) s.market.offer("", source::book, book_name);
    offer(s.market, options.market, "--market", variables, "TILEWALK_MARKET", parse_file);
    s.instruction_set = resolve_instruction_set(options, variables);
    resolve_run(s, options, variables, of.settings(), book_name);
    resolve_output(s, options, variables, stdout_is_terminal);
    return s;
}

settings resolve_settings(const spoken& options, const environment& variables, bool stdout_is_terminal) {
    settings s;
    offer(s.instruction_set, options.instruction_set, "--instruction-set", variables,
          "TILEWALK_INSTRUCTION_SET", parse_instruction_set);
    const environment no_others = [&](const char* name) -> const char* {
        const bool decides = std::ranges::any_of(setting_table(), [&](const run_setting& known) {
            return known.decides_bits && known.variable() == name;
        });
        return decides ? nullptr : variables(name);
    };
    resolve_run(s, options, no_others, {}, "");
    resolve_output(s, options, variables, stdout_is_terminal);
    return s;
}

run_options settings::options() const {
    run_options with;
    with.overrides = run;
    with.demand_correlations = strict.value;
    with.journal = journal.value;
    return with;
}

std::string settings::text(const book& of) const {
    std::string out = fmt::format("{:<15}  {:<32}  {}\n{:-<15}  {:-<32}  {:-<22}\n", "setting", "value",
                                  "from", "", "", "");
    const auto line = [&](const std::string& name, const std::string& value, const origin& from) {
        out += fmt::format("{:<15}  {:<32}  {}\n", name, printable(value), printable(from.name));
    };
    const std::string own_market = of.market() ? "the book's, as of " + of.market()->as_of() : "none";
    line("market", market.value.empty() ? own_market : market.value, market.from);
    line("strict", strict.value ? "true" : "false", strict.from);
    line("confine", confine.value ? "true" : "false", confine.from);
    const std::vector<std::string> sets = engine::instruction_sets();
    line("instruction_set",
         instruction_set.value == "auto" && !sets.empty() ? "auto (" + sets.front() + ")"
                                                          : instruction_set.value,
         instruction_set.from);
    const run_settings said = over(run, of.settings());
    for (std::size_t i = 0; i < run_origins.size(); ++i) {
        const run_setting& known = setting_table()[i];
        const std::string value = known.text(said).value_or(known.preset);
        line(known.name, value == known.preset ? preset_text(known) : value, run_origins[i]);
    }
    line("format", name_of(format.value), format.from);
    line("journal", journal.value.empty() ? "none" : journal.value, journal.from);
    line("output", output.value == "-" ? "standard output" : output.value, output.from);
    return out;
}

environment process_environment() {
    return [](const char* name) -> const char* { return std::getenv(name); };
}

std::vector<std::string> misspelt_variables() {
    const std::vector<std::string> known = variable_names();
    std::vector<std::string> out;
    const auto complain_of = [&](std::string_view found, const std::string& near) {
        out.push_back(
            fmt::format("the environment variable {} is not known; did you mean {}{}?", found, prefix, near));
    };
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string whole(text.substr(0, text.find('=')));
        std::string upper = whole;
        for (char& c : upper)
            if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        // Finds a known name after a prefix that is nearly TILEWALK_, or with small letters.
        const auto bar = upper.find('_');
        if (bar == std::string::npos) continue;
        const std::string first = upper.substr(0, bar + 1), name = upper.substr(bar + 1);
        const bool is_known = std::ranges::find(known, name) != known.end();
        if (!whole.starts_with(prefix)) {
            if (is_known && !nearest_name(first, {std::string(prefix)}).empty()) complain_of(whole, name);
            continue;
        }
        if (is_known && upper == whole) continue;
        if (const std::string near = is_known ? name : nearest_name(name, known); !near.empty())
            complain_of(whole, near);
    }
    return out;
}

}  // namespace tilewalk::cli
