// SPDX-License-Identifier: Apache-2.0
// tilewalk diff: two results side by side, in standard errors.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

namespace {

struct request {
    std::string first, second;
    std::optional<std::string> limit;
};

results read(const std::string& file) {
    return read_results(text_of_file(file, "results"), file);
}

double parse_limit(const std::string& text) {
    double limit = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(limit) || limit < 0)
        throw error(error_kind::usage,
                    fmt::format("--limit: found '{}', expected a number of at least 0", text));
    return limit;
}

int diff(const request& asked) {
    const double limit = asked.limit ? parse_limit(*asked.limit) : default_limit;
    const results first = read(asked.first);
    const comparison c = compare(first, read(asked.second));
    std::ostringstream text;
    write(text, c, limit);
    output("-").write(text.view());
    return c.beyond(limit) == 0 ? all_well : some_failed;
}

}  // namespace

command add_diff(CLI::App& to) {
    CLI::App* app = to.add_subcommand("diff", "Compare two results in standard errors")->group("Commands");
    const auto asked = std::make_shared<request>();
    app->add_option("A", asked->first, "Results as `tilewalk price --format json` writes them")->required();
    app->add_option("B", asked->second, "The results to compare with them")->required();
    app->add_option("--limit", asked->limit, "Standard errors that a difference may have (default 4.5)")
        ->type_name("Z");
    app->footer(
        "Examples:\n"
        "  tilewalk diff yesterday.json today.json\n"
        "  tilewalk diff a.json b.json --limit 0     # the same prices or exit code 3\n\n"
        "Exit codes: 0 all trades within the limit, 3 some beyond it, missing or failed in one, 2 bad usage "
        "or input.");
    return {app, [asked] { return diff(*asked); }};
}

}  // namespace tilewalk::cli
