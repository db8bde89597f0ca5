// SPDX-License-Identifier: Apache-2.0
// tilewalk plan, run and merge: split one request among many processes.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/difference_remarks.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/merged.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/priced.h"
#include "engine/cli/program.h"
#include "engine/cli/report_folder.h"
#include "engine/cli/scenario_remarks.h"
#include "engine/cli/settings.h"
#include "engine/cli/shard_number.h"
#include "engine/cli/side_files.h"
#include "engine/cli/terminal/interrupt.h"
#include "engine/cli/terminal/progress.h"
#include "engine/cli/terminal/terminal.h"
#include "engine/cli/written.h"
#include "tilewalk/differences.h"
#include "tilewalk/shards.h"
#include "tilewalk/timings.h"

namespace tilewalk::cli {

namespace {

struct plan_arguments {
    std::string book, folder;
    spoken options;
    std::string shards;
    double train_within = 60;
    bool wants_greeks = false;
    std::vector<std::string> greeks;
    std::string method = "auto", view = "market";
    std::string scenarios;  // a file; empty if no scenarios are asked for
    bool explains = false;
    bool wants_differences = false;
    difference_options differences;
};

std::string way_on(const shards& of, const std::string& folder) {
    return fmt::format("  tilewalk run {} --shard i/{}   for each i, then\n  tilewalk merge {}{}", folder,
                       of.count(), folder, of.request().differences ? " --files DIR" : "");
}

int plan_shards(const plan_arguments& asked) {
    constexpr std::size_t most_shards = 1'000'000;
    const std::size_t count = parse_count(asked.shards, "--shards", most_shards);
    if (asked.book == "-")
        throw error(error_kind::usage,
                    "BOOK: found standard input, expected a file, since shards read it again");
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    check_market(wanted);
    check_trades(wanted);
    sharded_request request = request_of(asked.book, asked.options, wanted);
    if (asked.wants_greeks || !asked.greeks.empty())
        request.greeks = {asked.greeks, greek_method_named(asked.method), greek_view_named(asked.view)};
    request.scenarios = asked.scenarios;
    request.explains = asked.explains;
    if (asked.wants_differences) request.differences = asked.differences;
    if (!asked.scenarios.empty()) {
        const scenario_list list = scenario_list::load(asked.scenarios, market_of(wanted), request.how);
        for (const std::string& line : list.remarks)
            remark(fmt::format("tilewalk: {}: {}", asked.scenarios, line));
    }
    const engine by({wanted.with.instruction_set.value});
    const interrupt listening;
    progress_bar bar;
    run_options options = wanted.with.options();
    options.cancel = listening.flag();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    const shards made = shards::plan(by, request, count, asked.folder, asked.train_within, options);
    const auto& costs = made.costs();
    const double mean = [&] {
        double all = 0;
        for (const double c : costs) all += c;
        return all / static_cast<double>(costs.size());
    }();
    const double largest = *std::ranges::max_element(costs);
    remark(fmt::format("tilewalk: {}: {} trades in {} shards, the largest with {:.2f} times the mean cost",
                       asked.folder, wanted.trades.size(), made.count(), mean > 0 ? largest / mean : 1));
    if (!made.untrained().empty())
        remark(fmt::format(
            "tilewalk: training the policies of {} trades takes long: run\n  tilewalk run {} --stage "
            "training --shard i/{}   for each i, then\n  tilewalk merge {} --stage training",
            made.untrained().size(), asked.folder, made.count(), asked.folder));
    remark("tilewalk: run\n" + way_on(made, asked.folder));
    return all_well;
}

shards::stage stage_named(const std::string& name) {
    if (name == "pricing") return shards::stage::pricing;
    if (name == "training") return shards::stage::training;
    throw error(error_kind::usage, fmt::format("--stage: found '{}'{} expected pricing or training", name,
                                               suggestion(name, {"pricing", "training"}, ",")));
}

struct run_arguments {
    std::string folder, shard, stage = "pricing";
    spoken options;
    side_files beside;
};

std::vector<std::filesystem::path> read_for(const results& r, const std::vector<input_file>& more = {}) {
    std::vector<std::filesystem::path> out;
    for (const std::vector<input_file>* const of : {&r.manifest.inputs, &more})
        for (const input_file& f : *of) out.emplace_back(f.file);
    return out;
}

std::chrono::system_clock::time_point time_of(const std::string& file) {
    std::error_code unknown;
    const auto written = std::filesystem::last_write_time(file, unknown);
    if (unknown) return std::chrono::system_clock::now();
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        std::filesystem::file_time_type::clock::to_sys(written));
}

int run_shard(run_arguments& asked) {
    timings times(start_of_process());
    const shards::stage stage = stage_named(asked.stage);
    const shards all = shards::open(asked.folder);
    const shard_number which = shard_number_of(asked.shard, all.count(), process_environment());
    const settings with = resolve_settings(asked.options, process_environment(), false);
    const std::string name = fmt::format(
        "{}shard {} of {}", stage == shards::stage::training ? "training " : "", which.number, all.count());
    if (!which.origin.empty()) remark(fmt::format("tilewalk: {}, as {} says", name, which.origin));
    asked.beside.open();
    const std::vector<const output*> outputs = asked.beside.outputs();
    keep_apart(outputs, {all.request().book});
    const engine by({with.instruction_set.value});
    const interrupt listening;
    const bool has_scenarios = !all.request().scenarios.empty() || all.request().differences;
    progress_bar bar(has_scenarios ? counted::prices : counted::trades);
    run_options options = with.options();
    options.cancel = listening.flag();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    options.times = &times;
    note_kept();
    const shard_outcome done = all.run(by, which.number, stage, options);
    for (const std::string& file : done.damaged)
        remark(fmt::format("tilewalk: warning: {} was damaged; its work was done again", file));
    if (done.blocks_taken > 0)
        remark(fmt::format("tilewalk: resumed from {} block{} of an earlier attempt", done.blocks_taken,
                           done.blocks_taken == 1 ? "" : "s"));
    remark(
        fmt::format("tilewalk: {} {}: {}", name, done.was_done ? "was done already" : "is done", done.file));
    if (!done.result) {
        if (!outputs.empty())
            remark(fmt::format("tilewalk: warning: {} was done before and kept no metrics: none are written",
                               name));
        return all_well;
    }
    keep_apart(outputs, read_for(*done.result));
    asked.beside.write({.prices = *done.result,
                        .times = done.was_done ? nullptr : &times,
                        .command = command_as_typed(),
                        .shard = fmt::format("{}/{}", which.number, all.count()),
                        .stage = asked.stage,
                        .at = time_of(done.file)});
    return all_well;
}

struct merge_arguments {
    std::string folder, stage = "pricing";
    spoken options;
    std::optional<std::string> totals;
    std::string files;  // a folder; empty if no files are wanted
    side_files beside;
    bool spreadsheet_safe = false;
    bool tiles = false;
};

void tell_of_next(const shards& all) {
    const std::string folder = all.next_folder().string();
    if (folder.empty()) return;
    remark(fmt::format("tilewalk: a plan with more paths is in {}: run\n{}", folder, way_on(all, folder)));
}

int merge_scenarios(const shards& all, const settings& with, merge_arguments& asked) {
    if (asked.totals || asked.tiles)
        throw error(
            error_kind::usage,
            "--totals and --tiles are for prices; this plan has scenarios, whose files --files writes");
    const output to(with.output.value);
    const report_folder files(asked.files, scenario_reports());
    asked.beside.open();
    std::vector<const output*> others = asked.beside.outputs();
    others.push_back(&to);
    files.keep_apart_from({all.request().book, all.request().scenarios}, others);
    const engine by({with.instruction_set.value});
    run_options options = with.options();
    asked.beside.ask(options);
    const scenario_results r = all.merge_scenarios(by, options);
    files.keep_apart_from(read_for(r.base, r.inputs), others);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = asked.spreadsheet_safe;
    to.write(written_gains(r, with.format.value, form));
    files.write(scenario_reports(), r);
    asked.beside.write({.prices = r.base, .scenarios = &r, .command = command_as_typed()});
    tell_of_next(all);
    return tell_of_scenarios(r, to.is_stdout() && with.format.value == result_format::table);
}

int merge_shards(merge_arguments& asked) {
    shards all = shards::open(asked.folder);
    if (stage_named(asked.stage) == shards::stage::training) {
        all.merge_training();
        remark(fmt::format(
            "tilewalk: the policies are in {}; now run\n  tilewalk run {} --shard i/{}   for each i",
            asked.folder, asked.folder, all.count()));
        return all_well;
    }
    const settings with = resolve_settings(asked.options, process_environment(), is_terminal(STDOUT_FILENO));
    if (!all.request().scenarios.empty()) return merge_scenarios(all, with, asked);
    const int code = report_merged(all, with, asked.totals, asked.files, asked.spreadsheet_safe, asked.tiles,
                                   asked.beside);
    tell_of_next(all);
    return code;
}

}  // namespace

