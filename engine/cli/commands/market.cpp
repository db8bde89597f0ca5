// SPDX-License-Identifier: Apache-2.0
// tilewalk market: lists the numbers of a market by key, or writes the market with some of them changed.
#include "tilewalk/market.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include "engine/cli/commands.h"
#include "engine/cli/exit_code.h"
#include "engine/cli/help/offers.h"
#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "engine/cli/plans.h"
#include "engine/cli/settings.h"
#include "engine/cli/terminal/terminal.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"

namespace tilewalk::cli {

namespace {

struct market_arguments {
    std::string file;
    spoken options;
    bool keys = false, changes = false;
    std::vector<std::string> trades;
    std::string format = "table", output = "-";
};

struct read_file {
    market in;
    std::optional<book> trades;  // empty if the file given is a market, not a book
};

read_file read(const market_arguments& asked, std::vector<std::filesystem::path>& inputs) {
    const load_options how = resolve_load(asked.options, process_environment());
    const bool is_stdin = asked.file == "-";
    const std::string name = is_stdin ? "<stdin>" : parse_file(asked.file, "FILE");
    const std::string text = is_stdin ? text_of_standard_input("a market") : text_of_file(name, "a market");
    inputs.emplace_back(is_stdin ? "/dev/stdin" : name);
    const value root = value::parse(text, name);
    const bool is_book = root.is_mapping() && root.find("trades") != nullptr;
    if (!is_book) return {is_stdin ? market::parse(text, name, how) : market::load(name, how), {}};
    const book trades = is_stdin ? book::parse(text, name, ".", how) : book::load(name, how);
    if (!trades.market())
        throw error(error_kind::usage, "the book names no market; write market: in the book or give a market",
                    {name});
    for (const std::filesystem::path& file : trades.files()) inputs.push_back(file);
    return {*trades.market(), trades};
}

std::vector<market_number> numbers_of_trades(const read_file& from, const market& in,
                                             const std::vector<std::string>& ids) {
    if (!from.trades)
        throw error(error_kind::usage, "--trade names a trade of a book, and the file is a market");
    std::vector<std::string> keys;
    for (const trade_dependence& t : engine().depends_on(from.trades->only(ids), in)) {
        if (!t.failure.empty())
            throw error(error_kind::input, "trade " + t.trade + ": " + t.failure, t.where);
        for (const market_number& n : t.numbers) keys.push_back(n.key);
    }
    std::vector<market_number> out = in.numbers();
    std::erase_if(out, [&](const market_number& n) { return std::ranges::find(keys, n.key) == keys.end(); });
    return out;
}

int show(const market_arguments& asked) {
    const output_format format = parse_format(asked.format, "--format");
    if (asked.keys && asked.changes)
        throw error(error_kind::usage, "--keys and --changes print different lists; use one of them");
    if (!asked.trades.empty() && !asked.keys)
        throw error(error_kind::usage, "--trade selects keys; use it with --keys");
    std::vector<std::filesystem::path> inputs;
    const read_file from = read(asked, inputs);
    market of = from.in;
    if (!asked.options.changes.empty()) of = of.changed(asked.options.changes);
    const output to(asked.output);
    for (const std::filesystem::path& file : of.files()) inputs.push_back(file);
    keep_apart({&to}, inputs);
    complain_of_remarks(of);
    if (!asked.keys && !asked.changes) {
        to.write(of.written().yaml());
        return all_well;
    }
    std::ostringstream text;
    const auto numbers = asked.changes          ? of.changes()
                         : asked.trades.empty() ? of.numbers()
                                                : numbers_of_trades(from, of, asked.trades);
    write(text, numbers, format, form_of_stdout());
    to.write(text.view());
    return all_well;
}

}  // namespace

std::string market_keys_text() {
    std::string out =
        "Every number of a market has a key. A shift or a new value of it makes another market; what is no\n"
        "market, such as correlations that no factors can have, is refused by the name of the change.\n\n";
    std::size_t form = 4, key = 3;
    for (const market_key_form& row : market_key_forms()) {
        form = std::max(form, row.form.size());
        key = std::max(key, row.key.size());
    }
    out += fmt::format("{:<{}}  {:<{}}  unit\n", "form", form, "key", key);
    for (const market_key_form& row : market_key_forms())
        out += fmt::format("{:<{}}  {:<{}}  {}\n", row.form, form, row.key, key, row.unit);
    return out +
           "\nTimes are written as in the file: a date, or years with a y. Names of a correlation may come "
           "in\n"
           "either order. tilewalk market FILE --keys lists the keys of a market.\n";
}

command add_market(CLI::App& to) {
    CLI::App* app = to.add_subcommand("market", "Show a market, list its keys, change its numbers by them")
                        ->group("Commands");
    const auto asked = std::make_shared<market_arguments>();
    offers_files(
        app->add_option("FILE", asked->file, "A market, or a book with a market; - is standard input"),
        {".yaml", ".yml"})
        ->required();
    app->add_flag("--keys", asked->keys, "List the market keys with their numbers and units");
    app->add_option("--trade", asked->trades,
                    "With --keys and a book: only the numbers that this trade's price depends on; may be "
                    "repeated")
        ->type_name("ID")
        ->allow_extra_args(false);
    app->add_flag("--changes", asked->changes, "List the numbers that --shift and --set change");
    add_change_options(*app, asked->options.changes);
    offers(
        app->add_option("--format", asked->format, "Format of the lists: table, csv or json (default table)"),
        format_words())
        ->type_name("NAME");
    app->add_option("-o,--output", asked->output,
                    "File for the market or the list (- for standard output), written whole or not at all")
        ->type_name("FILE");
    add_load_options(*app, asked->options);
    add_quiet(*app);
    app->footer(
        "Without --keys the market is printed as YAML, with its numbers after the changes. 'tilewalk help\n"
        "market-keys' lists the kinds of keys.\n\n"
        "Examples:\n"
        "  tilewalk market market.yaml --keys\n"
        "  tilewalk market book.yaml --keys --trade asian_1\n"
        "  tilewalk market market.yaml --shift ACME.spot=-5 -o stressed.yaml\n"
        "  tilewalk market market.yaml --set USD.rate=0.02 --changes\n\n"
        "Exit codes: 0 all is well, 2 wrong input; " +
        exit_code_hint());
    return {app, [asked] { return show(*asked); }};
}

}  // namespace tilewalk::cli
