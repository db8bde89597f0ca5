// SPDX-License-Identifier: Apache-2.0
// The settings of a run, and where each is from: an option overrides the environment, the environment the
// book, and the book the defaults.
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

// Options as typed; empty if not given.
struct spoken {
    std::optional<std::string> market, instruction_set, format, output, journal;
    std::vector<std::optional<std::string>> run =
        std::vector<std::optional<std::string>>(setting_table().size());  // in the order of setting_table()
    std::vector<std::string> trades;                                      // empty for all
    std::vector<market_change> changes;
    bool strict = false, confine = false;
    bool print_config = false;
};

// Adds --strict and --confine. `also_strict` is what else the help says of --strict.
void add_load_options(CLI::App& to, spoken& into, const std::string& also_strict = {});
// Adds the options of every command with a book: the market, the settings of a run, the instruction set and
// --print-config.
void add_book_options(CLI::App& to, spoken& into);
// Adds the options that change no price: devices, threads and how kernels read memory.
void add_machine_options(CLI::App& to, spoken& into);
void add_change_options(CLI::App& to, std::vector<market_change>& into);
void add_quiet(CLI::App& to);
// Returns the help page, with the options for GPUs only if `of_gpus`, else with the others only. `of` can't
// be used afterwards.
std::string help_text(CLI::App& of, const std::string& before, bool of_gpus);
std::string ranking_text();

// Throws tilewalk::error (usage) that says what was found at `origin`, such as "--paths", and what is
// expected.
[[noreturn]] void refuse_value(const std::string& origin, const std::string& found,
                               const std::string& expected);

enum class source { preset, book, environment, option };

struct origin {
    source from = source::preset;
    std::string name = "default";  // such as "--paths", "TILEWALK_PATHS" or "book.yaml"
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

// Formats of results: those of output_format, in the same order, and Parquet.
enum class result_format { table, csv, json, parquet };

struct settings {
    setting<std::string> market{};  // file name; empty for the book's market
    setting<bool> strict{false}, confine{false};
    setting<std::string> instruction_set{"auto"};
    setting<result_format> format{result_format::csv};
    setting<std::string> output{"-"};
    setting<std::string> journal{};   // folder; empty for no journal
    run_settings run;                 // overrides the book's
    std::vector<origin> run_origins;  // in the order of setting_table()

    run_options options() const;
    std::string text(const book& of) const;
};

using environment = std::function<const char*(const char*)>;

// Find settings for reading files, while the book's own are not known. Throw as resolve_settings() does.
setting<bool> resolve_strict(const spoken& options, const environment& variables);
setting<bool> resolve_confine(const spoken& options, const environment& variables);
setting<std::string> resolve_instruction_set(const spoken& options, const environment& variables);
load_options resolve_load(const spoken& options, const environment& variables);
// Returns the device that an option or a variable sets; empty if neither does.
std::optional<std::string> said_device(const spoken& options, const environment& variables);

// Throws tilewalk::error (usage) that names the wrong option or variable.
settings resolve_settings(const spoken& options, const environment& variables, const book& of,
                          const std::string& book_name, bool stdout_is_terminal);

// Resolves only the place and form of results and the settings of add_machine_options(), for a command that
// continues a request with fixed settings.
settings resolve_settings(const spoken& options, const environment& variables, bool stdout_is_terminal);

environment process_environment();
std::vector<std::string> misspelt_variables();

// Parse the text of an option or a variable. Throw tilewalk::error (usage) that names `origin`.
std::string parse_file(const std::string& text, const std::string& origin);
output_format parse_format(const std::string& text, const std::string& origin);
result_format parse_result_format(const std::string& text, const std::string& origin);
std::optional<output_format> format_of_ending(const std::string& file);
std::optional<result_format> result_format_of_ending(const std::string& file);
std::string ending_of(const std::string& file);  // such as ".json", in small letters
// Throws tilewalk::error (usage) for a file whose ending is not expected. Standard output, devices and pipes
// need no ending. `otherwise` is appended to the message as a further suggestion.
void refuse_ending(const std::string& file, const std::vector<std::string>& expected,
                   const std::string& otherwise = "", const std::string& option = "--output");
// Throws tilewalk::error (usage) if no format of results has this ending.
void refuse_unknown_ending(const std::string& file, const std::string& option = "--output");

// Parses a whole number from 1 to `most`. Throws tilewalk::error (usage) that names the option.
std::size_t parse_count(const std::string& text, const std::string& option, std::size_t most);

std::string quoted(const std::string& text);
// Returns "; did you mean 'price'?" if a known name is near, else `otherwise`.
std::string suggestion(const std::string& wrong, const std::vector<std::string>& known,
                       const std::string& otherwise = "");

}  // namespace tilewalk::cli
