// SPDX-License-Identifier: Apache-2.0
// tilewalk price: prices a book and reports it.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "engine/cli/progress.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal.h"

namespace tilewalk::cli {

namespace {

struct price_arguments {
    std::string book;
    spoken options;
    std::optional<std::string> totals, policies;  // files
    bool spreadsheet_safe = false;
    bool shows_timings = false;
    bool tiles = false;
};

results run(const engine& pricer, const chosen_book& asked, const market& of, bool keeps_policies,
            timings& times) {
    progress_bar bar;
    run_options options = asked.with.options();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    options.keep_policies = keeps_policies;
    options.times = &times;
    return pricer.price(asked.trades, of, options);
}

int price(const price_arguments& asked, timings& times) {
    std::optional<timings::during> ending;  // until all that follows is gone
    const engine pricer = engine_for(asked.book, asked.options, times);
    const chosen_book wanted = load_book(asked.book, asked.options, &times);
    const settings& with = wanted.with;
    if (asked.options.print_config) {
        output("-").write(with.text(wanted.trades));
        return all_well;
    }
    if (asked.tiles && with.format.value != output_format::json)
        throw error(error_kind::usage, "--tiles puts means by part of the run into JSON; take --format json");
    check_market(wanted);
    const output to(with.output.value);
    std::optional<output> totals_to, policies_to;
    std::vector<const output*> all{&to};
    if (asked.totals) {
        all.push_back(&totals_to.emplace(*asked.totals, "--totals"));
        refuse_unknown_ending(*asked.totals, "--totals");
    }
    if (asked.policies) all.push_back(&policies_to.emplace(*asked.policies, "--save-policy"));
    const market of = market_of(wanted, &times);
    keep_apart(all, inputs_of(wanted, of));
    complain_of_remarks(of);
    const results r = run(pricer, wanted, of, asked.policies.has_value(), times);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = asked.spreadsheet_safe;
    form.parts = asked.tiles;
    std::optional<timings::during> writing(std::in_place, &times, stage::writing);
    std::ostringstream text, totals;
    write(text, r, with.format.value, form);
    to.write(text.view());
    if (totals_to) {
        write_totals(totals, r, format_of_ending(*asked.totals).value_or(output_format::csv), form);
        totals_to->write(totals.view());
    }
    if (policies_to) policies_to->write(r.policies);
    writing.reset();
    ending.emplace(&times, stage::ending);
    complain_of_lost_gpus(r);
    complain_of_correlations(r.manifest.missing_correlations);
    return code_of(r, !to.is_stdout() || with.format.value != output_format::table);
}

int price(const price_arguments& asked) {
    timings times(start_of_process());
    const int code = price(asked, times);
    if (asked.shows_timings) tell_of_times(times);
    return code;
}

}  // namespace

command add_price(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("price", "Price a book: every trade with its standard error")->group("Commands");
    const auto asked = std::make_shared<price_arguments>();
    add_result_options(*app, asked->book, asked->options, asked->spreadsheet_safe, asked->shows_timings);
    app->add_option("--totals", asked->totals,
                    "File for the totals by currency, as .csv, .json or .txt; CSV has no place for them\n"
                    "beside the trades")
        ->type_name("FILE");
    app->add_option(
           "--save-policy", asked->policies,
           "File for the policies by which trades are ended early, for --policy FILE: on other days\n"
           "and in other markets")
        ->type_name("FILE");
    app->add_flag("--tiles", asked->tiles,
                  "In JSON, add each trade's mean by part of the run: sums over trades and\n"
                  "differences between runs of one seed then have errors of their own");
    add_book_options(*app, asked->options);
    app->footer(
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk price book.yaml\n"
        "  tilewalk price book.yaml --paths 1M --output prices.json\n"
        "  tilewalk price book.yaml --market stressed.yaml --format csv > prices.csv\n"
        "  tilewalk price book.yaml --save-policy policies.json\n"
        "  tilewalk price book.yaml --market stressed.yaml --policy policies.json\n"
        "  TILEWALK_SEED=7 tilewalk price book.yaml --print-config\n\n"
        "Exit codes: 0 all trades priced, 3 some failed (the others are reported), 75 a full disk or a lost\n"
        "GPU; " +
        exit_code_hint());
    return {app, [asked] { return price(*asked); }};
}

}  // namespace tilewalk::cli
