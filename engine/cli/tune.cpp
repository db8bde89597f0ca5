// SPDX-License-Identifier: Apache-2.0
// tilewalk tune: times the ways to build a book's kernels on this GPU and remembers the fastest.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/status_line.h"
#include "engine/cli/terminal.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

struct tune_arguments {
    std::string book;
    std::string seconds = "2";
    bool of_greeks = false;
    spoken options;
};

double parse_seconds(const std::string& text) {
    double seconds = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (code != std::errc() || end != text.data() + text.size() || !(seconds > 0) || !(seconds <= 3600)) {
        throw error(error_kind::usage,
                    fmt::format("--seconds: found '{}', expected a number above 0, up to 3600", text));
    }
    return seconds;
}

std::string report(const std::vector<tuned_kernel>& kernels) {
    std::string out;
    std::size_t failed = 0, faster = 0;
    for (const auto& k : kernels) {
        out += printable(k.name) + (k.products.empty() ? "" : "  " + printable(joined(k.products))) + '\n';
        if (!k.failure.empty()) {
            ++failed;
            out += "  FAILED: " + printable(k.failure) + '\n';
            continue;
        }
        const bool is_faster = k.best != k.untuned;
        faster += is_faster;
        out += fmt::format("  by the rules  {:>9.4f} ms  {}\n", k.untuned_milliseconds, k.untuned);
        if (is_faster) {
            out += fmt::format("  fastest       {:>9.4f} ms  {}: {:.2f} times as fast\n", k.best_milliseconds,
                               k.best, k.untuned_milliseconds / k.best_milliseconds);
        } else {
            out += "  and nothing was faster\n";
        }
        out += fmt::format("  {} ways, {} paths a trade, timed for {:.1f} s; kept in {}\n", k.candidates,
                           k.paths, k.seconds, printable(k.kept_in));
    }
    return out + fmt::format("{} kernel{}: {} made faster, {} failed\n", kernels.size(),
                             kernels.size() == 1 ? "" : "s", faster, failed);
}

int tune(const tune_arguments& asked) {
    const double seconds = parse_seconds(asked.seconds);
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
    to.write(folded(report(kernels), form_of_stdout().columns));
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
                    "Longest time for each kernel, compilation apart (default 2)")
        ->type_name("X");
    app->add_flag("--greeks", asked->of_greeks,
                  "Tune the kernels of tilewalk greeks, by how they read back what paths keep");
    add_book_options(*app, asked->options);
    app->footer(
        "Every way gives the same bits; one that does not is left out and reported. The fastest is kept in\n"
        "TILEWALK_CACHE_DIR, else in the user's cache folder, for this GPU, driver and kernel: runs that "
        "leave\n"
        "prefetch, distance, rows, layout, width and block open take it, and tilewalk explain says so.\n\n" +
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
