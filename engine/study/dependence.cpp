// SPDX-License-Identifier: Apache-2.0
// Finds the numbers of a market that each trade's price depends on.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/crew.h"
#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/market/market_view.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/written_market.h"
#include "engine/study/dependence.h"
#include "engine/study/read_parts.h"

namespace tilewalk {

namespace studies {

namespace {

// A trade's plan in the given market, and the parts of the market that it has read.
struct first_plan {
    std::optional<plan::trade_program> made;
    markets::market_reads reads;
    std::optional<error> failure;
};

// True if the plans have the same numbers and program, so that every path pays the same in both.
bool same_numbers(const plan::trade_program& a, const plan::trade_program& b) {
    const program::path_data &x = a.data, &y = b.data;
    return x.terms == y.terms && x.rows == y.rows && x.runs == y.runs && x.widths == y.widths &&
           x.initial_states == y.initial_states && a.when.times == b.when.times && a.currency == b.currency &&
           program::shape_of(a.code) == program::shape_of(b.code);
}

// Returns the market with the number a little up, or down if up is not valid; empty if neither is.
std::optional<market> with_another(const market& in, const market_number& number) {
    const double by = number.value == 0 ? 1e-4 : 1e-3 * std::abs(number.value);
    for (const double step : {by, -by}) {
        try {
            return in.shifted(number.key, step);
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
        }
    }
    return std::nullopt;
}

}  // namespace

}  // namespace studies

std::vector<trade_dependence> studies::dependence_of(const book& trades, const market& in,
                                                     const inner_options& options) {
    const settled run = settle(options, trades.settings());
    const std::vector<books::trade>& all = state_of(trades).trades;
    const plan::poll often = poll_of(options.cancel);
    const auto plan_in = [&](std::size_t trade, const markets::market_view& view) {
        if (all[trade].failure) throw *all[trade].failure;
        return plan::plan_trade(all[trade], view, run.how.precision, {}, often);
    };
    std::vector<first_plan> first(all.size());
    threads::for_each(all.size(), run.threads, options.cancel,
                      [&](int, std::uint64_t i) {
                          try {
                              first[i].made = plan_in(i, {state_of(in), &first[i].reads});
                          } catch (const std::exception& e) {
                              throw_if_cancelled(e);
                              first[i].failure = at_trade(all[i], e);
                          }
                      },
                      {});
    const std::vector<market_number> numbers = in.numbers();
    const auto& keyed = state_of(in).source->numbers();
    std::vector<std::vector<std::size_t>> moved(numbers.size());  // by number: the trades that depend on it
    threads::for_each(
        numbers.size(), run.threads, options.cancel,
        [&](int, std::uint64_t k) {
            std::optional<std::optional<market>> other;  // made when the first trade needs it
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!first[i].made || !reads_part(first[i].reads, keyed[k].of)) continue;
                if (!other) other = with_another(in, numbers[k]);
                try {
                    if (*other && same_numbers(*first[i].made, plan_in(i, state_of(**other)))) continue;
                } catch (const std::exception& e) {
                    throw_if_cancelled(e);  // a trade that can't be planned there depends on the number, too
                }
                moved[k].push_back(i);
            }
        },
        {});
    std::vector<trade_dependence> out(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        out[i].trade = all[i].id;
        out[i].where = all[i].where;
        if (!first[i].failure) continue;
        const trade_problem problem = problem_of(all[i], *first[i].failure);
        out[i].failure = problem.failure;
        out[i].where = problem.where;
    }
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        for (const std::size_t i : moved[k]) out[i].numbers.push_back(numbers[k]);
    }
    return out;
}

}  // namespace tilewalk
