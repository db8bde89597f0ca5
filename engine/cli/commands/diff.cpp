// SPDX-License-Identifier: Apache-2.0
// tilewalk diff: two results side by side, to the bit or in standard errors.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/compare.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

namespace {

struct diff_arguments {
    std::string first, second;
    std::optional<std::string> limit, tolerance;
};

results read(const std::string& file) {
    return read_results(text_of_file(file, "results"), file);
}

std::optional<double> size_in(std::string_view text) {
    double size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(size) || size < 0)
        return {};
    return size;
}

double parse_limit(const std::string& text) {
    const auto limit = size_in(text);
    if (!limit)
        throw error(error_kind::usage,
                    fmt::format("--limit: found '{}', expected a number of at least 0", text));
    return *limit;
}

price_tolerance parse_tolerance(const std::string& text) {
    constexpr std::string_view basis_points = "bp";
    constexpr double basis_point = 1e-4;
    const bool is_of_price = text.ends_with(basis_points);
    const auto size =
        size_in(std::string_view(text).substr(0, text.size() - (is_of_price ? basis_points.size() : 0)));
    if (!size)
        throw error(
            error_kind::usage,
            fmt::format("--tolerance: found '{}', expected an amount in the trade's currency, such as "
                        "0.01, or a part of the price, such as 1bp",
                        text));
    return {is_of_price ? *size * basis_point : *size, is_of_price};
}

int diff(const diff_arguments& asked) {
    difference_rule by;
    if (asked.limit) by.limit = parse_limit(*asked.limit);
    if (asked.tolerance) by.tolerance = parse_tolerance(*asked.tolerance);
    const output to("-");
    keep_apart({&to}, {asked.first, asked.second});
    const results first = read(parse_file(asked.first, "A"));
    const comparison c = compare(first, read(parse_file(asked.second, "B")));
    std::ostringstream text;
    write(text, c, by, form_of_stdout());
    if (asked.limit && c.common_random_numbers)
        text << "--limit is for independent random numbers; it was not used\n";
    to.write(text.view());
    return c.differing(by) == 0 ? all_well : some_failed;
}

}  // namespace

command add_diff(CLI::App& to) {
    CLI::App* app = to.add_subcommand("diff", "Compare two results, bit for bit or in standard errors")
                        ->group("Commands");
    const auto asked = std::make_shared<diff_arguments>();
    app->add_option("A", asked->first, "Results that 'tilewalk price --format json' wrote")->required();
    app->add_option("B", asked->second, "Results to compare with A")->required();
    CLI::Option* limit =
        app->add_option("--limit", asked->limit,
                        "Most standard errors by which prices with independent random numbers may differ "
                        "(default 4.5)")
            ->type_name("Z");
    app->add_option("--tolerance", asked->tolerance,
                    "Most by which prices of one unit may differ: an amount in the trade's currency, such as "
                    "0.01, or a fraction of the first price, such as 1bp")
        ->type_name("SIZE")
        ->excludes(limit);
    app->footer(
        "Prices from the same random numbers (the same paths, seed and source) must be equal, bit for bit,\n"
        "unless a tolerance allows a difference.\n\n"
        "Examples:\n"
        "  tilewalk diff yesterday.json today.json --tolerance 1bp\n"
        "  tilewalk diff a.json b.json                  # the same prices or exit code 3\n"
        "  tilewalk diff seed_1.json seed_2.json --limit 4\n\n"
        "Exit codes: 0 all trades agree, 3 some differ, are missing or failed in one;\n" +
        exit_code_hint());
    return {app, [asked] { return diff(*asked); }};
}

}  // namespace tilewalk::cli
