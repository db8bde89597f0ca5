// SPDX-License-Identifier: Apache-2.0
// The commands as --help tells of them, as values: completion for shells and man pages are made from these.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/help/offers.h"

namespace tilewalk::cli {

struct described_option {
    std::vector<std::string> names{};  // "-o", "--output"; none: an argument by its place
    std::string value{};               // the word for it: FILE; empty: a flag
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
    std::vector<described_option> options{};  // arguments too, in their order
    std::string footer{};                     // examples, exit codes
};

struct described_program {
    described_command itself;  // the options before any command
    std::vector<described_command> commands;
};

// This is the argument by which a command tells its description, as JSON, instead of running.
inline constexpr std::string_view description_option = "--description";

// Its help_text must not have been asked for before: that hides options.
described_command described(CLI::App& app);
// Asks the programs beside this one for theirs; one that is not there has no options.
described_program described(CLI::App& app, const std::vector<command>& commands);

std::string json_of(const described_command& of);
// Throws tilewalk::error (internal) for a text that json_of() has not made.
described_command described_in(const std::string& json);

}  // namespace tilewalk::cli