sharded_request request_of(const std::string& book_file, const spoken& options, const chosen_book& of) {
    sharded_request out;
    out.book = book_file;
    out.market = of.with.market.value;
    out.how = {of.with.strict.value, of.with.confine.value};
    out.trades = options.trades;
    out.changes = of.changes;
    out.settings = of.with.run;
    out.demand_correlations = of.with.strict.value;
    return out;
}

namespace {

market market_of(const sharded_request& of) {
    return of.market.empty() ? *book::load(of.book, of.how).market() : market::load(of.market, of.how);
}

}  // namespace

int report_merged(const shards& all, const settings& with, const std::optional<std::string>& totals,
                  const std::string& folder_of_files, bool spreadsheet_safe, bool tiles, side_files& beside) {
    if (tiles && with.format.value != result_format::json)
        throw error(error_kind::usage, "--tiles adds means by part of the run to JSON; use --format json");
    if (!folder_of_files.empty() && all.request().greeks)
        throw error(error_kind::usage,
                    "--files is for differences, gains and prices, but this plan has sensitivities; plan "
                    "with --with-differences");
    if (folder_of_files.empty() && all.request().differences)
        throw error(error_kind::usage,
                    "this plan has differences, which merge writes to a folder; add --files DIR");
    const output to(with.output.value);
    std::optional<market> in;
    if (all.request().differences) in = market_of(all.request());
    const auto of_values = value_reports();
    const std::vector<difference_report> reports =
        in ? reports_of(*in) : std::vector(of_values.begin(), of_values.end());
    const report_folder files(folder_of_files, std::span(reports));
    if (in) refuse_old_reports(files, *in);
    std::optional<output> totals_to;
    std::vector<const output*> outputs{&to};
    if (totals) {
        outputs.push_back(&totals_to.emplace(*totals, "--totals"));
        refuse_unknown_ending(*totals, "--totals");
    }
    beside.open();
    for (const output* one : beside.outputs()) outputs.push_back(one);
    files.keep_apart_from({all.request().book}, outputs);
    const engine by({with.instruction_set.value});
    run_options options = with.options();
    beside.ask(options);
    std::optional<difference_results> values;
    if (!folder_of_files.empty()) values = all.merge_differences(by, options);
    const results r = values ? values->values : all.merge(by, options);
    files.keep_apart_from(read_for(r), outputs);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = spreadsheet_safe;
    form.parts = tiles;
    to.write(all.request().greeks ? written_greeks(r, with.format.value, form)
                                  : written_prices(r, with.format.value, form));
    if (totals_to) totals_to->write(written_totals(r, *totals, form));
    if (values) files.write(std::span(reports), *values);
    beside.write({.prices = r, .command = command_as_typed()});
    tell_of_gpus(r);
    complain_of_correlations(r.manifest.missing_correlations);
    const bool is_table = to.is_stdout() && with.format.value == result_format::table;
    if (!is_table) complain_of_few_parts(r);
    const int code = code_of(r, !is_table || all.request().greeks);
    return all.request().differences ? tell_of_differences(*values, code) : code;
}

