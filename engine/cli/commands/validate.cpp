// SPDX-License-Identifier: Apache-2.0
// tilewalk validate: reads everything, plans every trade, and reports each error with its place.
#include <fmt/core.h>

#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "tilewalk/combinations.h"

namespace tilewalk::cli {

namespace {

struct validate_arguments {
    std::string book;
    spoken options;
};

int validate(const validate_arguments& asked) {
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const engine checker({wanted.with.instruction_set.value});
    const market of = market_of(wanted);
    check_trades(wanted);
    const output to("-");
    keep_apart({&to}, inputs_of(wanted, of));
    complain_of_remarks(of);
    std::vector<factor_pair> missing;
    const auto problems = checker.validate(wanted.trades, of, wanted.with.options(), &missing);
    complain_of_correlations(missing);
    std::string text;
    for (const auto& problem : problems) text += problem_line(problem);
    const std::size_t trades = wanted.trades.size(), bad = problems.size();
    text += fmt::format("{} trade{}, ", trades, trades == 1 ? "" : "s");
    text += bad == 0 ? "all valid\n" : fmt::format("{} bad\n", bad);
    for (const std::string& remark :
         remarks_on_other_studies(features_asked(wanted.trades, wanted.with.options())))
        text += "note: " + remark + "\n";
    to.write(text);
    return bad == 0 ? all_well : some_failed;
}

}  // namespace

command add_validate(CLI::App& to) {
    CLI::App* app = to.add_subcommand("validate", "Check a book, its market and every trade; price nothing")
                        ->group("Commands");
    const auto asked = std::make_shared<validate_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file; - is standard input")->required();
    add_book_options(*app, asked->options);
    app->footer(
        "Prints a line for each problem, as file:line:column: what is wrong.\n\n" + ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk validate book.yaml\n"
        "  tilewalk validate book.yaml --market tomorrow.yaml && tilewalk price book.yaml\n\n"
        "Exit codes: 0 all trades are valid, 3 some are not, 2 the book or the market can't be read;\n" +
        exit_code_hint());
    return {app, [asked] { return validate(*asked); }};
}

}  // namespace tilewalk::cli
