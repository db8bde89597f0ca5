// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/help/layout.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>

namespace tilewalk::cli {

namespace {

constexpr std::size_t text_column = 28, command_column = 14;

struct option_group {
    std::string_view title;
    std::vector<std::string_view> options;  // in the order on the page
};

// Options that are not listed here, such as those of a single command, come first in the first group.
const std::vector<option_group>& option_groups() {
    static const std::vector<option_group> groups{
        {"Options",
         {"paths", "seed", "tolerance", "trade", "market", "output", "format", "report", "threads", "device",
          "help-gpu", "help"}},
        {"Sensitivities", {"greeks-method", "view"}},
        {"Output",
         {"totals", "files", "explain", "tiles", "metrics", "spreadsheet-safe", "timings", "quiet"}},
        {"Market", {"shift", "set"}},
        {"Run",
         {"workers", "journal", "budget", "confidence", "precision", "instruction-set", "decisions",
          "replay"}},
        {"Random numbers and variance",
         {"random", "randomisations", "construction", "controls", "antithetic", "preintegration",
          "importance"}},
        {"Early exercise", {"save-policy", "policy", "training-paths", "upper"}},
        {"Checks", {"strict", "confine", "print-config"}},
    };
    return groups;
}

std::string name_of(const CLI::Option& option) {
    return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

// Fills lines with the words of `text`: the first begins with `head`, all others at the column `margin`.
std::string filled(std::string head, const std::string& text, std::size_t margin) {
    std::string out, line = std::move(head);
    bool begins = true;
    std::istringstream words(text);
    for (std::string word; words >> word; begins = false) {
        if (!begins && line.size() + 1 + word.size() > help_columns) {
            out += line + '\n';
            line.assign(margin, ' ');
            begins = true;
        }
        line += (begins ? "" : " ") + word;
    }
    return out + line + '\n';
}

// Puts a name on the left and its text in the column `margin`, a line lower if the name is too long.
std::string entry(std::string name, const std::string& text, std::size_t margin) {
    name = "  " + name;
    if (text.empty()) return name + '\n';
    if (name.size() + 2 > margin) return name + '\n' + filled(std::string(margin, ' '), text, margin);
    name.resize(margin, ' ');
    return filled(std::move(name), text, margin);
}

// Keeps an indented line as it is, but breaks a long one: the rest goes below the first word of its text.
std::string kept(const std::string& line) {
    if (line.size() <= help_columns) return line + '\n';
    const std::size_t begin = line.find_first_not_of(' ');
    const std::size_t gap = line.find("  ", begin);
    const std::size_t margin = gap == std::string::npos ? begin : line.find_first_not_of(' ', gap);
    return filled(line.substr(0, margin), line.substr(margin),
                  gap == std::string::npos ? margin + 2 : margin);
}

std::string list_of(const std::set<CLI::Option*>& options) {
    std::string out;
    std::set<std::string> names;  // sorted by name, as `options` is by address
    for (const CLI::Option* one : options) names.insert("--" + name_of(*one));
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

}  // namespace

std::string group_of(const CLI::Option& option) {
    if (option.get_group() != "Options") return option.get_group();
    return std::string(option_groups()[place_of(option).first].title);
}

std::pair<std::size_t, std::size_t> place_of(const CLI::Option& option) {
    const std::vector<option_group>& groups = option_groups();
    if (option.get_group() != "Options") return {groups.size(), 0};
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto at = std::ranges::find(groups[i].options, name_of(option));
        if (at != groups[i].options.end())
            return {i, 1 + static_cast<std::size_t>(at - groups[i].options.begin())};
    }
    return {0, 0};
}

std::string text_of(const CLI::Option& option) {
    std::string out = option.get_description();
    if (!option.get_needs().empty()) out += " (only with " + list_of(option.get_needs()) + ")";
    if (!option.get_excludes().empty()) out += " (not with " + list_of(option.get_excludes()) + ")";
    return out;
}

help_page::help_page() {
    label("TEXT", "");
    label("OPTIONS", "OPTION...");
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
}

std::string help_page::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
    const std::string footer = make_footer(app);
    return filled("", app->get_description(), 0) + make_usage(app, std::move(name)) + make_positionals(app) +
           groups_of(*app) + make_subcommands(app, mode) + (footer.empty() ? "" : "\n" + footer);
}

std::string help_page::make_option(const CLI::Option* option, bool is_positional) const {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), text_of(*option),
                 text_column);
}

std::string help_page::make_option_opts(const CLI::Option* option) const {
    if (option->get_type_size() == 0) return {};
    const bool repeats = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string value = get_label(option->get_type_name());
    return (value.empty() ? "" : " " + value) + (repeats ? " ..." : "");
}

std::string help_page::make_subcommand(const CLI::App* command) const {
    return entry(command->get_name(), command->get_description(), command_column);
}

std::string help_page::make_footer(const CLI::App* app) const {
    std::string out, paragraph;
    const auto end_paragraph = [&] {
        if (!paragraph.empty()) out += filled("", paragraph, 0);
        paragraph.clear();
    };
    std::istringstream lines(app->get_footer());
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.front() != ' ') {
            paragraph += line + '\n';
            continue;
        }
        end_paragraph();
        out += kept(line);
    }
    end_paragraph();
    return out;
}

std::string help_page::groups_of(const CLI::App& app) const {
    std::vector<const CLI::Option*> options = app.get_options(
        [](const CLI::Option* option) { return option->nonpositional() && !group_of(*option).empty(); });
    std::ranges::stable_sort(options, {}, [](const CLI::Option* option) { return place_of(*option); });
    std::string out, title;
    for (const CLI::Option* option : options) {
        if (const std::string next = group_of(*option); next != title) {
            title = next;
            out += "\n" + title + ":\n";
        }
        out += make_option(option, false);
    }
    return out;
}

}  // namespace tilewalk::cli
