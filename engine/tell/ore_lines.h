// SPDX-License-Identifier: Apache-2.0
// Functions for all files in ORE's columns: absent figures, decimals, and the line of a sensitivity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/study/files/ore_factors.h"
#include "engine/tell/line_writer.h"
#include "tilewalk/rows.h"

namespace tilewalk::report {

inline constexpr std::string_view ore_absent = "#N/A";
inline constexpr int ore_decimals = 6;
// More than ore_decimals: six decimals would cut the shift of a rate or a small exchange rate.
inline constexpr int sensitivity_decimals = 10;

std::vector<std::string> quoted_trades(const std::vector<price_row>& rows);

struct ore_figures {
    std::string_view currency;  // quoted for CSV
    double value = 0, delta = 0, gamma = 0;
};
// The sensitivity of a trade to one or two of ORE's factors. Texts are quoted for CSV; `second` may be null.
struct ore_sensitivity {
    std::string_view trade;
    const ore_factor *first = nullptr, *second = nullptr;
    double first_size = 0, second_size = 0;
    ore_figures base, own;  // figures in the base currency, in the trade's own
};

inline constexpr std::string_view ore_sensitivity_keys =
    "#TradeId,IsPar,Factor_1,ShiftSize_1,Factor_2,ShiftSize_2,";
void add_sensitivity_keys(line_writer& to, const ore_sensitivity& of);
void begin_sensitivities(line_writer& to);  // writes the header line
void add_sensitivity(line_writer& to, const ore_sensitivity& of);

}  // namespace tilewalk::report
