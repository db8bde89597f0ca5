// SPDX-License-Identifier: Apache-2.0
// Commands as values, as --help describes them: the source of shell completion and of man pages.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/help/offers.h"

namespace tilewalk::cli {

struct described_option {
    std::vector<std::string> names{};  // "-o", "--output"; empty for a positional argument
    std::string value{};               // placeholder, such as FILE; empty for a flag
    std::string help{};
    std::string group{};  // "Run"
    bool is_needed = false;
    bool is_list = false;  // values separated by commas
    bool repeats = false;
    offered_values offered{};

    bool is_argument() const { return names.empty(); }
    bool takes_value() const { return !value.empty() && !names.empty(); }
};

struct described_command {
    std::string name{}, summary{}, group{};
    std::vector<described_option> options{};  // positional arguments too, in the order of --help
    std::string footer{};                     // examples, exit codes
};

struct described_program {
    described_command itself;  // the options before any command
    std::vector<described_command> commands;
};

// With this argument a command prints its description as JSON instead of running.
inline constexpr std::string_view description_option = "--description";

// Call before help_text, which hides options.
described_command described(CLI::App& app);
// Asks the programs beside this one for their options; a program that is missing has none.
described_program described(CLI::App& app, const std::vector<command>& commands);

std::string json_of(const described_command& of);
// Throws tilewalk::error (internal) for text that json_of() did not write.
described_command described_in(const std::string& json);

}  // namespace tilewalk::cli