command add_plan(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("plan", "Split a request into shards, for many processes")->group("Shards");
    const auto asked = std::make_shared<plan_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file")->required();
    app->add_option("--shards", asked->shards, "The number of shards")->type_name("N")->required();
    app->add_option("-o,--output", asked->folder, "Folder for the plan and the results of its shards")
        ->type_name("DIR")
        ->required();
    CLI::Option* const greeks_flag =
        app->add_flag("--with-greeks", asked->wants_greeks, "Add sensitivities, as 'tilewalk greeks' does");
    CLI::Option* const greeks_list =
        offers(app->add_option("--greeks", asked->greeks, "Only these sensitivities; see 'tilewalk greeks'"),
               greek_words())
            ->delimiter(',')
            ->type_name("LIST");
    offers(app->add_option("--greeks-method", asked->method, "See 'tilewalk greeks'"), greek_method_words())
        ->type_name("NAME");
    offers(app->add_option("--view", asked->view, "See 'tilewalk greeks'"), greek_view_words())
        ->type_name("NAME");
    CLI::Option* const scenarios =
        offers_files(app->add_option("--scenarios", asked->scenarios,
                                     "Add gains in the scenarios of this file, as 'tilewalk scenarios' does"),
                     {".yaml", ".yml", ".csv"})
            ->type_name("FILE")
            ->excludes(greeks_flag)
            ->excludes(greeks_list);
    app->add_flag("--explain", asked->explains, "Explain gains by sensitivities; see 'tilewalk scenarios'")
        ->needs(scenarios);
    CLI::Option* const differences =
        app->add_flag("--with-differences", asked->wants_differences,
                      "Add differences for the usual shifts, as 'tilewalk greeks --files' does")
            ->excludes(greeks_flag)
            ->excludes(greeks_list)
            ->excludes(scenarios);
    app->add_flag("--cross-gamma", asked->differences.cross_gamma,
                  "Add differences for two asset prices at once")
        ->needs(differences);
    app->add_flag("--vanna", asked->differences.vanna,
                  "Add differences for an asset price and a volatility at once")
        ->needs(differences);
    app->add_option("--train-within", asked->train_within,
                    "Train exercise policies while planning if that should take no longer than this (default "
                    "60); otherwise in shards of their own")
        ->type_name("SECONDS");
    add_book_options(*app, asked->options);
    app->footer(
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk plan book.yaml --shards 16 -o night\n"
        "  tilewalk plan book.yaml --paths 1M --shards 64 -o night --with-greeks\n"
        "  tilewalk plan book.yaml --scenarios history.yaml --shards 256 -o night\n"
        "  tilewalk plan book.yaml --with-differences --shards 64 -o night\n"
        "  tilewalk plan book.yaml --tolerance 1bp --shards 64 -o night\n\n"
        "All decisions about the request are made here and kept in the folder; shards follow them.\n\n"
        "Exit codes: 2 a request that can't be split, or a folder that holds another one; " +
        exit_code_hint());
    return {app, [asked] { return plan_shards(*asked); }};
}

