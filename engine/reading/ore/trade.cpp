// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/ore/trade.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/wording.h"

namespace tilewalk::reading::ore {

namespace {

value row_of(const trade& of, const std::string& product, const std::string& suffix) {
    value row = value::mapping();
    row["id"] = of.id + suffix;
    row["product"] = product;
    if (!of.portfolio.empty()) row["portfolio"] = of.portfolio;
    return row;
}

}  // namespace

value& trade::add(const std::string& product, const std::string& suffix) {
    return rows.emplace_back(row_of(*this, product, suffix));
}

void trade::add_premium(double amount, dates::date day, const std::string& currency, double sign) {
    if (amount == 0) return;
    const std::string number = premiums.empty() ? "" : std::to_string(premiums.size() + 1);
    value& row = premiums.emplace_back(row_of(*this, "zero_coupon_bond", "_premium" + number));
    row["maturity"] = dates::to_string(day);
    row["notional"] = std::abs(amount);
    row["quantity"] = amount > 0 ? -sign : sign;
    row["currency"] = currency;
}

double sign_of(const fields& position) {
    if (position.text() == "Long" || position.text() == "L") return 1;
    if (position.text() == "Short" || position.text() == "S") return -1;
    position.fail_found("Long or Short");
}

void read_premiums(trade& of, const fields& in, double sign) {
    const auto premiums = in.find("Premiums");
    if (!premiums) return;
    for (const fields& one : premiums->all("Premium"))
        of.add_premium(one.need_number("Amount"), one.need_date("PayDate"), one.need_word("Currency"), sign);
}

option_terms read_option(trade& of, fields::meanings styles) {
    const fields data = of.data.at("OptionData");
    option_terms out;
    out.sign = sign_of(data.at("LongShort"));
    out.option =
        data.one_of("OptionType", {{"Call", "call"}, {"Put", "put"}, {"C", "call"}, {"P", "put"}}, "");
    out.style = data.one_of("Style", styles, styles.begin()->first);
    out.pays_at_expiry = data.truth("PayOffAtExpiry", true);
    // Cash and physical settlement are worth the same on the day of exercise, so either is accepted.
    data.one_of("Settlement", {{"Cash", ""}, {"Physical", ""}}, "");
    data.ignore({"AutomaticExercise"});
    if (const auto days = data.find("ExerciseDates"))
        for (const fields& day : days->all("ExerciseDate")) out.exercise.push_back(day.date());
    if (const auto days = data.find("ExerciseSchedule")) out.exercise = read_schedule(*days, of.known).dates;
    if (out.exercise.empty()) data.fail("found no <ExerciseDate> in <OptionData>");
    std::ranges::sort(out.exercise);
    // For kinds of trades without Bermudan style, "American" is about the barrier, not the exercise.
    const bool has_span = std::ranges::any_of(styles, [](const auto& s) { return s.first == "Bermudan"; });
    if (out.exercise.size() > 1 && (out.style == "European" || (out.style == "American" && !has_span)))
        data.at("ExerciseDates").fail("found several days of exercise, expected one");
    if (const auto payment = data.find("PaymentData")) {
        const auto days = payment->find("Dates");
        if (!days) payment->fail("found a payment rule, expected none or payment on the day of exercise");
        for (const fields& day : days->all("Date"))
            if (day.date() != out.expiry()) day.fail_found("the day of exercise: all is paid on it");
    }
    read_premiums(of, data, out.sign);
    return out;
}

namespace {

// Returns the pair of names such as "TR20H-EUR-USD", "FX-ECB-EUR-USD" or "EURUSD".
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

// Options need an asset, but EURUSD is an exchange rate. So the foreign currency becomes an asset, EUR_USD.
std::string asset_of_pair(trade& of, const std::string& pair) {
    const std::string known = of.known.asset(pair), foreign = pair.substr(0, 3);
    const std::string asset = known == pair ? foreign + "_" + pair.substr(3) : known;
    of.known.note("the exchange rate " + pair + " is the asset " + asset +
                  ", whose dividend_yield is the interest rate of " + foreign);
    return asset;
}

}  // namespace

std::string read_pair(trade& of, const std::string& foreign, const std::string& domestic) {
    return asset_of_pair(of, foreign + domestic);
}

std::string read_asset(trade& of, const char* currency) {
    const fields paid = of.data.at(currency);
    const auto plain = of.data.find("Name");
    const auto whole = of.data.find("Underlying");
    if (plain && whole) plain->fail("found <Name> beside <Underlying>, expected one of them");
    if (plain) return of.known.quoted(of.data.need_word("Name"), paid);
    const fields underlying = of.data.at("Underlying");
    const std::string type = underlying.one_of("Type", {{"Equity", "equity"}, {"FX", "fx"}}, "equity");
    const fields name = underlying.at("Name");
    if (type == "fx") {
        const std::string pair = pair_in(name);
        if (paid.text() != pair.substr(3))
            paid.fail_found("'" + pair.substr(3) + "', in which " + name.text() + " is quoted");
        return asset_of_pair(of, pair);
    }
    std::string full = underlying.need_word("Name");
    if (const auto identifier = underlying.word("IdentifierType")) full = *identifier + ":" + full;
    underlying.ignore({"Exchange", "Weight"});
    if (const auto traded = underlying.word("Currency"); traded && *traded != paid.text()) {
        underlying.at("Currency")
            .fail_found("'" + paid.text() +
                        "', the currency that the trade pays: whether a payment in another one "
                        "is a quanto or converted, the file does not say");
    }
    return of.known.quoted(full, paid);
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
