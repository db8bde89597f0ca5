// SPDX-License-Identifier: Apache-2.0
// tilewalk warm: compiles the kernels of a book ahead of time, with or without a GPU.
#include <algorithm>
#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"

namespace tilewalk::cli {

namespace {

struct warm_arguments {
    std::string book;
    std::vector<std::string> architectures;
    spoken options;
};

int warm(const warm_arguments& asked) {
    check_architectures(asked.architectures, "--arch");
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const engine compiles({wanted.with.instruction_set.value});
    const market of = market_of(wanted);
    const output to("-");
    keep_apart({&to}, inputs_of(wanted, of));
    const auto kernels = compiles.warm(wanted.trades, of, wanted.with.options(), asked.architectures);
    to.write(folded(kernel_table(kernels), form_of_stdout().columns));
    const bool all_there = std::ranges::all_of(kernels, &std::string::empty, &warmed_kernel::failure);
    return all_there ? all_well : some_failed;
}

}  // namespace

command add_warm(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("warm", "Compile the GPU kernels of a book ahead of time")->group("Commands");
    const auto asked = std::make_shared<warm_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file; - is standard input")->required();
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
        "the same settings use them.\n\n" +
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk warm book.yaml\n"
        "  tilewalk warm book.yaml --arch sm_80 --arch sm_90 --precision mixed\n\n"
        "Exit codes: 0 all kernels are there, 3 some failed or there is no compiler;\n" +
        exit_code_hint());
    return {app, [asked] { return warm(*asked); }};
}

}  // namespace tilewalk::cli
