// SPDX-License-Identifier: Apache-2.0
// tilewalk scenarios: the gains of a book in other markets, and the tails of their distribution.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "engine/cli/program.h"
#include "engine/cli/report_folder.h"
#include "engine/cli/scenario_remarks.h"
#include "engine/cli/settings.h"
#include "engine/cli/side_files.h"
#include "engine/cli/terminal/interrupt.h"
#include "engine/cli/terminal/progress.h"
#include "engine/cli/terminal/terminal.h"
#include "engine/cli/written.h"
#include "tilewalk/files.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::cli {

namespace {

struct scenario_arguments {
    std::string book, scenarios;
    spoken options;
    std::string files;  // a folder; empty if no files are wanted
    side_files beside;
    bool explains = false;
    bool spreadsheet_safe = false;
    bool shows_timings = false;
};

scenario_results run(const engine& pricer, const chosen_book& asked, const market& of,
                     const scenario_list& scenarios, const side_files& beside, timings& times) {
    if (!asked.with.journal.value.empty()) note_kept();
    progress_bar bar(counted::prices);
    run_options options = asked.with.options();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    options.times = &times;
    beside.ask(options);
    return pricer.scenarios(asked.trades, of, scenarios, options);
}

int scenarios(scenario_arguments& asked, timings& times) {
    std::optional<timings::during> ending;  // times the destruction of all objects below
    const engine pricer = engine_for(asked.options);
    open_devices_of(pricer, asked.options, times);
    const chosen_book wanted = load_book(asked.book, asked.options, &times);
    const settings& with = wanted.with;
    if (asked.options.print_config) {
        output("-").write(with.text(wanted.trades));
        return all_well;
    }
    if (asked.explains && asked.files.empty() && with.format.value != result_format::json)
        throw error(error_kind::usage,
                    "--explain writes to JSON and to explained.csv; use --format json or --files DIR");
    check_market(wanted);
    check_trades(wanted);
    const output to(with.output.value);
    const market of = market_of(wanted, &times);
    scenario_list list = [&] {
        const timings::during reading(&times, stage::reading_market);
        return scenario_list::load(asked.scenarios, of, {with.strict.value, with.confine.value});
    }();
    list.explains = list.explains || asked.explains;
    std::vector<std::filesystem::path> inputs = inputs_of(wanted, of);
    for (const input_file& f : list.inputs) inputs.emplace_back(f.file);
    const report_folder files(asked.files, scenario_reports());
    asked.beside.open();
    std::vector<const output*> others = asked.beside.outputs();
    others.push_back(&to);
    files.keep_apart_from(inputs, others);
    complain_of_remarks(of);
    for (const std::string& line : list.remarks)
        remark(fmt::format("tilewalk: {}: {}", asked.scenarios, line));
    const scenario_results r = run(pricer, wanted, of, list, asked.beside, times);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = asked.spreadsheet_safe;
    std::optional<timings::during> writing(std::in_place, &times, stage::writing);
    to.write(written_gains(r, with.format.value, form));
    files.write(scenario_reports(), r);
    asked.beside.write({.prices = r.base,
                        .scenarios = &r,
                        .trades = &wanted.trades,
                        .in = &of,
                        .times = &times,
                        .command = command_as_typed()});
    writing.reset();
    ending.emplace(&times, stage::ending);
    const int code = tell_of_scenarios(r, to.is_stdout() && with.format.value == result_format::table);
    end_process(code, asked.shows_timings ? &times : nullptr);
    return code;
}

}  // namespace

command add_scenarios(CLI::App& to) {
    CLI::App* app = to.add_subcommand("scenarios", "Gains of a book in other markets, with value at risk")
                        ->group("Commands");
    const auto asked = std::make_shared<scenario_arguments>();
    add_result_options(*app, asked->book, asked->options, asked->spreadsheet_safe, asked->shows_timings);
    offers_files(
        app->add_option("--scenarios", asked->scenarios,
                        "The scenarios: shifts of market keys, ladders or historical moves, in YAML or CSV"),
        {".yaml", ".yml", ".csv"})
        ->type_name("FILE")
        ->required();
    app->add_option("--files", asked->files,
                    "Write the files that risk systems read, listed below, to this folder")
        ->type_name("DIR");
    app->add_flag("--explain", asked->explains,
                  "Explain each gain by sensitivities, with the unexplained rest; in JSON and explained.csv");
    asked->beside.add_options(*app);
    add_book_options(*app, asked->options);
    app->footer(
        files_text(scenario_reports()) + ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk scenarios book.yaml --scenarios stress.yaml\n"
        "  tilewalk scenarios book.yaml --scenarios history.yaml -o gains.csv\n"
        "  tilewalk scenarios book.yaml --scenarios history.yaml --files risk --explain\n\n"
        "Exit codes: 0 all is well, 3 some trades failed, in the base market or in a scenario (the others\n"
        "are reported); " +
        exit_code_hint());
    return {app, [asked] { return timed(*asked, scenarios); }};
}

}  // namespace tilewalk::cli
