// SPDX-License-Identifier: Apache-2.0
// Moves of a number of a market as scenarios write them, and what a number becomes by one.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/text/document.h"
#include "tilewalk/market.h"

namespace tilewalk::reading {

// An absolute move adds an amount to a number, a relative one multiplies by 1 + amount and a logarithmic one
// by exp(amount), both with a displacement added before and taken off again; the last sets a value.
enum class move_way { absolute, relative, log, set };
inline constexpr const char* name_of(move_way way) {
    constexpr const char* names[] = {"absolute", "relative", "log", "set"};
    return names[static_cast<int>(way)];
}

struct move {
    move_way way = move_way::absolute;
    double amount = 0;
    double displacement = 0;  // of relative and log
    std::string_view unit{};  // "%", "pt", "bp" where it was written with one
    double in_unit = 0;       // the amount as it was written

    // Such as "-20%", "+10pt", "5", "log -0.2", "set 80".
    std::string name() const;
};

// Each throws tilewalk::error (input); that of a text has no place.
move read_move(std::string_view text);      // -20%, +10pt, +50bp, or a number, which is an amount
move read_move(const config::node& value);  // the same, or {log: -0.2}, {relative: -0.2, displacement: 0.03}
// An amount that is written for a way: {relative: -20%}, {set: 80}.
move read_amount(const config::node& value, move_way way);
// The same move by another amount, in the unit of the first, rounded to twelve digits.
move with_amount(const move& like, double in_unit);
// A displacement: a number, or points.
double read_displacement(const config::node& value);
// The one way that a mapping such as {log: ...} has, with its value, which is still to be read.
struct written_way {
    move_way way = move_way::absolute;
    const config::node* amount = nullptr;
    double displacement = 0;
};
written_way read_way(const config::node& given);

// Prices of assets and exchange rates. Their usual moves are relative; those of all else are absolute.
bool is_price(const market_number& number);
// The change of a number that a move makes. Throws tilewalk::error (input), without a place, for points of a
// price and for what leads to no number.
market_change change_by(const move& by, const market_number& number);

}  // namespace tilewalk::reading