command add_run(CLI::App& to) {
    CLI::App* app = to.add_subcommand("run", "Run one shard of a plan")->group("Shards");
    const auto asked = std::make_shared<run_arguments>();
    app->add_option("DIR", asked->folder, "The folder of the plan")->required();
    offers(app->add_option("--shard", asked->shard,
                           "i/N, counted from 1, or auto: the number that the scheduler gives this process"),
           {"auto"})
        ->type_name("WHICH")
        ->required();
    offers(app->add_option("--stage", asked->stage, "pricing or training (default pricing)"), stage_words())
        ->type_name("NAME");
    app->add_option("--journal", asked->options.journal,
                    "Folder for unfinished work, such as on a local disk; by default the folder of the plan, "
                    "where another machine can resume it")
        ->type_name("DIR");
    asked->beside.add_options(*app, true);
    add_machine_options(*app, asked->options);
    app->footer(
        "Variables that auto looks for, in this order:\n" + shard_variables_text() +
        "\nRun a shard again to resume it; one that is done is left as it is.\n\n"
        "Exit codes: 0 done, even if trades failed (merge reports them); 2 wrong input, do not try again;\n"
        "75 a lost GPU or a failing file system, try again; 130 and 143 interrupted, try again.\n\n"
        "Examples:\n"
        "  tilewalk run night --shard 3/16\n"
        "  mpirun -n 16 tilewalk run night --shard auto");
    return {app, [asked] { return run_shard(*asked); }};
}

command add_merge(CLI::App& to) {
    CLI::App* app = to.add_subcommand("merge", "Merge the results of a plan's shards")->group("Shards");
    const auto asked = std::make_shared<merge_arguments>();
    app->add_option("DIR", asked->folder, "The folder of the plan")->required();
    add_output_options(*app, asked->options, asked->spreadsheet_safe);
    app->add_option("--totals", asked->totals,
                    "Write the totals by currency to this file, as .csv, .json, .txt or .parquet")
        ->type_name("FILE");
    app->add_flag("--tiles", asked->tiles, "In JSON, add each trade's mean by part of the run");
    app->add_option("--files", asked->files,
                    "Write the files that risk systems read to this folder; see 'tilewalk price', 'tilewalk "
                    "greeks' and 'tilewalk scenarios'")
        ->type_name("DIR");
    offers(app->add_option("--stage", asked->stage, "pricing or training (default pricing)"), stage_words())
        ->type_name("NAME");
    asked->beside.add_options(*app);
    add_machine_options(*app, asked->options);
    app->footer(
        "The results equal those of one process, bit for bit, whatever the number of shards.\n\n"
        "Exit codes: 0 all trades priced, 3 some failed, 75 shards are missing or damaged: they are\n"
        "listed, and nothing is written; 2 shards of another request; " +
        exit_code_hint() +
        "\n\nExamples:\n"
        "  tilewalk merge night\n"
        "  tilewalk merge night -o prices.csv --totals totals.csv");
    return {app, [asked] { return merge_shards(*asked); }};
}

}  // namespace tilewalk::cli
