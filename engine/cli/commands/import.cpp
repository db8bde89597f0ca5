// SPDX-License-Identifier: Apache-2.0
// tilewalk import: makes a book of another system's portfolio, and lists unsupported trades with their place.
#include "tilewalk/import.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "engine/cli/settings.h"
#include "tilewalk/printable.h"

namespace tilewalk::cli {

namespace {

struct import_arguments {
    std::string portfolio, names, market, output = "-";
};

std::string market_of_book(const std::string& market, const output& to) {
    if (to.is_stdout() || std::filesystem::path(market).is_absolute()) return market;
    std::error_code unknown;
    const auto folder = std::filesystem::absolute(to.target(), unknown).parent_path();
    const auto from_there = std::filesystem::relative(market, folder, unknown);
    return unknown || from_there.empty() ? market : from_there.generic_string();
}

std::string refused_line(const refused_trade& refused) {
    return printable(
        fmt::format("{}: trade {}: {}", to_string(refused.where), refused.trade, refused.reason));
}

// Returns the book's text, headed by comments on how fields were interpreted.
std::string book_text(const imported_portfolio& read, const import_arguments& asked, const output& to) {
    std::string text =
        printable(fmt::format("# {} of {} trades of {}", read.imported, read.found, asked.portfolio)) + "\n";
    for (const std::string& line : read.taken) text += printable("# taken: " + line) + "\n";
    for (const refused_trade& refused : read.refused) text += "# left out: " + refused_line(refused) + "\n";
    value book;
    if (!asked.market.empty()) book["market"] = market_of_book(asked.market, to);
    for (const value::member& m : read.book.members()) book[m.key] = m.held;
    return text + book.yaml() + "...\n";
}

int run_import(const import_arguments& asked) {
    const output to(asked.output);
    const bool is_stdin = asked.portfolio == "-";
    const imported_portfolio read =
        is_stdin ? import_ore_text(text_of_standard_input("a portfolio"), "<stdin>", asked.names)
                 : import_ore(parse_file(asked.portfolio, "PORTFOLIO"), asked.names);
    std::vector<std::filesystem::path> inputs = read.files;
    if (!asked.market.empty()) inputs.emplace_back(asked.market);
    if (is_stdin) inputs.emplace_back("/dev/stdin");
    keep_apart({&to}, inputs);
    to.write(book_text(read, asked, to));
    for (const refused_trade& refused : read.refused) complain(refused_line(refused));
    remark(fmt::format("tilewalk: {} of {} trade{} imported", read.imported, read.found,
                       read.found == 1 ? "" : "s"));
    return read.refused.empty() ? all_well : some_failed;
}

std::string list_of_kinds() {
    std::string out;
    std::size_t width = 0;
    const std::vector<known_trade> all = known_ore_trades();
    for (const known_trade& one : all) width = std::max(width, one.name.size());
    for (const known_trade& one : all) out += fmt::format("  {:<{}}  {}\n", one.name, width, one.products);
    return out;
}

}  // namespace

command add_import(CLI::App& to) {
    CLI::App* app =
        to.add_subcommand("import", "Turn a portfolio in ORE's XML into a book")->group("Commands");
    const auto asked = std::make_shared<import_arguments>();
    app->add_option("PORTFOLIO", asked->portfolio, "The portfolio, an XML file; - is standard input")
        ->required();
    app->add_option("-o,--output", asked->output,
                    "File for the book, written whole or not at all (default standard output)")
        ->type_name("FILE");
    app->add_option("--names", asked->names,
                    "YAML file that maps names of the portfolio to assets and calendars")
        ->type_name("FILE");
    app->add_option("--market", asked->market, "Market that the book should name")->type_name("FILE");
    add_quiet(*app);
    app->footer("Trade types and the products that they become:\n" + list_of_kinds() +
                "\n"
                "A trade with a field that its product can't express is left out, with line and column; no "
                "field that\n"
                "may change its value is ignored.\n\n"
                "A file of names:\n"
                "  assets: {RIC:.SPX: INDEX, EURUSD: EUR_USD}\n"
                "  calendars: {TARGET: target.yaml, US: weekends}\n"
                "  without_credit: [CPTY_A]\n\n"
                "Examples:\n"
                "  tilewalk import portfolio.xml --market market.yaml -o book.yaml\n"
                "  tilewalk import portfolio.xml --names names.yaml > book.yaml\n\n"
                "Exit codes: 0 every trade was imported, 3 some were not, 2 the file can't be read;\n" +
                exit_code_hint());
    return {app, [asked] { return run_import(*asked); }};
}

}  // namespace tilewalk::cli
