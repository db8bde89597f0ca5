// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/scenarios/scenario_move.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/numbers.h"
#include "engine/base/wording.h"
#include "kernels/exponential.h"
#include "tilewalk/error.h"

namespace tilewalk::reading {

using config::node;

namespace {

struct unit_entry {
    std::string_view name, power;
    move_way way;
};
constexpr std::array units{unit_entry{"%", "e-2", move_way::relative},
                           unit_entry{"pt", "e-2", move_way::absolute},
                           unit_entry{"bp", "e-4", move_way::absolute}};
constexpr std::string_view expected = ", expected a move such as 5, -20%, +10pt or +50bp";

[[noreturn]] void refuse_move(const std::string& message) {
    throw error(error_kind::input, message);
}

// Reads an amount with a unit. Changes the exponent rather than divide, so that 5.35% is exactly 0.0535.
std::optional<move> with_unit(std::string_view text) {
    for (const unit_entry& unit : units) {
        if (!text.ends_with(unit.name)) continue;
        const std::string_view bare = text.substr(0, text.size() - unit.name.size());
        const auto in_unit = config::plain_number(bare);
        const auto amount = config::plain_number(std::string(bare) + std::string(unit.power));
        if (in_unit && amount) return move{unit.way, *amount, 0, unit.name, *in_unit};
    }
    return std::nullopt;
}

std::string hint(std::string_view text) {
    std::string bare;
    for (const char c : text.substr(0, 40))
        if (c != ' ') bare += c == ',' ? '.' : c;
    for (const auto& [written, meant] : {std::pair<std::string_view, std::string_view>{"bps", "bp"},
                                         {"pts", "pt"},
                                         {"pp", "pt"},
                                         {"vol", "pt"}}) {
        if (bare.ends_with(written)) bare.replace(bare.size() - written.size(), written.size(), meant);
    }
    if (bare != text && with_unit(bare)) return "; write " + bare;
    return config::number_hint(text);
}

template <class act>
auto told_by(const node& value, act&& does) {
    try {
        return does();
    } catch (const error& e) {
        if (!e.where().file.empty()) throw;
        value.fail(e.message());
    }
}

bool is_quoted_number(const node& value) {
    return value.is_quoted() && config::plain_number(value.text()).has_value();
}

}  // namespace

std::string move::name() const {
    const std::string number = (in_unit > 0 && way != move_way::set ? "+" : "") + config::shown(in_unit);
    if (!unit.empty()) return number + std::string(unit);
    return way == move_way::absolute ? number : std::string(name_of(way)) + " " + number;
}

move read_move(std::string_view text) {
    if (const auto found = with_unit(text)) return *found;
    const auto amount = config::plain_number(text);
    if (!amount)
        refuse_move("found " + (text.empty() ? "nothing" : config::shown(text)) + std::string(expected) +
                    hint(text));
    return {move_way::absolute, *amount, 0, {}, *amount};
}

move read_move(const node& value) {
    if (value.is_mapping()) {
        const written_way found = read_way(value);
        move read = read_amount(*found.amount, found.way);
        read.displacement = found.displacement;
        return read;
    }
    if (!value.is_scalar() || is_quoted_number(value))
        value.fail("found " + value.found() + std::string(expected) + ", or a mapping such as {log: -0.2}");
    return told_by(value, [&] { return read_move(value.text()); });
}

move read_amount(const node& value, move_way way) {
    const auto unit = value.is_scalar() ? with_unit(value.text()) : std::nullopt;
    const bool may_have_it = unit && unit->way == way;
    if (may_have_it) return *unit;
    if (unit) {
        value.fail("found " + value.found() + " for an amount that is " + name_of(way) +
                   ", expected a number; write " + config::shown(unit->amount));
    }
    const double amount = value.number();
    return {way, amount, 0, {}, amount};
}

move with_amount(const move& like, double in_unit) {
    std::array<char, 400> text{};
    char* const begin = text.data();
    auto end = std::to_chars(begin, begin + text.size(), in_unit, std::chars_format::scientific, 11).ptr;
    move made = like;
    made.in_unit = made.amount = config::plain_number({begin, end}).value_or(in_unit);
    if (made.unit.empty()) return made;
    end = std::to_chars(begin, begin + text.size(), made.in_unit, std::chars_format::fixed).ptr;
    if (const auto found = with_unit(std::string(begin, end) + std::string(made.unit)))
        made.amount = found->amount;
    return made;
}

double read_displacement(const node& value) {
    return read_amount(value, move_way::absolute).amount;
}

written_way read_way(const node& given) {
    constexpr std::array ways{move_way::absolute, move_way::relative, move_way::log, move_way::set};
    given.only({"absolute", "relative", "log", "set", "displacement"});
    written_way out;
    int found = 0;
    for (const move_way way : ways) {
        const node* const amount = given.find(name_of(way));
        if (amount == nullptr) continue;
        ++found;
        out.way = way;
        out.amount = amount;
    }
    if (found != 1) {
        const std::string message =
            "found " + std::to_string(found) + " ways to move, expected one of absolute, relative, log, set";
        found == 0 ? given.fail_incomplete(message) : given.fail(message);
    }
    if (const node* const displacement = given.find("displacement")) {
        if (out.way != move_way::relative && out.way != move_way::log)
            displacement->fail("found a displacement beside '" + std::string(name_of(out.way)) +
                               "', expected one beside 'relative' or 'log'");
        out.displacement = read_displacement(*displacement);
    }
    return out;
}

bool is_price(const market_number& number) {
    const auto is_currency = [](std::string_view text) {
        return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
    };
    return is_currency(number.unit) || number.unit.find(" for one ") != std::string::npos;
}

market_change change_by(const move& by, const market_number& number) {
    if (by.way == move_way::absolute && !by.unit.empty() && is_price(number)) {
        refuse_move("found " + config::shown(by.name()) + " for " + config::shown(number.key) +
                    ", whose unit is " + number.unit + ", expected an amount in that unit, or a percentage");
    }
    const double base = number.value + by.displacement;
    if (by.way == move_way::log && !(base > 0)) {
        refuse_move("found " + config::shown(by.name()) + " for " + config::shown(number.key) +
                    ", which is " + config::shown(number.value) +
                    (by.displacement == 0 ? "" : " with the displacement " + config::shown(by.displacement)) +
                    ", expected a number more than 0 to have a logarithm");
    }
    double after = by.amount;
    if (by.way == move_way::absolute) after = number.value + by.amount;
    if (by.way == move_way::relative) after = base * (1 + by.amount) - by.displacement;
    if (by.way == move_way::log) after = base * kernels::exp(by.amount) - by.displacement;
    if (!std::isfinite(after)) {
        refuse_move("found " + config::shown(by.name()) + " for " + config::shown(number.key) +
                    ", which is " + config::shown(number.value) + ", expected a move to a finite number");
    }
    if (by.way == move_way::absolute) return {number.key, by.amount, market_change::way::shift};
    return {number.key, after, market_change::way::set};
}

}  // namespace tilewalk::reading
