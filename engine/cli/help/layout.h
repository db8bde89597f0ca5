// SPDX-License-Identifier: Apache-2.0
// The layout of help pages: options in groups, the most used first, and lines of at most 80 columns.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tilewalk::cli {

inline constexpr std::size_t help_columns = 80;

// Returns the title of the group that the option is listed in. An option without a group is hidden.
std::string group_of(const CLI::Option& option);
// Returns the option's place on the page: its group, and its rank in the group.
std::pair<std::size_t, std::size_t> place_of(const CLI::Option& option);
// Returns the option's description, with the options that it needs or excludes.
std::string text_of(const CLI::Option& option);

class help_page : public CLI::Formatter {
  public:
    help_page();
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_option(const CLI::Option* option, bool is_positional) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;
    std::string make_footer(const CLI::App* app) const override;

  private:
    std::string groups_of(const CLI::App& app) const;
};

}  // namespace tilewalk::cli
