// SPDX-License-Identifier: Apache-2.0
// The command: finds out what was asked, runs it, and turns every failure into one line and an exit code.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/interrupt.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "tilewalk/error.h"
#include "tilewalk/products.h"
#include "tilewalk/version.h"

namespace tilewalk::cli {

namespace {

std::string suggestion(const std::string& wrong, const std::vector<std::string>& known) {
    const std::string near = nearest_name(wrong, known);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

// What the parser's complaint means, in our words where they are plainer.
std::string explained(const CLI::ParseError& problem, const CLI::App& app) {
    for (const std::string& extra : app.remaining()) {
        if (!extra.starts_with("-") || extra == "-" || extra == "--") continue;
        const std::string name = extra.substr(0, extra.find('='));
        return fmt::format("unknown option '{}'{}", name, suggestion(name, option_names(app)));
    }
    for (const std::string& extra : app.remaining())
        if (extra != "--") return fmt::format("unexpected argument '{}'", extra);
    const std::string text = problem.what();
    if (problem.get_exit_code() != static_cast<int>(CLI::ExitCodes::ArgumentMismatch)) return text;
    const bool missing = text.find("missing") != std::string::npos;
    return text.substr(0, text.find(':')) + (missing ? ": its value is missing" : ": given more than once");
}

int run(int argc, const char* const* argv) {
    CLI::App app{"Tilewalk prices books of derivatives by Monte Carlo, every price with its standard error.",
                 "tilewalk"};
    app.get_formatter()->column_width(28);
    app.get_formatter()->label("TEXT", "");
    app.get_formatter()->label("REQUIRED", "");
    app.get_formatter()->label("OPTIONS", "OPTION...");
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.get_formatter()->label("Positionals", "Arguments");
    app.set_version_flag("--version", "tilewalk " + std::string(version()), "Print the version and exit");
    // One command: without this a trade or a file named like a command would be taken for a second.
    app.require_subcommand(0, 1);
    app.footer(
        "Examples:\n"
        "  tilewalk price book.yaml                         # a table on the terminal\n"
        "  tilewalk price book.yaml --paths 1M -o out.json  # everything, for programs\n"
        "  tilewalk validate book.yaml                      # what is wrong, and where\n"
        "  tilewalk explain book.yaml asian_1               # what pricing will do\n"
        "  tilewalk products barrier                        # parameters, script, example\n"
        "  tilewalk diff yesterday.json today.json          # in standard errors\n"
        "  tilewalk devices                                 # GPUs, and why one is not used\n"
        "  tilewalk bench prefetch book.yaml                # which way of reading memory is fastest\n"
        "  tilewalk tune book.yaml                          # and remember it for this book's kernels\n"
        "  tilewalk verify                                  # whether the prices are right\n"
        "  tilewalk calibrate quotes.yaml -o market.yaml    # models fitted to quotes\n\n"
        "tilewalk COMMAND --help tells more about each.");
    const std::vector<command> commands{add_price(app),    add_validate(app), add_explain(app),
                                        add_products(app), add_diff(app),     add_devices(app),
                                        add_warm(app),     add_bench(app),    add_tune(app),
                                        add_verify(app),   add_calibrate(app)};
    std::vector<std::string> names;
    for (const auto& known : commands) names.push_back(known.app->get_name());

    const std::string first = argc > 1 ? argv[1] : "";
    const auto asked = std::ranges::find(names, first);
    const bool has_command = asked != names.end();
    const auto refuse_command = [&](const std::string& reason) {
        std::string known;
        for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
        throw error(error_kind::usage, reason + "; known commands: " + known + suggestion(first, names) +
                                           "\ntilewalk --help shows how it is used");
    };
    if (!has_command && (first.empty() || first[0] != '-'))
        refuse_command(argc > 1 ? fmt::format("unknown command '{}'", first) : "a command is needed");
    const command* chosen =
        has_command ? &commands[static_cast<std::size_t>(asked - names.begin())] : nullptr;
    const CLI::App& speaker = chosen ? *chosen->app : app;
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        output("-").write(speaker.help(chosen ? app.get_name() : "", CLI::AppFormatMode::Normal));
        return all_well;
    } catch (const CLI::CallForVersion& asked_version) {
        output("-").write(std::string(asked_version.what()) + "\n");
        return all_well;
    } catch (const CLI::ParseError& problem) {
        const std::string name = chosen ? "tilewalk " + first : "tilewalk";
        throw error(error_kind::usage, explained(problem, speaker) +
                                           (chosen || argc < 3 ? "" : "; the command comes first") + "\n" +
                                           name + " --help shows how it is used");
    }
    if (chosen == nullptr) refuse_command("the command comes first");
    for (const auto& warning : misspelt_variables()) complain("tilewalk: " + warning);
    return chosen->run();
}

int exit_code_of(error_kind kind) {
    switch (kind) {
        case error_kind::usage:
        case error_kind::input:
        case error_kind::io:
            return bad_input;
        case error_kind::numeric:
            return some_failed;
        case error_kind::cancelled:
            return interrupted;
        case error_kind::device:
        case error_kind::compile:
            return some_failed;
        case error_kind::internal:
            return defect;
    }
    return defect;
}

// Every failure becomes one message and a code.
int run_safely(int argc, const char* const* argv) noexcept {
    try {
        return run(argc, argv);
    } catch (const error& e) {
        if (e.kind() == error_kind::cancelled)
            complain("tilewalk: interrupted; nothing was written");
        else
            complain((e.kind() == error_kind::internal ? "tilewalk: internal error: " : "tilewalk: ") +
                     std::string(e.what()));
        return exit_code_of(e.kind());
    } catch (const std::bad_alloc&) {
        complain("tilewalk: out of memory");
    } catch (const std::exception& e) {
        complain(std::string("tilewalk: internal error: ") + e.what());
    } catch (...) {
        complain("tilewalk: internal error: an exception of no known kind");
    }
    return defect;
}

}  // namespace

}  // namespace tilewalk::cli

int main(int argc, char** argv) {
    tilewalk::cli::guard_standard_streams();
    tilewalk::cli::exit_on_interrupt();
    return tilewalk::cli::run_safely(argc, argv);
}
