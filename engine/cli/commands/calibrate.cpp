// SPDX-License-Identifier: Apache-2.0
// tilewalk calibrate: fits models to quotes and writes the market with the fitted parameters.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/calibration.h"

namespace tilewalk::cli {

namespace {

struct calibrate_arguments {
    std::string quotes, format = "table";
    std::optional<std::string> output;
    spoken options;
};

int run_calibrate(const calibrate_arguments& asked) {
    const output_format format = parse_format(asked.format, "--format");
    if (asked.output == "-") {
        throw error(error_kind::usage,
                    "--output: found '-', expected a file for the market; the fit goes to standard output");
    }
    const market_quotes to = market_quotes::load(parse_file(asked.quotes, "QUOTES"),
                                                 resolve_load(asked.options, process_environment()));
    const output report("-");
    std::optional<output> market;
    std::vector<const output*> all{&report};
    if (asked.output) {
        market.emplace(*asked.output);
        const std::vector<std::string> expected{".yaml", ".yml"};
        if (std::ranges::find(expected, ending_of(*asked.output)) == expected.end())
            refuse_ending(*asked.output, expected);
        all.push_back(&*market);
    }
    keep_apart(all, {asked.quotes});
    const calibration fitted = calibrate(to);
    if (market) market->write(fitted.market);
    std::ostringstream text;
    write(text, fitted, format, form_of_stdout());
    report.write(text.view());
    if (fitted.is_sound()) return all_well;
    for (const model_fit& fit : fitted.fits) {
        if (fit.is_sound()) continue;
        complain(fmt::format("tilewalk: {} of {}{}: {}", fit.model, fit.of,
                             fit.part.empty() ? "" : " at " + fit.part,
                             !fit.has_converged  ? "the fit did not converge"
                             : fit.has_arbitrage ? "the fit has arbitrage at quoted strikes"
                                                 : "the fit stopped at a bound"));
    }
    return some_failed;
}

}  // namespace

command add_calibrate(CLI::App& to) {
    CLI::App* app = to.add_subcommand("calibrate", "Fit models to quotes, and write the market with them")
                        ->group("Commands");
    const auto asked = std::make_shared<calibrate_arguments>();
    app->add_option("QUOTES", asked->quotes, "A market with quotes under calibrate, a YAML file")->required();
    app->add_option("-o,--output", asked->output,
                    "File for the market with the fitted models, written whole or not at all")
        ->type_name("FILE");
    offers(
        app->add_option("--format", asked->format, "Format of the fit: table, csv or json (default table)"),
        format_words())
        ->type_name("NAME");
    add_quiet(*app);
    add_load_options(*app, asked->options);
    app->footer(
        "A file of quotes is a market file with one more key:\n"
        "  calibrate:\n"
        "    ACME: {heston: {by_strike: {2027-01-15: {90: 0.24, 100: 0.22, 110: 0.21}}}}\n"
        "    BETA: {svi: {quotes: [{expiry: 0.5, strike: 48, volatility: 0.31}, ...]}}\n"
        "    USD:\n"
        "      hull_white:\n"
        "        swaptions: [{expiry: 1, tenor: 5, volatility: 0.0065, type: normal}, ...]\n"
        "Models: heston, bates, svi, hull_white, g2. A parameter may be fixed (fixed: {kappa: 1.5}) or\n"
        "bounded (bounds: {kappa: [0.5, 5]}).\n\n"
        "Examples:\n"
        "  tilewalk calibrate quotes.yaml\n"
        "  tilewalk calibrate quotes.yaml --output market.yaml\n"
        "  tilewalk price book.yaml --market market.yaml\n\n"
        "Exit codes: 0 every fit is good, 3 one did not converge, stopped at a bound or has arbitrage (all "
        "are\n"
        "reported and written nevertheless); " +
        exit_code_hint());
    return {app, [asked] { return run_calibrate(*asked); }};
}

}  // namespace tilewalk::cli
