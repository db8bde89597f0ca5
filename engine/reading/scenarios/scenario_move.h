// SPDX-License-Identifier: Apache-2.0
// A scenario's moves of market numbers, such as -20%.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/text/document.h"
#include "tilewalk/market.h"

namespace tilewalk::reading {

// absolute: adds the amount. relative: multiplies by 1 + amount. log: multiplies by exp(amount). set:
// replaces the value. For relative and log, a displacement is added before and subtracted afterwards.
enum class move_way { absolute, relative, log, set };
inline constexpr const char* name_of(move_way way) {
    constexpr const char* names[] = {"absolute", "relative", "log", "set"};
    return names[static_cast<int>(way)];
}

struct move {
    move_way way = move_way::absolute;
    double amount = 0;
    double displacement = 0;  // for relative and log only
    std::string_view unit{};  // "%", "pt" or "bp"; empty if the file has no unit
    double in_unit = 0;       // the amount in `unit`, as in the file

    // The move in words, such as "-20%", "+10pt", "5", "log -0.2", "set 80".
    std::string name() const;
};

// Throw tilewalk::error (input), with a place if given a node. The text of a move is -20%, +10pt, +50bp, or
// an absolute amount; a node may also be {log: -0.2} or {relative: -0.2, displacement: 0.03}.
move read_move(std::string_view text);
move read_move(const config::node& value);
move read_amount(const config::node& value, move_way way);
// The move `like` with another amount in the same unit, rounded to twelve digits.
move with_amount(const move& like, double in_unit);
double read_displacement(const config::node& value);
struct written_way {
    move_way way = move_way::absolute;
    const config::node* amount = nullptr;
    double displacement = 0;
};
written_way read_way(const config::node& given);

// True for spots and exchange rates. By default they move relatively, other numbers absolutely.
bool is_price(const market_number& number);
// Throws tilewalk::error (input) without a place if `by` moves a price in points, or the result is no number.
market_change change_by(const move& by, const market_number& number);

}  // namespace tilewalk::reading
