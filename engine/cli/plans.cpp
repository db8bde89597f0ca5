// SPDX-License-Identifier: Apache-2.0
// Plans a book with the settings that pricing would use.
#include "engine/cli/plans.h"

#include <unistd.h>

#include <algorithm>

#include "engine/cli/input.h"
#include "engine/cli/output.h"
#include "tilewalk/printable.h"
#include "tilewalk/results.h"

namespace tilewalk::cli {

namespace {

constexpr const char* standard_input = "<stdin>";

book read_book(const std::string& file, const load_options& how) {
    if (file != "-") return book::load(parse_file(file, "BOOK"), how);
    if (is_terminal(STDIN_FILENO)) remark("tilewalk: reading the book from standard input");
    return book::parse(text_of_standard_input("a book"), standard_input, ".", how);
}

}  // namespace

chosen_book load_book(const std::string& book_file, const spoken& options, timings* times) {
    const std::string name = book_file == "-" ? standard_input : book_file;
    load_options how = resolve_load(options, process_environment());
    how.times = times;
    book trades = read_book(book_file, how);
    if (!options.trades.empty()) trades = trades.only(options.trades);
    settings with =
        resolve_settings(options, process_environment(), trades, name, is_terminal(STDOUT_FILENO));
    return {std::move(trades), std::move(with), name, options.changes};
}

std::vector<std::filesystem::path> inputs_of(const chosen_book& of, const market& in) {
    std::vector<std::filesystem::path> out = of.trades.files();
    for (auto& file : in.files()) out.push_back(std::move(file));
    for (const auto& named : {of.with.run.replay, of.with.run.policy})
        if (named) out.emplace_back(*named);
    if (of.file == standard_input) out.emplace_back("/dev/stdin");
    return out;
}

void check_market(const chosen_book& of) {
    if (!of.with.market.value.empty() || of.trades.market()) return;
    throw error(error_kind::usage,
                "the book names no market; write market: in the book or give --market FILE", {of.file});
}

void check_trades(const chosen_book& of) {
    if (of.trades.size() > 0) return;
    if (of.with.strict.value) {
        throw error(
            error_kind::input,
            std::string(remark_on_no_trades) + ", expected at least one where files are read strictly",
            {of.file});
    }
    remark(std::string("tilewalk: warning: ") + remark_on_no_trades);
}

market market_of(const chosen_book& of, timings* times) {
    check_market(of);
    const timings::during reading(times, stage::reading_market);
    const market as_read =
        of.with.market.value.empty()
            ? *of.trades.market()
            : market::load(of.with.market.value, {of.with.strict.value, of.with.confine.value});
    return of.changes.empty() ? as_read : as_read.changed(of.changes);
}

void complain_of_remarks(const market& of) {
    constexpr std::size_t most = 8;
    const std::vector<std::string> remarks = of.remarks();
    for (std::size_t i = 0; i < std::min(most, remarks.size()); ++i)
        remark("tilewalk: warning: " + remarks[i]);
    if (remarks.size() > most) {
        remark("tilewalk: and " + std::to_string(remarks.size() - most) +
               " more of the kind; tilewalk explain lists them all");
    }
}

void complain_of_correlations(const std::vector<factor_pair>& missing) {
    if (missing.empty()) return;
    remark("tilewalk: warning: " + remark_on_correlations(missing));
}

void complain_of_few_parts(const results& r) {
    if (const std::string few = remark_on_few_parts(r); !few.empty()) remark("tilewalk: warning: " + few);
}

std::vector<trade_plan> plan(const chosen_book& of, const market& in) {
    const engine planner({of.with.instruction_set.value});
    return planner.explain(of.trades, in, of.with.options());
}

std::string problem_line(const trade_problem& problem) {
    const std::string place = to_string(problem.where);
    return printable(place + (place.empty() ? "" : ": ") + "trade " + problem.trade + ": " +
                     problem.failure) +
           '\n';
}

}  // namespace tilewalk::cli
