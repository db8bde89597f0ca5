// SPDX-License-Identifier: Apache-2.0
// tilewalk price: prices a book and reports it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/merged.h"
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
#include "engine/cli/workers.h"
#include "engine/cli/written.h"
#include "tilewalk/devices.h"
#include "tilewalk/differences.h"
#include "tilewalk/files.h"

namespace tilewalk::cli {

namespace {

struct price_arguments {
    std::string book;
    spoken options;
    std::optional<std::string> totals;
    std::string files;  // a folder; empty if no files are wanted
    side_files beside;
    bool spreadsheet_safe = false;
    bool shows_timings = false;
    bool tiles = false;
    std::string workers;  // a number; empty to price in this process alone
};

results run(const engine& pricer, const chosen_book& asked, const market& of, const side_files& beside,
            timings& times) {
    if (!asked.with.journal.value.empty()) note_kept();
    progress_bar bar;
    run_options options = asked.with.options();
    if (bar.is_shown()) options.on_progress = [&bar](const progress& now) { bar.update(now); };
    beside.ask(options);
    options.times = &times;
    return pricer.price(asked.trades, of, options);
}

std::vector<std::string> arguments_of_workers(const chosen_book& asked, std::size_t workers) {
    std::vector<std::string> out{"--instruction-set", asked.with.instruction_set.value};
    const run_settings said = over(asked.with.run, asked.trades.settings());
    for (const run_setting& known : setting_table()) {
        const auto text = known.text(said);
        if (known.decides_bits || !text || known.name == "threads") continue;
        out.insert(out.end(), {known.option(), *text});
    }
    const auto cores = static_cast<std::size_t>(usable_cores());
    const auto threads = static_cast<std::size_t>(said.threads.value_or(0));
    out.insert(
        out.end(),
        {"--threads", std::to_string(threads > 0 ? threads : std::max<std::size_t>(1, cores / workers))});
    return out;
}

// Parses the number of workers. The limit keeps processes from waiting for cores and filling the memory.
std::size_t workers_of(const std::string& text) {
    constexpr std::size_t for_each_core = 4, least = 16;
    return parse_count(text, "--workers",
                       std::max(least, for_each_core * static_cast<std::size_t>(usable_cores())));
}

std::size_t shards_for(std::size_t workers, const chosen_book& asked) {
    constexpr std::size_t of_each = 4;  // shards per worker, so that no worker waits long for the last
    const std::uint64_t paths = over(asked.with.run, asked.trades.settings()).paths.value_or(default_paths);
    return std::min(of_each * workers, shards::most(asked.trades.size(), 1, paths));
}

// Returns the folder of a further plan, with more paths, if the merged shards miss the tolerance; else empty.
std::filesystem::path at_next(const engine& by, const shards& done) {
    if (!done.request().fixed) return {};
    done.merge(by);
    return done.next_folder();
}

int price_by_workers(price_arguments& asked, const chosen_book& wanted, std::size_t workers) {
    if (asked.book == "-")
        throw error(error_kind::usage,
                    "--workers: found a book on standard input, expected a file, which each worker reads");
    const output to(wanted.with.output.value);
    const report_folder files(asked.files, value_reports());
    if (asked.totals) refuse_unknown_ending(output(*asked.totals, "--totals").name(), "--totals");
    const engine by({wanted.with.instruction_set.value});
    const sharded_request request = request_of(asked.book, asked.options, wanted);
    std::optional<passing_folder> passing;
    const std::filesystem::path folder = wanted.with.journal.value.empty()
                                             ? passing.emplace().path()
                                             : std::filesystem::path(wanted.with.journal.value) /
                                                   ("shards-" + shards::digest_of(request).substr(0, 16));
    std::filesystem::path at = folder;  // folder of the present plan
    std::optional<shards> plan;
    {
        const interrupt listening;
        run_options options = wanted.with.options();
        options.cancel = listening.flag();
        options.journal.clear();
        plan.emplace(shards::plan(by, request, shards_for(workers, wanted), folder, INFINITY, options));
    }
    for (; !at.empty(); at = at_next(by, *plan)) {
        plan = shards::open(at);
        const int failed =
            run_in_workers(*plan, at, shards::stage::pricing, workers, arguments_of_workers(wanted, workers));
        if (failed != all_well) return failed;
    }
    return report_merged(*plan, wanted.with, asked.totals, asked.files, asked.spreadsheet_safe, asked.tiles,
                         asked.beside);
}

int price(price_arguments& asked, timings& times) {
    std::optional<timings::during> ending;  // times the destruction of all objects below
    const engine pricer = engine_for(asked.options);
    const std::size_t workers = asked.workers.empty() ? 0 : workers_of(asked.workers);
    if (workers == 0) open_devices_of(pricer, asked.options, times);
    const chosen_book wanted = load_book(asked.book, asked.options, &times);
    const settings& with = wanted.with;
    if (asked.options.print_config) {
        output("-").write(with.text(wanted.trades));
        return all_well;
    }
    if (asked.tiles && with.format.value != result_format::json)
        throw error(error_kind::usage, "--tiles adds means by part of the run to JSON; use --format json");
    check_market(wanted);
    check_trades(wanted);
    if (workers > 0) return price_by_workers(asked, wanted, workers);
    const output to(with.output.value);
    std::optional<output> totals_to;
    std::vector<const output*> all{&to};
    if (asked.totals) {
        all.push_back(&totals_to.emplace(*asked.totals, "--totals"));
        refuse_unknown_ending(*asked.totals, "--totals");
    }
    asked.beside.open();
    for (const output* one : asked.beside.outputs()) all.push_back(one);
    const market of = market_of(wanted, &times);
    const report_folder files(asked.files, value_reports());
    files.keep_apart_from(inputs_of(wanted, of), all);
    complain_of_remarks(of);
    const results r = run(pricer, wanted, of, asked.beside, times);
    text_form form = to.is_stdout() ? form_of_stdout() : text_form{};
    form.spreadsheet_safe = asked.spreadsheet_safe;
    form.parts = asked.tiles;
    form.threads = over(with.run, wanted.trades.settings()).threads.value_or(0);
    std::optional<timings::during> writing(std::in_place, &times, stage::writing);
    to.write(written_prices(r, with.format.value, form));
    if (totals_to) totals_to->write(written_totals(r, *asked.totals, form));
    if (!asked.files.empty()) files.write(value_reports(), valued(wanted.trades, of, r));
    asked.beside.write(
        {.prices = r, .trades = &wanted.trades, .in = &of, .times = &times, .command = command_as_typed()});
    writing.reset();
    ending.emplace(&times, stage::ending);
    tell_of_journal(r);
    tell_of_gpus(r);
    complain_of_correlations(r.manifest.missing_correlations);
    const int code = code_of(r, !to.is_stdout() || with.format.value != result_format::table);
    end_process(code, asked.shows_timings ? &times : nullptr);
    return code;
}

}  // namespace

command add_price(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("price", "Price a book: every trade with its standard error")->group("Commands");
    const auto asked = std::make_shared<price_arguments>();
    add_result_options(*app, asked->book, asked->options, asked->spreadsheet_safe, asked->shows_timings);
    app->add_option("--totals", asked->totals,
                    "Write the totals by currency to this file, as .csv, .json, .txt or .parquet")
        ->type_name("FILE");
    app->add_option("--files", asked->files,
                    "Write the files that risk systems read, listed below, to this folder")
        ->type_name("DIR");
    app->add_flag(
        "--tiles", asked->tiles,
        "In JSON, add each trade's mean by part of the run, for standard errors of sums over trades "
        "and of differences between runs with the same seed");
    app->add_option("--workers", asked->workers,
                    "Price in this many processes on this machine; one that dies is replaced")
        ->type_name("N");
    asked->beside.add_options(*app);
    add_book_options(*app, asked->options);
    app->footer(
        files_text(value_reports()) + ranking_text() +
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
    return {app, [asked] { return timed(*asked, price); }};
}

}  // namespace tilewalk::cli
