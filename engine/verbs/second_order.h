// SPDX-License-Identifier: Apache-2.0
// Sensitivities of the second order: differences of those of the first, between markets about the one that is
// asked for, with the same random numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/greeks/measures.h"
#include "engine/market/market_view.h"
#include "engine/reading/written_market.h"
#include "engine/study/estimate.h"
#include "tilewalk/engine.h"

namespace tilewalk::verbs {

// A number of the market to which sensitivities are wanted.
struct asked_number {
    const markets::keyed_number* number;
    greeks::risk_number risk;
};

// Sensitivities of the first order of some trades to some keys in another market. Numbers move by
// `share` of the usual move where these are differences of prices; jumps that are smoothed are so by
// `widths` times the usual widths.
using first_order = std::function<results(const book& trades, const market& in, std::vector<std::string> keys,
                                          double share, double widths)>;

struct second_order_run {
    const book& trades;
    const market& in;
    const std::vector<asked_number>& numbers;         // all that the measures take
    const std::vector<markets::market_reads>& reads;  // by trade
    first_order sensitivities;
};
// Adds by trade the rows of these measures, by name. `of` has the prices of the trades.
void add_second_order(std::vector<std::vector<greek_row>>& rows, const std::vector<std::string>& measures,
                      results& of, const second_order_run& run);

// The bias of a value that smoothing found, from the value that smoothing twice as wide finds. It goes with
// the fourth power of the width, or, where a payoff has a kink near a jump, with a lower one, or, where no
// path ends on one side of it, as between two barriers, with the first: here, the first.
double bias_of_smoothing(double value, double wide);

// The trades at these places of a book, without what they ask for beside their prices.
book some_of(const book& trades, const std::vector<std::size_t>& places);
// The derivative of a control's mean is a difference: an error is never said to be less than such a share of
// the derivative.
inline constexpr double least_share_of_error = 1e-8;

// The value of an estimate, the mean of its parts, and its error. Not finite: the row has failed.
void set_value(greek_row& row, studies::estimate of, const run_manifest& told);

}  // namespace tilewalk::verbs
