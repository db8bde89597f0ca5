// SPDX-License-Identifier: Apache-2.0
// Planning a book with the same settings that pricing it would have.
#include "engine/cli/plans.h"

#include "engine/cli/settings.h"

namespace tilewalk::cli {

void check_market(const book& trades, const std::string& book_file) {
    if (trades.market()) return;
    throw error(error_kind::usage,
                "the book names no market; write market: in the book or give --market FILE", {book_file});
}

std::vector<trade_plan> plan_book(const std::string& book_file,
                                  const std::optional<std::string>& market_option) {
    const book trades = book::load(book_file);
    spoken options;
    options.market = market_option;
    const settings with = settle(options, process_environment(), trades, book_file, false);
    const engine planner({with.instruction_set.value});
    if (!with.market.value.empty())
        return planner.explain(trades, market::load(with.market.value), with.options());
    check_market(trades, book_file);
    return planner.explain(trades, *trades.market(), with.options());
}

std::string problem_line(const trade_plan& plan) {
    const std::string place = to_string(plan.where);
    return printable(place + (place.empty() ? "" : ": ") + "trade " + plan.trade + ": " + plan.failure) +
           '\n';
}

}  // namespace tilewalk::cli
