// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/program.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/cli/build_commit.h"
#include "engine/cli/commands.h"
#include "engine/cli/elsewhere.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/described.h"
#include "engine/cli/help/layout.h"
#include "engine/cli/help/man_pages.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/help/topics.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/interrupt.h"
#include "tilewalk/combinations.h"
#include "tilewalk/error.h"
#include "tilewalk/products.h"
#include "tilewalk/version.h"

namespace tilewalk::cli {

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// Returns the parser's message, in plainer words where there are some.
std::string explained(const CLI::ParseError& problem, const CLI::App& app) {
    for (const std::string& extra : app.remaining()) {
        if (!extra.starts_with("-") || extra == "-" || extra == "--") continue;
        const std::string name = extra.substr(0, extra.find('='));
        return fmt::format("unknown option {}{}", quoted(name), suggestion(name, option_names(app)));
    }
    for (const std::string& extra : app.remaining())
        if (extra != "--") return fmt::format("unexpected argument {}", quoted(extra));
    const std::string text = problem.what();
    if (problem.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return text;
    const bool missing = text.find("missing") != std::string::npos;
    return text.substr(0, text.find(':')) + (missing ? ": its value is missing" : ": given more than once");
}

std::string version_text() {
    const std::string cuda(cuda_version());
    return fmt::format("tilewalk {} (commit {}, {}, {})", version(), build_commit(), compiler(),
                       cuda.empty() ? "without CUDA" : "CUDA " + cuda);
}

struct topic {
    std::string_view name, summary;
    std::string (*text)();
};
constexpr std::array topics{
    topic{"combinations", "Which features combine with which studies, and why", combinations_text},
    topic{"exit-codes", "The meaning of exit codes", exit_code_text},
    topic{"market-keys", "The names of a market's numbers", market_keys_text},
    topic{"models", "The models of assets and interest rates", models_text},
    topic{"settings", "The settings of a run, with their defaults", settings_text},
};

std::string list_of_topics() {
    std::string out;
    for (const topic& t : topics) out += fmt::format("  {:<12} {}\n", t.name, t.summary);
    return out;
}

int write_man_pages(const described_program& of, const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw error(error_kind::io, "--man: can't make the folder: " + failed.message(), {folder});
    const std::vector<man_chapter> chapters{{"EXIT STATUS", exit_code_text(), true},
                                            {"ENVIRONMENT", ranking_text()}};
    for (const man_page& page : man_pages(of, std::string(version()), chapters))
        output((std::filesystem::path(folder) / page.file).string(), "--man").write(page.text);
    return all_well;
}

command add_help(CLI::App& to, std::vector<command>& all) {
    CLI::App* app = to.add_subcommand("help", "Explain a command or a topic")->group("Commands");
    const auto name = std::make_shared<std::string>();
    const auto model = std::make_shared<std::string>();
    const auto man = std::make_shared<std::optional<std::string>>();
    std::vector<std::string> known;
    for (const command& c : all) known.push_back(c.app->get_name());
    for (const topic& t : topics) known.emplace_back(t.name);
    offers(app->add_option("TOPIC", *name, "A command or one of the topics below; an overview if left out"),
           known);
    offers(app->add_option("NAME", *model, "After models: the one whose parameters to tell"), model_names());
    app->add_option("--man", *man,
                    "Write the manual pages of all commands to this folder, as 'make install' does")
        ->type_name("DIR");
    app->footer("Topics:\n" + list_of_topics() +
                "\nExamples:\n"
                "  tilewalk help price\n"
                "  tilewalk help exit-codes\n"
                "  tilewalk help models heston");
    return {app, [&to, &all, name, model, man, known]() -> int {
                const auto say = [](const std::string& text) {
                    output("-").write(text);
                    return all_well;
                };
                const std::string asked = *name, about = *model;
                if (*man) {
                    if (!asked.empty())
                        throw error(error_kind::usage,
                                    "--man writes the pages of all commands; leave out " + asked);
                    return write_man_pages(described(to, all), parse_file(**man, "--man"));
                }
                to.clear();  // the parsed command was help: forget it
                if (!about.empty() && asked != "models")
                    throw error(error_kind::usage, "unexpected argument " + quoted(about));
                if (!about.empty()) return say(model_text(about));
                if (asked.empty()) return say(help_text(to, "", false));
                for (const topic& t : topics)
                    if (t.name == asked) return say(t.text());
                for (const command& c : all) {
                    if (c.app->get_name() == asked && !c.program.empty()) become(c, {"--help"});
                    if (c.app->get_name() == asked) return say(help_text(*c.app, to.get_name(), false));
                }
                throw error(error_kind::usage,
                            fmt::format("there is no help on {}{} known: {}", quoted(asked),
                                        suggestion(asked, known, ";"), joined(known)));
            }};
}

constexpr const char* own_file = "/proc/self/exe";
std::vector<std::string> typed{"tilewalk"};
std::vector<std::string> starting{own_file};
bool knows_one_command = false;

int run(std::vector<std::string> arguments, const std::vector<adds_command>& knows) {
    CLI::App app{"Price books of derivatives by Monte Carlo, each price with its standard error.",
                 "tilewalk"};
    app.formatter(std::make_shared<help_page>());
    app.set_version_flag("--version", version_text(),
                         "Print the version and the commit, compiler and CUDA of the build");
    // Allows one command only: a trade or a file that is named like a command would count as a second.
    app.require_subcommand(0, 1);
    app.footer(
        "Examples:\n"
        "  tilewalk price book.yaml                         # a table on the terminal\n"
        "  tilewalk price book.yaml --paths 1M -o out.json  # everything, for programs\n"
        "  tilewalk validate book.yaml                      # what is wrong, and where\n"
        "  tilewalk explain book.yaml asian_1               # terms, dates, market, grid\n"
        "  tilewalk products barrier                        # parameters, script, example\n"
        "  tilewalk market book.yaml --keys                 # the numbers of a market\n"
        "  tilewalk diff yesterday.json today.json          # in standard errors\n"
        "  tilewalk plan book.yaml --shards 16 -o night     # one request, many processes\n"
        "  tilewalk devices                                 # GPUs, and which are usable\n"
        "  tilewalk bench prefetch book.yaml                # the fastest memory reads\n"
        "  tilewalk tune book.yaml                          # the fastest kernels, kept\n"
        "  tilewalk verify                                  # checks of known prices\n"
        "  tilewalk calibrate quotes.yaml -o market.yaml    # models fitted to quotes\n"
        "  tilewalk import portfolio.xml -o book.yaml       # a book from ORE's XML\n"
        "  source <(tilewalk completion bash)               # completion by the tab key\n\n"
        "'tilewalk COMMAND --help' describes each command.");
    std::vector<command> commands;
    for (const adds_command add : knows) commands.push_back(add(app));
    knows_one_command = commands.size() == 1;
    if (knows_one_command) arguments.insert(arguments.begin(), commands.front().app->get_name());
    typed.insert(typed.end(), arguments.begin(), arguments.end());
    commands.push_back(add_completion(app, commands));
    commands.push_back(add_help(app, commands));
    std::vector<std::string> names;
    for (const auto& known : commands) names.push_back(known.app->get_name());

    const std::string first = arguments.empty() ? "" : arguments[0];
    const auto asked = std::ranges::find(names, first);
    const bool has_command = asked != names.end();
    const auto refuse_command = [&](const std::string& reason) {
        throw error(error_kind::usage, reason + suggestion(first, names, ";") + " known commands: " +
                                           joined(names) + "\ntilewalk --help shows how it is used");
    };
    if (!has_command && (first.empty() || first[0] != '-'))
        refuse_command(arguments.empty() ? "a command is needed"
                                         : fmt::format("unknown command {}", quoted(first)));
    const command* chosen =
        has_command ? &commands[static_cast<std::size_t>(asked - names.begin())] : nullptr;
    if (chosen != nullptr && !chosen->program.empty())
        become(*chosen, {arguments.begin() + 1, arguments.end()});
    if (chosen != nullptr && arguments.size() == 2 && arguments[1] == description_option) {
        output("-").write(json_of(described(*chosen->app)));
        return all_well;
    }
    CLI::App& speaker = chosen ? *chosen->app : app;
    const auto say_help = [&](bool of_gpus) {
        output("-").write(help_text(speaker, chosen ? app.get_name() : "", of_gpus));
        return all_well;
    };
    try {
        // The parser takes arguments in reverse order.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        return say_help(false);
    } catch (const CLI::CallForAllHelp&) {
        return say_help(true);
    } catch (const CLI::CallForVersion& asked_version) {
        output("-").write(std::string(asked_version.what()) + "\n");
        return all_well;
    } catch (const CLI::ParseError& problem) {
        const std::string name = chosen ? "tilewalk " + first : "tilewalk";
        throw error(error_kind::usage,
                    explained(problem, speaker) +
                        (chosen || arguments.size() < 2 ? "" : "; the command comes first") + "\n" + name +
                        " --help shows how it is used");
    }
    if (chosen == nullptr) refuse_command("the command comes first");
    for (const auto& warning : misspelt_variables()) remark("tilewalk: " + warning);
    return chosen->run();
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const std::vector<adds_command>& knows,
                const std::vector<std::string>& starts) noexcept {
    guard_standard_streams();
    exit_on_interrupt();
    try {
        if (!starts.empty()) starting = starts;
        return run(arguments, knows);
    } catch (const machine_failure& e) {
        complain("tilewalk: " + std::string(e.what()));
        return try_again;
    } catch (const error& e) {
        if (e.kind() == error_kind::cancelled) {
            complain(words_of_interrupt());
            return code_of_interrupt();
        }
        complain((e.kind() == error_kind::internal ? "tilewalk: internal error: " : "tilewalk: ") +
                 std::string(e.what()));
        return exit_code_of(e.kind());
    } catch (const std::bad_alloc&) {
        complain("tilewalk: out of memory");
        return try_again;
    } catch (const std::exception& e) {
        complain(std::string("tilewalk: internal error: ") + e.what());
    } catch (...) {
        complain("tilewalk: internal error: an exception of no known kind");
    }
    return defect;
}

const std::vector<std::string>& command_as_typed() {
    return typed;
}

const std::vector<std::string>& words_that_start_it() {
    return starting;
}

std::vector<std::string> words_that_start(const std::string& command) {
    std::vector<std::string> out = starting;
    // Resolve the link: in another process, /proc/self/exe is another file.
    std::error_code not_said;
    if (out.front() == own_file)
        if (const auto file = std::filesystem::read_symlink(own_file, not_said); !not_said)
            out.front() = file.string();
    if (!knows_one_command) out.push_back(command);
    return out;
}

}  // namespace tilewalk::cli
