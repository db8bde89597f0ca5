// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/ore/trade.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/config/wording.h"

namespace tilewalk::reading::ore {

value& trade::add(const std::string& product, const std::string& suffix) {
    value& row = rows.emplace_back(value::mapping());
    row["id"] = id + suffix;
    row["product"] = product;
    if (!portfolio.empty()) row["portfolio"] = portfolio;
    return row;
}

double sign_of(const fields& position) {
    if (position.text() == "Long" || position.text() == "L") return 1;
    if (position.text() == "Short" || position.text() == "S") return -1;
    position.fail_found("Long or Short");
}

// What is paid for a trade: a bond of its own, which is gone once the day has passed.
void add_premium(trade& of, const fields& premium, double sign, const std::string& suffix) {
    const double amount = premium.need_number("Amount");
    const std::string currency = premium.need_word("Currency");
    const dates::date day = premium.need_date("PayDate");
    if (amount == 0) return;
    value& row = of.add("zero_coupon_bond", suffix);
    row["maturity"] = dates::to_string(day);
    row["notional"] = std::abs(amount);
    row["quantity"] = amount > 0 ? -sign : sign;
    row["currency"] = currency;
}

option_terms read_option(trade& of, fields::meanings styles) {
    const fields data = of.data.at("OptionData");
    option_terms out;
    out.sign = sign_of(data.at("LongShort"));
    out.option =
        data.one_of("OptionType", {{"Call", "call"}, {"Put", "put"}, {"C", "call"}, {"P", "put"}}, "");
    out.style = data.one_of("Style", styles, styles.begin()->first);
    out.pays_at_expiry = data.truth("PayOffAtExpiry", true);
    // Cash of what an asset is worth, or the asset: the same value on the day of exercise.
    data.one_of("Settlement", {{"Cash", ""}, {"Physical", ""}}, "");
    data.ignore({"AutomaticExercise"});
    if (const auto days = data.find("ExerciseDates"))
        for (const fields& day : days->all("ExerciseDate")) out.exercise.push_back(day.date());
    if (const auto days = data.find("ExerciseSchedule")) out.exercise = read_schedule(*days, of.known).dates;
    if (out.exercise.empty()) data.fail("found no <ExerciseDate> in <OptionData>");
    std::ranges::sort(out.exercise);
    if (out.style == "European" && out.exercise.size() > 1)
        data.at("ExerciseDates").fail("found several days of exercise, expected one of a European option");
    if (const auto payment = data.find("PaymentData")) {
        const auto days = payment->find("Dates");
        if (!days)
            payment->fail(
                "found a rule for the payment, expected none or the day of exercise: all is paid on it");
        for (const fields& day : days->all("Date"))
            if (day.date() != out.expiry()) day.fail_found("the day of exercise: all is paid on it");
    }
    if (const auto premiums = data.find("Premiums")) {
        const std::vector<fields> all = premiums->all("Premium");
        for (std::size_t i = 0; i < all.size(); ++i)
            add_premium(of, all[i], out.sign, "_premium" + (i == 0 ? "" : std::to_string(i + 1)));
    }
    return out;
}

namespace {

// "TR20H-EUR-USD", "FX-ECB-EUR-USD" or "EURUSD"
std::string pair_in(const fields& named) {
    const std::string& text = named.text();
    const std::size_t last = text.rfind('-');
    if (last == text.npos && text.size() == 6) return text;
    const std::size_t before = last == text.npos || last == 0 ? text.npos : text.rfind('-', last - 1);
    const std::string foreign = text.substr(before == text.npos ? 0 : before + 1,
                                            last - (before == text.npos ? 0 : before + 1)),
                      domestic = last == text.npos ? "" : text.substr(last + 1);
    if (foreign.size() != 3 || domestic.size() != 3)
        named.fail_found("a pair of currencies, such as ECB-EUR-USD");
    return foreign + domestic;
}

std::string noted_pair(trade& of, const std::string& pair) {
    of.known.note("the exchange rate " + pair +
                  " has to be an asset of the market, whose dividend_yield is the "
                  "interest rate of " +
                  pair.substr(0, 3));
    return of.known.asset(pair);
}

}  // namespace

std::string read_pair(trade& of, const std::string& foreign, const std::string& domestic) {
    return noted_pair(of, foreign + domestic);
}

std::string read_asset(trade& of) {
    const auto plain = of.data.find("Name");
    const auto whole = of.data.find("Underlying");
    if (plain && whole) plain->fail("found <Name> beside <Underlying>, expected one of them");
    if (plain) return of.known.asset(of.data.need_word("Name"));
    const fields underlying = of.data.at("Underlying");
    const std::string type = underlying.one_of("Type", {{"Equity", "equity"}, {"FX", "fx"}}, "equity");
    const fields name = underlying.at("Name");
    if (type == "fx") return noted_pair(of, pair_in(name));
    std::string full = underlying.need_word("Name");
    if (const auto identifier = underlying.word("IdentifierType")) full = *identifier + ":" + full;
    underlying.ignore({"Exchange", "Weight"});
    const auto traded = underlying.word("Currency"), paid = of.data.word("Currency");
    if (traded && paid && *traded != *paid) {
        underlying.at("Currency")
            .fail_found("'" + *paid +
                        "', the currency that the trade pays: a payment in another one "
                        "may be a quanto or a converted one, which the file does not say");
    }
    return of.known.asset(full);
}

std::optional<std::string> read_watching_start(trade& of) {
    const auto start = of.data.date("StartDate");
    if (!start) return std::nullopt;
    of.known.note("levels are watched from as_of on: none of them was touched before");
    return dates::to_string(*start);
}

double read_strike(const trade& of, const std::string& currency) {
    const auto check = [&](const fields& in, const char* name) {
        if (in.has(name) && in.need_word(name) != currency)
            in.at(name).fail_found("'" + currency + "', the currency that the trade pays");
    };
    const auto data = of.data.find("StrikeData");
    if (!data) {
        check(of.data, "StrikeCurrency");
        return of.data.need_number("Strike");
    }
    const auto price = data->find("StrikePrice");
    const fields& in = price ? *price : *data;
    check(in, "Currency");
    return in.need_number("Value");
}

}  // namespace tilewalk::reading::ore
