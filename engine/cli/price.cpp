// SPDX-License-Identifier: Apache-2.0
// tilewalk price: prices a book and reports it.
#include <fmt/core.h>

#include <memory>
#include <optional>
#include <sstream>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/interrupt.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/progress.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal.h"

namespace tilewalk::cli {

namespace {

struct request {
    std::string book;
    spoken options;
    std::optional<std::string> totals;  // a file
    bool spreadsheet_safe = false;
};

// The form of a file with this ending; CSV where it has none of ours.
output_format format_of(const std::string& file) {
    if (file.ends_with(".json")) return output_format::json;
    return file.ends_with(".txt") ? output_format::table : output_format::csv;
}

results run(const job& asked) {
    const engine pricer({asked.with.instruction_set.value});
    const interrupt watch;
    progress_bar bar;
    run_options options = asked.with.options();
    options.cancel = watch.flag();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    const market of = market_of(asked);
    complain_of_remarks(of);
    results r = pricer.price(asked.trades, of, options);
    watch.check();
    return r;
}

// Prices are right without them; who runs the machine should know.
void complain_of_lost_gpus(const results& r) {
    for (const auto& lost : r.manifest.lost_devices)
        complain(fmt::format("tilewalk: warning: a GPU failed and was left out: {}", lost));
}

// Where the reader does not see the table, the reasons go to standard error.
void complain_of_failures(const results& r) {
    complain(fmt::format("tilewalk: {} of {} trades failed:", r.failed(), r.rows.size()));
    for (const auto& row : r.rows) {
        if (row.status != trade_status::failed) continue;
        const std::string place = to_string(row.where);
        complain(fmt::format("{}{}trade {}: {}", place, place.empty() ? "" : ": ", row.trade, row.message));
    }
}

int price(const request& asked) {
    const job wanted = load_job(asked.book, asked.options);
    const settings& with = wanted.with;
    if (asked.options.print_config) {
        output("-").write(with.text(wanted.trades));
        return all_well;
    }
    check_market(wanted);
    const output to(with.output.value);
    std::optional<output> totals_to;
    if (asked.totals) {
        if (*asked.totals == with.output.value && !to.is_stdout())
            throw error(error_kind::usage, "--totals: found '" + *asked.totals +
                                               "', which --output names as well; expected another file");
        totals_to.emplace(*asked.totals);
    }
    const results r = run(wanted);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = asked.spreadsheet_safe;
    std::ostringstream text, totals;
    write(text, r, with.format.value, form);
    to.write(text.view());
    if (totals_to) {
        write_totals(totals, r, format_of(*asked.totals), form);
        totals_to->write(totals.view());
    }
    complain_of_lost_gpus(r);
    complain_of_correlations(r.manifest.missing_correlations);
    if (r.failed() == 0) return all_well;
    if (!to.is_stdout() || with.format.value != output_format::table) complain_of_failures(r);
    return some_failed;
}

}  // namespace

command add_price(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("price", "Price a book: every trade with its standard error")->group("Commands");
    const auto asked = std::make_shared<request>();
    app->add_option("BOOK", asked->book, "The book, a YAML file")->required();
    app->add_option("--format", asked->options.format,
                    "table, csv or json; if left out, what the ending of --output says,\n"
                    "else a table on a terminal and csv elsewhere")
        ->type_name("NAME");
    app->add_option("-o,--output", asked->options.output,
                    "File for the results; it appears whole or not at all. - is standard output")
        ->type_name("FILE");
    app->add_option("--totals", asked->totals,
                    "File for the totals by currency, as .csv, .json or .txt; CSV has no place for them\n"
                    "beside the trades")
        ->type_name("FILE");
    app->add_flag("--spreadsheet-safe", asked->spreadsheet_safe,
                  "In CSV, put an apostrophe before text that a spreadsheet would run as a formula");
    add_book_options(*app, asked->options);
    app->footer(
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk price book.yaml\n"
        "  tilewalk price book.yaml --paths 1M --output prices.json\n"
        "  tilewalk price book.yaml --market stressed.yaml --format csv > prices.csv\n"
        "  TILEWALK_SEED=7 tilewalk price book.yaml --print-config\n\n"
        "Exit codes: 0 all trades priced, 3 some failed (the others are reported), 2 bad usage or input,\n"
        "1 internal error, 130 interrupted.");
    return {app, [asked] { return price(*asked); }};
}

}  // namespace tilewalk::cli
