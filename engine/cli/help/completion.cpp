// SPDX-License-Identifier: Apache-2.0
// tilewalk completion: prints scripts for shells, and the words that these ask for while the user types.
#include "engine/cli/help/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"
#include "tilewalk/market.h"
#include "tilewalk/products.h"
#include "tilewalk/value.h"

namespace tilewalk::cli {

namespace {

constexpr std::array shells{completed_shell{"bash", bash_completion}, completed_shell{"zsh", zsh_completion}};

std::vector<std::string> trades_of(const std::string& file) {
    std::vector<std::string> out;
    const value book = book::load(file).written();
    for (const value& trade : book.find("trades")->items())
        if (const value* id = trade.is_mapping() ? trade.find("id") : nullptr) out.push_back(id->text());
    return out;
}

std::vector<std::string> keys_of(const std::string& file) {
    const value root = value::parse(text_of_file(file, "a market"), file);
    const bool is_book = root.is_mapping() && root.find("trades") != nullptr;
    const std::optional<market> in = is_book ? book::load(file).market() : market::load(file);
    std::vector<std::string> out;
    if (in)
        for (const market_number& n : in->numbers()) out.push_back(n.key);
    return out;
}

struct asked_words {
    std::string_view name;
    std::vector<std::string> (*of)(const std::string& file);
};
constexpr std::array lists{asked_words{"trades", trades_of}, asked_words{"keys", keys_of}};

template <class catalogue>
std::vector<std::string> names_of(const catalogue& all) {
    std::vector<std::string> out;
    for (const auto& entry : all) out.emplace_back(entry.name);
    return out;
}

struct completion_arguments {
    std::string what, file;
};

int complete(const completion_arguments& asked, CLI::App& app, const std::vector<command>& commands) {
    const auto shell = std::ranges::find(shells, std::string_view(asked.what), &completed_shell::name);
    const auto list = std::ranges::find(lists, std::string_view(asked.what), &asked_words::name);
    if (shell != shells.end()) {
        if (!asked.file.empty())
            throw error(error_kind::usage,
                        "found FILE for a shell's script, expected it for trades or keys only");
        output("-").write(shell->script(described(app, commands)));
        return all_well;
    }
    if (list == lists.end()) {
        std::vector<std::string> known = names_of(shells);
        for (std::string& name : names_of(lists)) known.push_back(std::move(name));
        throw error(error_kind::usage, "WHAT: found '" + asked.what + "'" +
                                           suggestion(asked.what, known, ",") + " expected " + joined(known));
    }
    std::string text;
    for (const std::string& word : list->of(parse_file(asked.file, "FILE"))) text += word + "\n";
    output("-").write(text);
    return all_well;
}

}  // namespace

std::span<const completed_shell> completed_shells() {
    return shells;
}

std::string shell_word(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

command add_completion(CLI::App& to, const std::vector<command>& all) {
    CLI::App* app =
        to.add_subcommand("completion", "Print a script for shell completion, or the words that it offers")
            ->group("Commands");
    const auto asked = std::make_shared<completion_arguments>();
    std::vector<std::string> words = names_of(shells);
    for (std::string& name : names_of(lists)) words.push_back(std::move(name));
    offers(
        app->add_option("WHAT", asked->what,
                        "bash or zsh: a script for that shell; trades: the ids of a book's trades; keys: the "
                        "keys of a market"),
        words)
        ->required();
    offers_files(app->add_option("FILE", asked->file, "For trades a book; for keys a book or a market"),
                 {".yaml", ".yml"});
    app->footer(
        "'make install' installs the scripts. Without it:\n"
        "  source <(tilewalk completion bash)              # in ~/.bashrc\n"
        "  tilewalk completion zsh > ~/.zfunc/_tilewalk    # a folder of fpath\n\n"
        "The script offers the commands, options and choices of the program that printed it. For trade ids "
        "and\n"
        "market keys it runs:\n"
        "  tilewalk completion trades book.yaml\n"
        "  tilewalk completion keys book.yaml\n\n"
        "Exit codes: 0 all is well, 2 wrong input; " +
        exit_code_hint());
    return {app, [asked, &to, &all] { return complete(*asked, to, all); }};
}

}  // namespace tilewalk::cli
