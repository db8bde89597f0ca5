// SPDX-License-Identifier: Apache-2.0
// A trade of ORE during import, and parts shared by kinds of trades.
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
    fields data;  // element like <FxOptionData>
    names& known;
    std::vector<value> rows{}, premiums{};
    value own_product{};  // nothing unless the book needs one

    // Adds a row to the book. With several rows each has its own id, such as "cap_1_floor".
    value& add(const std::string& product, const std::string& suffix = "");
    // Adds the premium of the trade as a bond of its own, which is worth nothing after its day.
    void add_premium(double amount, dates::date day, const std::string& currency, double sign);
};

struct kind {
    std::string_view name;      // "FxOption"
    std::string_view data;      // "FxOptionData"
    std::string_view products;  // text for the list of kinds
    void (*read)(trade& of);
};
const std::vector<kind>& kinds();

struct option_terms {
    double sign = 1;     // 1 if long, -1 if short
    std::string option;  // call or put; may be empty
    std::string style;
    std::vector<dates::date> exercise;
    bool pays_at_expiry = true;

    dates::date expiry() const { return exercise.back(); }
};
// `styles` are those supported for the kind of trade. Adds rows for premiums.
option_terms read_option(trade& of, fields::meanings styles);
double sign_of(const fields& position);
void read_premiums(trade& of, const fields& in, double sign);

// The asset of <Underlying> or <Name>, or a pair "EURUSD". `currency` is the field of the payment currency.
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
