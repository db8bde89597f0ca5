// SPDX-License-Identifier: Apache-2.0
// Planning a book with the same settings that pricing it would have.
#include "engine/cli/plans.h"

#include <unistd.h>

#include <algorithm>

#include "engine/cli/output.h"

namespace tilewalk::cli {

job load_job(const std::string& book_file, const spoken& options) {
    book trades = book::load(book_file, {.strict = settle_strict(options, process_environment()).value});
    settings with = settle(options, process_environment(), trades, book_file, is_terminal(STDOUT_FILENO));
    return {std::move(trades), std::move(with), book_file};
}

void check_market(const job& of) {
    if (!of.with.market.value.empty() || of.trades.market()) return;
    throw error(error_kind::usage,
                "the book names no market; write market: in the book or give --market FILE", {of.file});
}

market market_of(const job& of) {
    check_market(of);
    return of.with.market.value.empty() ? *of.trades.market() : market::load(of.with.market.value);
}

void complain_of_remarks(const market& of) {
    constexpr std::size_t most = 8;
    const std::vector<std::string> remarks = of.remarks();
    for (std::size_t i = 0; i < std::min(most, remarks.size()); ++i)
        complain("tilewalk: warning: " + remarks[i]);
    if (remarks.size() > most) {
        complain("tilewalk: and " + std::to_string(remarks.size() - most) +
                 " more of the kind; tilewalk explain tells them all");
    }
}

void complain_of_correlations(const std::vector<factor_pair>& missing) {
    if (missing.empty()) return;
    complain("tilewalk: warning: the market states no correlation of " + pairs_text(missing) +
             ": taken as 0; [" + missing.front().first + ", " + missing.front().second +
             ", 0] under correlations says that it is meant");
}

std::vector<trade_plan> plan(const job& of, const market& in) {
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
