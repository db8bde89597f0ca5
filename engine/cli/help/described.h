// SPDX-License-Identifier: Apache-2.0
// Commands described by values, as --help shows them. Shell completion and man pages are made from these.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/help/offers.h"

namespace tilewalk::cli {

struct described_option {
    std::vector<std::string> names{};  // such as "-o" and "--output"; empty for a positional argument
    std::string value{};               // placeholder, such as FILE; empty for a flag
    std::string help{};
    std::string group{};  // title in --help, such as "Run"
    bool is_needed = false;
    bool is_list = false;  // true if it takes values separated by commas
    bool repeats = false;
    offered_values offered{};

    bool is_argument() const { return names.empty(); }
    bool takes_value() const { return !value.empty() && !names.empty(); }
};

struct described_command {
    std::string name{}, summary{}, group{};
    std::vector<described_option> options{};  // with positional arguments, in the order of --help
    std::string footer{};                     // examples and exit codes
};

struct described_program {
    described_command itself;  // the options in front of a command
    std::vector<described_command> commands;
};

// The argument that makes a command print its description as JSON instead of running.
inline constexpr std::string_view description_option = "--description";

// Call this before help_text(), which hides options.
described_command described(CLI::App& app);
// Describes the program, and asks the programs beside it for their options; a missing one has none.
described_program described(CLI::App& app, const std::vector<command>& commands);

std::string json_of(const described_command& of);
// Reads what json_of() wrote. Throws tilewalk::error (internal) for other text.
described_command described_in(const std::string& json);

}  // namespace tilewalk::cli
