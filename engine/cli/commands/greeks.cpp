// SPDX-License-Identifier: Apache-2.0
// tilewalk greeks: the sensitivities of a book, beside its prices.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/difference_remarks.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "engine/cli/program.h"
#include "engine/cli/report_folder.h"
#include "engine/cli/settings.h"
#include "engine/cli/side_files.h"
#include "engine/cli/terminal/interrupt.h"
#include "engine/cli/terminal/progress.h"
#include "engine/cli/terminal/terminal.h"
#include "engine/cli/written.h"
#include "tilewalk/differences.h"

namespace tilewalk::cli {

namespace {

struct greeks_arguments {
    std::string book;
    spoken options;
    std::vector<std::string> greeks;
    std::string method = "auto", view = "market";
    std::string files;  // a folder; empty if no files are wanted
    side_files beside;
    bool spreadsheet_safe = false;
    bool shows_timings = false;
};

results run(const engine& pricer, const chosen_book& asked, const market& of, const greek_options& wanted,
            const side_files& beside, timings& times) {
    if (!asked.with.journal.value.empty()) note_kept();
    progress_bar bar;
    run_options options = asked.with.options();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    options.times = &times;
    beside.ask(options);
    return pricer.greeks(asked.trades, of, wanted, options);
}

difference_results find_differences(const engine& pricer, const chosen_book& asked, const market& of,
                                    const greek_options& wanted, timings& times) {
    if (!asked.with.journal.value.empty()) note_kept();
    progress_bar bar(counted::prices);
    run_options options = asked.with.options();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    options.times = &times;
    const auto is_wanted = [&](const char* measure) {
        return std::ranges::find(wanted.wanted, measure) != wanted.wanted.end();
    };
    return differences(pricer, asked.trades, of,
                       {.cross_gamma = is_wanted("cross_gamma"), .vanna = is_wanted("vanna")}, options);
}

int greeks(greeks_arguments& asked, timings& times) {
    std::optional<timings::during> ending;  // times the destruction of all objects below
    const engine pricer = engine_for(asked.options);
    open_devices_of(pricer, asked.options, times);
    const chosen_book wanted = load_book(asked.book, asked.options, &times);
    const settings& with = wanted.with;
    if (asked.options.print_config) {
        output("-").write(with.text(wanted.trades));
        return all_well;
    }
    check_market(wanted);
    check_trades(wanted);
    const greek_options which{asked.greeks, greek_method_named(asked.method), greek_view_named(asked.view)};
    const output to(with.output.value);
    asked.beside.open();
    std::vector<const output*> all = asked.beside.outputs();
    all.push_back(&to);
    const market of = market_of(wanted, &times);
    const std::vector<difference_report> reports = reports_of(of);
    const report_folder files(asked.files, std::span(reports));
    refuse_old_reports(files, of);
    files.keep_apart_from(inputs_of(wanted, of), all);
    complain_of_remarks(of);
    std::optional<difference_results> differences;
    if (!asked.files.empty()) differences.emplace(find_differences(pricer, wanted, of, which, times));
    const results r = run(pricer, wanted, of, which, asked.beside, times);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = asked.spreadsheet_safe;
    std::optional<timings::during> writing(std::in_place, &times, stage::writing);
    to.write(written_greeks(r, with.format.value, form));
    if (differences) files.write(std::span(reports), *differences);
    asked.beside.write(
        {.prices = r, .trades = &wanted.trades, .in = &of, .times = &times, .command = command_as_typed()});
    writing.reset();
    ending.emplace(&times, stage::ending);
    tell_of_journal(r);
    tell_of_gpus(r);
    complain_of_correlations(r.manifest.missing_correlations);
    if (!to.is_stdout() || with.format.value != result_format::table) complain_of_few_parts(r);
    int code = code_of(r, true);
    if (differences) code = tell_of_differences(*differences, code);
    end_process(code, asked.shows_timings ? &times : nullptr);
    return code;
}

std::string measures_text() {
    std::string out = "Measures of the first order, with what moves:\n";
    int order = 1;
    for (const greek_measure& m : greek_measures()) {
        if (m.order > order) out += "Measures of the second order:\n";
        order = m.order;
        out += "  " + std::string(m.name) + std::string(14 - m.name.size(), ' ') + std::string(m.to) + "\n";
    }
    return out;
}

}  // namespace

command add_greeks(CLI::App& to) {
    CLI::App* app = to.add_subcommand("greeks", "Sensitivities of a book, each with its standard error")
                        ->group("Commands");
    const auto asked = std::make_shared<greeks_arguments>();
    add_result_options(*app, asked->book, asked->options, asked->spreadsheet_safe, asked->shows_timings);
    offers(
        app->add_option("--greeks", asked->greeks,
                        "Measures and patterns of market keys, separated by commas: delta,vega or 'ACME.*'; "
                        "by default all of the first order"),
        greek_words())
        ->delimiter(',')
        ->type_name("LIST");
    offers(app->add_option(
               "--greeks-method", asked->method,
               "auto, pathwise, smoothed, likelihood_ratio or bump. auto takes pathwise derivatives; where "
               "the payoff jumps, smoothing or likelihood ratios, whichever has the smaller error; and the "
               "difference of two prices where a jump can't be smoothed"),
           greek_method_words())
        ->type_name("NAME");
    offers(app->add_option(
               "--view", asked->view,
               "market or quotes. quotes shows sensitivities to the calibration quotes, which 'tilewalk "
               "calibrate' keeps in the market, instead of those to fitted parameters (default market)"),
           greek_view_words())
        ->type_name("NAME");
    asked->beside.add_options(*app);
    app->add_option(
           "--files", asked->files,
           "Write the files that risk systems read, listed below, to this folder. They have all numbers for "
           "which ORE has a factor, whatever --greeks names, and pairs of numbers if it names cross_gamma or "
           "vanna")
        ->type_name("DIR");
    add_book_options(*app, asked->options);
    app->footer(
        measures_text() + "\n" + files_text(difference_reports()) + ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk greeks book.yaml\n"
        "  tilewalk greeks book.yaml --greeks delta,vega --paths 1M --output greeks.csv\n"
        "  tilewalk greeks book.yaml --greeks 'ACME.*' --trade c1\n"
        "  tilewalk greeks book.yaml --greeks delta,gamma,cross_gamma\n"
        "  tilewalk greeks book.yaml --files risk -o greeks.csv\n"
        "  tilewalk greeks book.yaml --market fitted.yaml --view quotes\n\n"
        "Exit codes: 0 all is well, 3 some trades or sensitivities failed (the others are reported); " +
        exit_code_hint());
    return {app, [asked] { return timed(*asked, greeks); }};
}

}  // namespace tilewalk::cli
