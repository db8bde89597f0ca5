// SPDX-License-Identifier: Apache-2.0
// tilewalk diff: two results side by side, in standard errors.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/output.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

namespace {

struct request {
    std::string first, second;
    std::optional<std::string> limit;
};

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 30;

results read(const std::string& file) {
    std::error_code failed;
    if (std::filesystem::is_directory(file, failed)) throw error(error_kind::io, "this is a folder", {file});
    std::ifstream in(file, std::ios::binary);
    if (!in) throw error(error_kind::io, "can't read: " + std::generic_category().message(errno), {file});
    std::string text;
    std::string block(std::size_t{1} << 16, '\0');
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
        text.append(block, 0, static_cast<std::size_t>(in.gcount()));
        if (text.size() > most_bytes)
            throw error(error_kind::input, "larger than 1 GiB: these are no results", {file});
    }
    if (in.bad()) throw error(error_kind::io, "can't read to the end", {file});
    return read_results(text, file);
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
