// SPDX-License-Identifier: Apache-2.0
// tilewalk warm: compiles the kernels of a book, or of the library, ahead of time, with or without a GPU.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/terminal/status_line.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"

namespace tilewalk::cli {

namespace {

struct warm_arguments {
    std::string book;
    std::vector<std::string> architectures, products;
    bool is_library = false;
    spoken options;
};

// Refuses what goes only with a book or only with the library.
void check(const warm_arguments& asked) {
    if (!asked.is_library && asked.book.empty())
        throw error(error_kind::usage,
                    "the argument BOOK is missing; give a book, or --library for the library's products");
    if (!asked.is_library && !asked.products.empty())
        throw error(error_kind::usage, "--product goes with --library; --trade picks trades of a book");
    if (!asked.is_library) return;
    if (!asked.book.empty())
        throw error(error_kind::usage, "found the book " + quoted(asked.book) +
                                           " beside --library, expected one of them; --market FILE names "
                                           "the market of --library");
    if (!asked.options.trades.empty())
        throw error(error_kind::usage, "--trade picks trades of a book; --product NAME goes with --library");
}

settings settings_of_library(const warm_arguments& asked) {
    const book none = book::parse("trades: []\n", "library");
    return resolve_settings(asked.options, process_environment(), none, "library",
                            is_terminal(STDOUT_FILENO));
}

market market_of_library(const warm_arguments& asked, const settings& with) {
    if (with.market.value.empty())
        throw error(error_kind::usage,
                    "--library needs a market, as kernels depend on how its assets move; give --market "
                    "FILE, such as configs/markets/demo.yaml");
    const market as_read = market::load(with.market.value, {with.strict.value, with.confine.value});
    return asked.options.changes.empty() ? as_read : as_read.changed(asked.options.changes);
}

// Shows how many kernels are done on a terminal.
run_options watched(const settings& with, status_line& status) {
    run_options how = with.options();
    how.on_progress = [&status](const progress& now) {
        status.say(fmt::format("{} of {} kernels", now.trades_done, now.trades));
    };
    return how;
}

int told(const std::string& table, std::span<const warmed_kernel> kernels, const output& to) {
    to.write(folded(table, form_of_stdout().columns));
    const bool all_there = std::ranges::all_of(kernels, &std::string::empty, &warmed_kernel::failure);
    return all_there ? all_well : some_failed;
}

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point begin) {
    return std::chrono::duration<double>(steady::now() - begin).count();
}

int warm_library(const warm_arguments& asked) {
    const settings with = settings_of_library(asked);
    if (asked.options.print_config) {
        output("-").write(with.text(book::parse("trades: []\n", "library")));
        return all_well;
    }
    const engine compiles({with.instruction_set.value});
    const market of = market_of_library(asked, with);
    const output to("-");
    keep_apart({&to}, of.files());
    const steady::time_point begin = steady::now();
    status_line status;
    const warmed_library library =
        compiles.warm_library(of, watched(with, status), asked.architectures, asked.products);
    status.wipe();
    return told(kernel_table(library, seconds_since(begin)), library.kernels, to);
}

int warm(const warm_arguments& asked) {
    check_architectures(asked.architectures, "--arch");
    check(asked);
    if (asked.is_library) return warm_library(asked);
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const engine compiles({wanted.with.instruction_set.value});
    const market of = market_of(wanted);
    const output to("-");
    keep_apart({&to}, inputs_of(wanted, of));
    const steady::time_point begin = steady::now();
    status_line status;
    const auto kernels = compiles.warm(wanted.trades, of, watched(wanted.with, status), asked.architectures);
    status.wipe();
    return told(kernel_table(kernels, seconds_since(begin)), kernels, to);
}

}  // namespace

command add_warm(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("warm", "Compile GPU kernels of a book, or of the library, ahead of time")
            ->group("Commands");
    const auto asked = std::make_shared<warm_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file; - is standard input");
    app->add_flag("--library", asked->is_library,
                  "In place of BOOK: the kernels of each product of the library in the market of --market");
    offers_products(
        app->add_option("--product", asked->products, "With --library, only this product; may be repeated")
            ->type_name("NAME")
            ->allow_extra_args(false)
            ->delimiter(','));
    app->add_option(
           "--arch", asked->architectures,
           "GPU architecture to compile for, such as sm_90; may be repeated. By default those of this "
           "machine")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->delimiter(',');
    add_book_options(*app, asked->options);
    app->footer(
        "The kernels are kept in TILEWALK_CACHE_DIR, else in tilewalk in the user's cache folder; runs with\n"
        "the same settings use them.\n\n"
        "--library takes each product's example ('tilewalk products NAME') as a book of its own, on an\n"
        "asset of each form in which the market's assets move. A run finds its path kernels if the trades\n"
        "that share one are of one product and make the choices of the example; strikes, levels and dates\n"
        "may differ. A book that mixes products, or calls and puts, may unite them in a kernel of its\n"
        "own, which 'tilewalk warm BOOK' compiles. Kernels that train policies, make points and add up\n"
        "results are found in either case.\n\n" +
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk warm book.yaml\n"
        "  tilewalk warm book.yaml --arch sm_80 --arch sm_90 --precision mixed\n"
        "  tilewalk warm --library --market market.yaml --arch sm_90\n\n"
        "Exit codes: 0 all kernels are there, 3 some failed or there is no compiler;\n" +
        exit_code_hint());
    return {app, [asked] { return warm(*asked); }};
}

}  // namespace tilewalk::cli
