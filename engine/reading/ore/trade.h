// SPDX-License-Identifier: Apache-2.0
// A trade of ORE while it is imported, and functions that several kinds of trades share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reading/ore/fields.h"
#include "engine/reading/ore/names.h"
#include "engine/reading/ore/schedule.h"
#include "tilewalk/value.h"

namespace tilewalk::reading::ore {

struct trade {
    std::string id, portfolio;
    fields data;  // the element with its terms, such as <FxOptionData>
    names& known;
    std::vector<value> rows{}, premiums{};
    value own_product{};  // definition of a product that the book needs; or nothing

    // Adds a row to the book. If a trade needs several rows, `suffix` tells their ids apart: "cap_1_floor".
    value& add(const std::string& product, const std::string& suffix = "");
    // Adds the trade's premium to the book, as a bond of its own that is worth nothing after `day`.
    void add_premium(double amount, dates::date day, const std::string& currency, double sign);
};

struct trade_type {
    std::string_view name;      // such as "FxOption"
    std::string_view data;      // such as "FxOptionData"
    std::string_view products;  // the products it becomes, for the list of kinds
    void (*read)(trade& of);
};
const std::vector<trade_type>& trade_types();

struct option_terms {
    double sign = 1;     // 1 if long, -1 if short
    std::string option;  // "call" or "put"; may be empty
    std::string style;
    std::vector<dates::date> exercise;
    bool pays_at_expiry = true;

    dates::date expiry() const { return exercise.back(); }
};
// Reads <OptionData>. `styles` are the exercise styles of this kind of trade. Adds rows for premiums.
option_terms read_option(trade& of, fields::meanings styles);
double sign_of(const fields& position);
void read_premiums(trade& of, const fields& in, double sign);

// Reads the asset of <Underlying> or <Name>, or a pair "EURUSD". `currency` names the field of the payment
// currency.
std::string read_asset(trade& of, const char* currency = "Currency");
std::string read_pair(trade& of, const std::string& foreign, const std::string& domestic);
double read_strike(const trade& of, const std::string& currency);

inline constexpr std::string_view nothing_touched =
    "levels are watched from as_of on: none of them was touched before";

void read_equity_option(trade& of);
void read_fx_option(trade& of);
void read_equity_barrier(trade& of);
void read_fx_barrier(trade& of);
void read_equity_double_barrier(trade& of);
void read_fx_double_barrier(trade& of);
void read_equity_digital(trade& of);
void read_fx_digital(trade& of);
void read_equity_touch(trade& of);
void read_fx_touch(trade& of);
void read_fx_double_touch(trade& of);
void read_asian(trade& of);
void read_variance_swap(trade& of);
void read_cliquet(trade& of);
void read_target_redemption(trade& of);
void read_accumulator(trade& of);
void read_autocallable(trade& of);
void read_swap(trade& of);
void read_swaption(trade& of);
void read_cap_floor(trade& of);
void read_bond(trade& of);

}  // namespace tilewalk::reading::ore
