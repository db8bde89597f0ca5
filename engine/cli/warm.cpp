// SPDX-License-Identifier: Apache-2.0
// tilewalk warm: compiles the kernels of a book ahead of time, also where there is no GPU.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/terminal.h"
#include "tilewalk/products.h"

namespace tilewalk::cli {

namespace {

struct warm_arguments {
    std::string book;
    std::vector<std::string> architectures;
    spoken options;
};

// "sm_90" or "sm_90a".
bool is_architecture(std::string text) {
    if (text.ends_with('a') || text.ends_with('f')) text.pop_back();
    return text.starts_with("sm_") && text.size() >= 5 && text.size() <= 6 &&
           std::ranges::all_of(text.substr(3), [](char c) { return c >= '0' && c <= '9'; });
}

std::string report(const std::vector<warmed_kernel>& kernels) {
    std::size_t width = 6;
    for (const auto& k : kernels) width = std::max(width, printable(k.name).size());
    std::string out;
    std::size_t failed = 0, found = 0;
    for (const auto& k : kernels) {
        failed += !k.failure.empty();
        found += k.failure.empty() && k.from_cache;
        out += fmt::format("{:<{}}  {:<7}  {:<10}  {:>6.2f} s  {}\n", printable(k.name), width,
                           printable(k.architecture),
                           !k.failure.empty() ? "FAILED"
                           : k.from_cache     ? "from cache"
                                              : "compiled",
                           k.seconds, printable(joined(k.products)));
        if (!k.failure.empty()) out += "  " + printable(k.failure) + '\n';
    }
    return out + fmt::format("{} kernel{}: {} compiled, {} from the cache, {} failed\n", kernels.size(),
                             kernels.size() == 1 ? "" : "s", kernels.size() - failed - found, found, failed);
}

int warm(const warm_arguments& asked) {
    for (const auto& name : asked.architectures)
        if (!is_architecture(name))
            throw error(error_kind::usage,
                        fmt::format("--arch: found '{}', expected an architecture such as sm_90", name));
    const chosen_book wanted = load_book(asked.book, asked.options);
    if (asked.options.print_config) {
        output("-").write(wanted.with.text(wanted.trades));
        return all_well;
    }
    const engine compiles({wanted.with.instruction_set.value});
    const market of = market_of(wanted);
    const output to("-");
    keep_apart({&to}, inputs_of(wanted, of));
    const auto kernels = compiles.warm(wanted.trades, of, wanted.with.options(), asked.architectures);
    to.write(folded(report(kernels), form_of_stdout().columns));
    const bool all_there = std::ranges::all_of(kernels, &std::string::empty, &warmed_kernel::failure);
    return all_there ? all_well : some_failed;
}

}  // namespace

command add_warm(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("warm", "Compile the GPU kernels of a book ahead of time")->group("Commands");
    const auto asked = std::make_shared<warm_arguments>();
    app->add_option("BOOK", asked->book, "The book, a YAML file; - is standard input")->required();
    app->add_option("--arch", asked->architectures,
                    "GPUs to compile for, such as sm_90; may be repeated. If left out,\n"
                    "those of this machine")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->delimiter(',');
    add_book_options(*app, asked->options);
    app->footer(
        "The kernels go to TILEWALK_CACHE_DIR, else to tilewalk in the user's cache folder; a run with the\n"
        "same settings finds them there.\n\n" +
        ranking_text() +
        "\n"
        "Examples:\n"
        "  tilewalk warm book.yaml\n"
        "  tilewalk warm book.yaml --arch sm_80 --arch sm_90 --precision mixed\n\n"
        "Exit codes: 0 all kernels are there, 3 some failed or there is no compiler;\n" +
        exit_code_hint());
    return {app, [asked] { return warm(*asked); }};
}

}  // namespace tilewalk::cli
