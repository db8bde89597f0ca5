// SPDX-License-Identifier: Apache-2.0
// The settings of a run and the source of each: options beat the environment, which beats the book, which
// beats the defaults.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/write.h"

namespace tilewalk::cli {

// Options as typed; empty if not typed.
struct spoken {
    std::optional<std::string> market, instruction_set, format, output, journal;
    std::vector<std::optional<std::string>> run =
        std::vector<std::optional<std::string>>(setting_table().size());  // in the order of the table
    std::vector<std::string> trades;                                      // empty for all
    std::vector<market_change> changes;
    bool strict = false, confine = false;
    bool print_config = false;
};

// Adds --strict and --confine. `also_strict` describes further effects of --strict.
void add_load_options(CLI::App& to, spoken& into, const std::string& also_strict = {});
// Adds the options of every command with a book: the market, the settings of a run, the instruction set and
// --print-config.
void add_book_options(CLI::App& to, spoken& into);
// Adds the options that no price depends on: devices, threads, and how memory is read.
void add_machine_options(CLI::App& to, spoken& into);
void add_change_options(CLI::App& to, std::vector<market_change>& into);
void add_quiet(CLI::App& to);
// A help page without the options for GPUs, or with these alone. `of` can't be used afterwards.
std::string help_text(CLI::App& of, const std::string& before, bool of_gpus);
std::string ranking_text();

// Throws tilewalk::error (usage) that names what was found at `origin`, such as "--paths", and what is
// expected there.
[[noreturn]] void refuse_value(const std::string& origin, const std::string& found,
                               const std::string& expected);

enum class source { preset, book, environment, option };

struct origin {
    source from = source::preset;
    std::string name = "default";  // "--paths", "TILEWALK_PATHS", "book.yaml"
};

template <class Value>
struct setting {
    Value value;
    origin from{};

    void offer(Value offered, source by, const std::string& named) {
        if (by < from.from) return;
        value = std::move(offered);
        from = {by, named};
    }
};

// Forms of the results of a run: those of output_format, in its order, and Parquet.
enum class result_format { table, csv, json, parquet };

struct settings {
    setting<std::string> market{};  // a file; empty for the market of the book
    setting<bool> strict{false}, confine{false};
    setting<std::string> instruction_set{"auto"};
    setting<result_format> format{result_format::csv};
    setting<std::string> output{"-"};
    setting<std::string> journal{};   // a folder; empty if no journal is kept
    run_settings run;                 // overrides of the book
    std::vector<origin> run_origins;  // in the order of the table

    run_options options() const;
    std::string text(const book& of) const;
};

using environment = std::function<const char*(const char*)>;

// Settings needed to read files, before the book's own settings are known. Throw as resolve_settings does.
setting<bool> resolve_strict(const spoken& options, const environment& variables);
setting<bool> resolve_confine(const spoken& options, const environment& variables);
setting<std::string> resolve_instruction_set(const spoken& options, const environment& variables);
load_options resolve_load(const spoken& options, const environment& variables);
// The device that an option or a variable sets; empty if neither does.
std::optional<std::string> said_device(const spoken& options, const environment& variables);

// Throws tilewalk::error (usage) that names the option or the variable.
settings resolve_settings(const spoken& options, const environment& variables, const book& of,
                          const std::string& book_name, bool stdout_is_terminal);

// For a command that continues a request whose book and settings are fixed: resolves the place and form of
// results, and the settings of add_machine_options.
settings resolve_settings(const spoken& options, const environment& variables, bool stdout_is_terminal);

environment process_environment();
std::vector<std::string> misspelt_variables();

// Throw tilewalk::error (usage) that names the origin.
std::string parse_file(const std::string& text, const std::string& origin);
output_format parse_format(const std::string& text, const std::string& origin);
result_format parse_result_format(const std::string& text, const std::string& origin);
std::optional<output_format> format_of_ending(const std::string& file);
std::optional<result_format> result_format_of_ending(const std::string& file);
std::string ending_of(const std::string& file);  // ".json", in lower case
// Throws tilewalk::error (usage) for a file with an unexpected ending. Standard output, devices and pipes
// need no ending. `otherwise` is a further suggestion in the message.
void refuse_ending(const std::string& file, const std::vector<std::string>& expected,
                   const std::string& otherwise = "", const std::string& option = "--output");
// Throws tilewalk::error (usage) if the ending stands for no format of results.
void refuse_unknown_ending(const std::string& file, const std::string& option = "--output");

// Parses a whole number from 1 to `most`. Throws tilewalk::error (usage) that names the option.
std::size_t parse_count(const std::string& text, const std::string& option, std::size_t most);

std::string quoted(const std::string& text);
// Returns "; did you mean 'price'?", or `otherwise`.
std::string suggestion(const std::string& wrong, const std::vector<std::string>& known,
                       const std::string& otherwise = "");

}  // namespace tilewalk::cli
