// SPDX-License-Identifier: Apache-2.0
// Moves of market numbers as scenarios write them.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/text/document.h"
#include "tilewalk/market.h"

namespace tilewalk::reading {

// absolute adds an amount, relative multiplies by 1 + amount, log by exp(amount); the latter two add a
// displacement before and subtract it afterwards. set replaces the value.
enum class move_way { absolute, relative, log, set };
inline constexpr const char* name_of(move_way way) {
    constexpr const char* names[] = {"absolute", "relative", "log", "set"};
    return names[static_cast<int>(way)];
}

struct move {
    move_way way = move_way::absolute;
    double amount = 0;
    double displacement = 0;  // relative and log only
    std::string_view unit{};  // "%", "pt" or "bp" if written
    double in_unit = 0;       // the amount as written

    // Returns such as "-20%", "+10pt", "5", "log -0.2", "set 80".
    std::string name() const;
};

// Throw tilewalk::error (input); without a place for a text.
move read_move(std::string_view text);      // -20%, +10pt, +50bp, or an absolute amount
move read_move(const config::node& value);  // also {log: -0.2}, {relative: -0.2, displacement: 0.03}
move read_amount(const config::node& value, move_way way);
// The same move with another amount, in the same unit, rounded to twelve digits.
move with_amount(const move& like, double in_unit);
double read_displacement(const config::node& value);
struct written_way {
    move_way way = move_way::absolute;
    const config::node* amount = nullptr;
    double displacement = 0;
};
written_way read_way(const config::node& given);

// True for spots and exchange rates, whose default moves are relative; all others are absolute.
bool is_price(const market_number& number);
// Throws tilewalk::error (input) without a place for points of a price, and if the result is not a number.
market_change change_by(const move& by, const market_number& number);

}  // namespace tilewalk::reading
