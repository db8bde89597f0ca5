// SPDX-License-Identifier: Apache-2.0
// tilewalk verify: compares prices with known ones, and checks that mistakes planted in prices are noticed.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/interrupt.h"
#include "engine/cli/terminal/progress.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/verify.h"

namespace tilewalk::cli {

namespace {

const run_setting& setting_named(const verified_setting& of) {
    return *std::ranges::find(setting_table(), of.name, &run_setting::name);
}

struct verify_arguments {
    std::optional<std::string> trades, plant, format;
    std::vector<std::string> products;
    bool greeks = false;
    std::string output = "-";
    std::vector<std::optional<std::string>> settings;  // as typed, for each of verified_settings()
};

std::uint64_t parse_trades(const std::string& text) {
    return parse_count(text, "--trades", most_verified_trades);
}

run_settings settings_of(const verify_arguments& asked) {
    const environment variables = process_environment();
    const std::span<const verified_setting> taken = verified_settings();
    run_settings out;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const run_setting& known = setting_named(taken[i]);
        const auto take = [&](const std::string& text, const std::string& origin) {
            if (const auto wrong = known.read(text, out))
                throw error(error_kind::usage, fmt::format("{}: found {}{}", origin, quoted(text), *wrong));
        };
        const std::string variable = known.variable();
        if (const char* text = variables(variable.c_str()); text != nullptr && *text != '\0')
            take(text, variable);
        if (asked.settings[i]) take(*asked.settings[i], known.option());
    }
    return out;
}

output_format format_of(const verify_arguments& asked) {
    if (asked.format) return parse_format(*asked.format, "--format");
    if (const auto by_ending = format_of_ending(asked.output)) return *by_ending;
    refuse_ending(asked.output, {".txt", ".csv", ".json"}, ", or --format with any ending");
    return output_format::table;
}

verification run_shown(verify_request& what) {
    progress_bar bar;
    progress_notes notes("verify");
    if (bar.is_shown()) {
        what.on_progress = [&bar](const progress& now) { bar.update(now); };
    } else {
        const std::string passes = what.plant.empty()    ? ""
                                   : what.plant == "all" ? ", and again with each mistake"
                                                         : ", and again with a mistake";
        const std::uint64_t trades =
            what.trades.value_or(what.greeks ? default_verified_trades_of_greeks : default_verified_trades);
        const std::uint64_t paths = what.settings.paths.value_or(
            what.greeks ? default_verified_paths_of_greeks : default_verified_paths);
        const std::string intention =
            fmt::format("pricing {} random trade{} with {}, {} paths each{}", trades, trades == 1 ? "" : "s",
                        what.greeks ? "known sensitivities" : "a known price", paths, passes);
        // The intention is printed with the first progress, as the request has passed its checks by then.
        what.on_progress = [&notes, intention, has_begun = false](const progress& now) mutable {
            if (!std::exchange(has_begun, true)) notes.say(intention);
            notes.update(now);
        };
    }
    return verify_prices(what);
}

int run_verify(const verify_arguments& asked) {
    verify_request what;
    if (asked.trades) what.trades = parse_trades(*asked.trades);
    what.products = asked.products;
    what.greeks = asked.greeks;
    if (asked.plant && asked.plant->empty()) refuse_value("--plant", "", "the name of a mistake, or all");
    what.plant = asked.plant.value_or("");
    what.settings = settings_of(asked);
    const output_format format = format_of(asked);
    const output to(asked.output);
    keep_apart({&to}, {});
    const interrupt watch;
    what.cancel = watch.flag();
    const verification made = run_shown(what);
    const std::string text = made.text(format, to.is_stdout() ? form_of_stdout() : text_form{});
    if (made.is_complete()) {
        to.write(text);
        return made.holds() ? all_well : unverified;
    }
    watch.take_back();
    to.write(text);
    complain("tilewalk: interrupted; the results so far are written and marked as incomplete");
    return code_of_interrupt();
}

template <class F>
std::string list_of_mistakes(const F& is_listed) {
    std::string out;
    for (const known_mistake& m : known_mistakes())
        if (is_listed(m)) out += fmt::format("  {:<24} {}\n", m.name, m.what);
    return out;
}

std::vector<std::string> mistake_words() {
    std::vector<std::string> words{"all"};
    for (const known_mistake& m : known_mistakes()) words.emplace_back(m.name);
    return words;
}

}  // namespace

command add_verify(CLI::App& to) {
    CLI::App* app = to.add_subcommand("verify", verify_summary)->group("Commands");
    const auto asked = std::make_shared<verify_arguments>();
    app->add_option("--trades", asked->trades,
                    fmt::format("Number of random trades (default {}; with --greeks {})",
                                default_verified_trades, default_verified_trades_of_greeks))
        ->type_name("N");
    offers(app->add_option("--product", asked->products, "Only trades of these products"),
           verified_products())
        ->type_name("NAME")
        ->delimiter(',');
    app->add_flag("--greeks", asked->greeks,
                  "Verify sensitivities to each number of a trade's market instead of prices");
    offers(app->add_option("--plant", asked->plant,
                           "Plant a mistake, or all of them one at a time, and check that it is noticed"),
           mistake_words())
        ->type_name("NAME");
    offers(app->add_option("--format", asked->format,
                           "table, csv or json; by default what the ending of --output says, else a table"),
           format_words())
        ->type_name("NAME");
    app->add_option("-o,--output", asked->output,
                    "File for the results (- for standard output), written whole or not at all")
        ->type_name("FILE");
    const std::span<const verified_setting> taken = verified_settings();
    asked->settings.resize(taken.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const std::string name(taken[i].name);
        const std::string preset = name == "paths"
                                       ? fmt::format(" (default {}; with --greeks {})",
                                                     default_verified_paths, default_verified_paths_of_greeks)
                                   : name == "seed" ? fmt::format(" (default {})", default_verified_seed)
                                                    : "";
        CLI::Option* const option =
            app->add_option("--" + name, asked->settings[i], std::string(taken[i].help) + preset)
                ->type_name(std::string(taken[i].type));
        if (const run_setting& known = setting_named(taken[i]); !known.choices.empty())
            offers(option, known.choices);
    }
    add_quiet(*app);
    app->footer(
        "Each trade is priced by itself with a seed of its own, so that errors are independent. The table "
        "shows\n"
        "how often a correct engine misses each bound.\n\n"
        "Mistakes to plant:\n" +
        list_of_mistakes(
            [](const known_mistake& m) { return !m.of_greeks && m.with_paths && m.with_points; }) +
        "\n"
        "Without --random sobol only:\n" +
        list_of_mistakes([](const known_mistake& m) { return !m.with_points; }) +
        "\n"
        "With --random sobol only:\n" +
        list_of_mistakes([](const known_mistake& m) { return !m.with_paths; }) +
        "\n"
        "With --greeks only:\n" +
        list_of_mistakes([](const known_mistake& m) { return m.of_greeks; }) +
        "\n"
        "Examples:\n"
        "  tilewalk verify\n"
        "  tilewalk verify --product barrier --trades 2000 --paths 100k\n"
        "  tilewalk verify --plant all\n"
        "  tilewalk verify --plant all --random sobol\n"
        "  tilewalk verify --greeks --plant all\n\n"
        "Exit codes: 0 every bound holds and every mistake was noticed, 5 otherwise; " +
        exit_code_hint());
    return {app, [asked] { return run_verify(*asked); }};
}

}  // namespace tilewalk::cli
