// SPDX-License-Identifier: Apache-2.0
// tilewalk tune: times the ways to build a book's kernels on this GPU and remembers the fastest.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/terminal/status_line.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"

namespace tilewalk::cli {

namespace {

struct tune_arguments {
    std::string book;
    std::optional<std::string> seconds;
    bool of_greeks = false;
    spoken options;
};

double parse_seconds(const std::string& text) {
    double seconds = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (code != std::errc() || end != text.data() + text.size() || !is_tuning_time(seconds)) {
        throw error(error_kind::usage,
                    fmt::format("--seconds: found '{}', expected {}", text, expected_tuning_time()));
    }
    return seconds;
}

int tune(const tune_arguments& asked) {
    const double seconds = asked.seconds ? parse_seconds(*asked.seconds) : default_tuning_seconds;
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const engine tunes({wanted.with.instruction_set.value});
    const market of = market_of(wanted);
    const output to("-");
    keep_apart({&to}, inputs_of(wanted, of));
    std::vector<tuned_kernel> kernels;
    {
        status_line status;
        const auto says = [&](const std::string& text) { status.say(text); };
        kernels = asked.of_greeks
                      ? tunes.tune_greeks(wanted.trades, of, {}, wanted.with.options(), seconds, says)
                      : tunes.tune(wanted.trades, of, wanted.with.options(), seconds, says);
    }
    to.write(folded(kernel_table(kernels), form_of_stdout().columns));
    if (kernels.empty()) {
        remark(asked.of_greeks
                   ? "tilewalk: nothing to tune: no trade of the book has sensitivities by a backward pass; "
                     "the others come from its usual kernels"
                   : "tilewalk: nothing to tune: no trade of the book simulates paths");
    }
    const bool all_there = std::ranges::all_of(kernels, &std::string::empty, &tuned_kernel::failure);
    return all_there ? all_well : some_failed;
}

}  // namespace

command add_tune(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("tune", "Find the fastest way to build a book's GPU kernels, and keep it")
            ->group("Commands");
    const auto asked = std::make_shared<tune_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file; - is standard input")->required();
    app->add_option("--seconds", asked->seconds,
                    fmt::format("Most seconds for each kernel, without compilation (default {})",
                                default_tuning_seconds))
        ->type_name("X");
    app->add_flag("--greeks", asked->of_greeks, "Tune the kernels of 'tilewalk greeks'");
    add_book_options(*app, asked->options);
    app->footer(
        "All ways give the same results, bit for bit; one that does not is left out and reported. The "
        "fastest "
        "is\n"
        "kept in TILEWALK_CACHE_DIR, else in the user's cache folder, for this GPU, driver and kernel. Runs\n"
        "that leave prefetch, distance, rows, layout, width and block open use it; 'tilewalk explain' shows\n"
        "it.\n\n" +
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk tune book.yaml\n"
        "  tilewalk tune book.yaml --random curand_philox --seconds 5\n"
        "  tilewalk tune book.yaml --greeks\n\n"
        "Exit codes: 0 all kernels are tuned, 3 some failed, 75 there is no GPU;\n" +
        exit_code_hint());
    return {app, [asked] { return tune(*asked); }};
}

}  // namespace tilewalk::cli
