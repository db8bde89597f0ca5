// SPDX-License-Identifier: Apache-2.0
// Imports ORE's swaps, swaptions, caps, floors and bonds. A currency's floating rates all follow one curve.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/wording.h"
#include "engine/reading/ore/index.h"
#include "engine/reading/ore/trade.h"
#include "products/dates/schedule.h"

namespace tilewalk::reading::ore {

namespace {

struct leg {
    explicit leg(const fields& of) : data(of) {}

    fields data;
    bool is_fixed = true, is_payer = false, is_overnight = false;
    std::string currency, day_count;
    double notional = 0, rate = 0, spread = 0;
    schedule periods;

    dates::date begin() const { return periods.dates.front(); }
    dates::date end() const { return periods.dates.back(); }
};

std::string read_day_count(const fields& of, const schedule& periods) {
    const std::string word = of.one_of("DayCounter", {{"A360", "act_360"},
                                                      {"Actual/360", "act_360"},
                                                      {"ACT/360", "act_360"},
                                                      {"A365", "act_365f"},
                                                      {"A365F", "act_365f"},
                                                      {"Actual/365 (Fixed)", "act_365f"},
                                                      {"ACT/365", "act_365f"},
                                                      {"ACT/365.FIXED", "act_365f"},
                                                      {"ActActISDA", "act_act"},
                                                      {"ACT/ACT", "act_act"},
                                                      {"ACT/ACT.ISDA", "act_act"},
                                                      {"Actual/Actual (ISDA)", "act_act"},
                                                      {"30/360", "us"},
                                                      {"30/360 (US)", "us"},
                                                      {"T360", "us"},
                                                      {"30/360 (Bond Basis)", "thirty_360"}});
    if (word != "us") return word;
    // ORE's American 30/360 differs from ours for a period that begins on the last day of February.
    for (const dates::date d : periods.dates)
        if (dates::civil(d).month == 2 && dates::civil({d.serial + 1}).day == 1)
            of.at("DayCounter")
                .fail(
                    "found 30/360 with a date at the end of February, for which its American rule is not "
                    "supported; expected another day count, such as 30/360 (Bond Basis)");
    return "thirty_360";
}

double only_one(const fields& of, const char* list, const char* item, std::optional<double> otherwise) {
    const auto all = of.find(list);
    const std::vector<fields> items = all ? all->all(item) : std::vector<fields>();
    if (items.empty() && otherwise) return *otherwise;
    if (items.empty()) of.fail(std::string("found no <") + item + "> in <" + of.name() + ">");
    for (const fields& one : items)
        if (one.number() != items.front().number())
            one.fail_found("the same number for the whole leg, '" + config::shown(items.front().number()) +
                           "'");
    for (const fields& one : items) one.attribute("startDate");
    return items.front().number();
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

// The length in months and days, by which 12M equals 1Y, and 28D equals 4W.
std::pair<int, int> length_of(const std::string& tenor) {
    const auto read = dates::parse_period(lower(tenor));
    if (!read) return {0, 0};
    switch (read->of) {
        case dates::period::unit::month:
            return {read->count, 0};
        case dates::period::unit::year:
            return {12 * read->count, 0};
        case dates::period::unit::week:
            return {0, 7 * read->count};
        default:
            return {0, read->count};
    }
}

void read_floating(trade& of, leg& into) {
    const fields data = into.data.at("FloatingLegData");
    const floating_index index = read_index(data.at("Index"), into.currency);
    into.is_overnight = index.tenor.empty();
    if (!into.is_overnight && !into.periods.tenor.empty() &&
        length_of(index.tenor) != length_of(into.periods.tenor))
        data.at("Index").fail_found("the tenor of the leg, " + into.periods.tenor +
                                    ": rates are those of the periods that they are paid for");
    if (!into.is_overnight && into.periods.tenor.empty())
        of.known.note(index.name + " is paid for periods that are listed, whatever its tenor is");
    // Floating interest is the growth of money over the period, so rate and leg must have the same day count.
    if (index.day_count.empty()) {
        of.known.note(index.name + " is counted as its legs are");
    } else if (index.day_count != into.day_count) {
        into.data.at("DayCounter")
            .fail_found(std::string(index.day_count == "act_360"    ? "A360"
                                    : index.day_count == "act_365f" ? "A365"
                                                                    : "ACT/ACT") +
                        ", by which " + index.name + " is counted");
    }
    into.spread = only_one(data, "Spreads", "Spread", 0);
    if (only_one(data, "Gearings", "Gearing", 1) != 1)
        data.at("Gearings").fail("found a gearing other than 1, expected 1");
    if (data.truth("IsInArrears", into.is_overnight) != into.is_overnight) {
        data.at("IsInArrears")
            .fail_found(into.is_overnight
                            ? "true: an overnight rate is compounded over the period that it is paid for"
                            : "false: rates are fixed where their period begins");
    }
    if (data.truth("IsAveraged", false)) data.at("IsAveraged").fail_found("false: rates are compounded");
    if (data.truth("HasSubPeriods", false)) data.at("HasSubPeriods").fail_found("false");
    // A term rate is the rate of its own period on the curve, on whatever day it is fixed.
    if (data.number("FixingDays").value_or(0) != 0 && into.is_overnight)
        of.known.note(index.name + " is fixed on the days on which it accrues, none of them earlier");
    of.known.note(index.name + " is the growth of money on the curve of " + into.currency);
}

leg read_leg(trade& of, const fields& data) {
    leg out(data);
    out.is_fixed = data.one_of("LegType", {{"Fixed", "fixed"}, {"Floating", "floating"}}) == "fixed";
    out.is_payer = data.truth("Payer", false);
    out.currency = data.need_word("Currency");
    out.notional = only_one(data, "Notionals", "Notional", std::nullopt);
    if (const auto exchanges = data.at("Notionals").find("Exchanges")) {
        for (const char* const name :
             {"NotionalInitialExchange", "NotionalFinalExchange", "NotionalAmortizingExchange"})
            if (exchanges->truth(name, false))
                exchanges->at(name).fail_found("false: no notional changes hands");
    }
    out.periods = read_schedule(data.at("ScheduleData"), of.known);
    if (out.periods.dates.size() < 2) data.at("ScheduleData").fail("found one date, expected a period");
    out.day_count = read_day_count(data, out.periods);
    demand_payments_on(out.periods, data, of.known);
    if (out.is_fixed) {
        out.rate = only_one(data.at("FixedLegData"), "Rates", "Rate", std::nullopt);
    } else {
        read_floating(of, out);
    }
    return out;
}

std::pair<leg, leg> read_legs(trade& of) {
    const std::vector<fields> all = of.data.all("LegData");
    if (all.size() != 2) of.data.fail("found " + std::to_string(all.size()) + " legs, expected two");
    leg a = read_leg(of, all[0]), b = read_leg(of, all[1]);
    if (a.is_fixed == b.is_fixed) {
        b.data.at("LegType").fail(std::string("found two ") + (a.is_fixed ? "fixed" : "floating") +
                                  " legs, expected a fixed and a floating one");
    }
    if (!a.is_fixed) std::swap(a, b);
    if (a.currency != b.currency)
        b.data.at("Currency").fail_found("'" + a.currency + "', the currency of the other leg");
    if (a.is_payer == b.is_payer)
        b.data.at("Payer").fail(
            "found two legs with the same <Payer>, expected true in one and false in the other");
    if (a.notional != b.notional)
        b.data.at("Notionals")
            .fail("found the notionals " + config::shown(a.notional) + " and " + config::shown(b.notional) +
                  ", expected one for both legs");
    if (a.begin() != b.begin()) {
        b.data.at("ScheduleData")
            .fail("found legs that begin on " + dates::to_string(a.begin()) + " and " +
                  dates::to_string(b.begin()) + ", expected one day");
    }
    return {std::move(a), std::move(b)};
}

// Throws unless the floating leg of an option's swap is worth the difference of two bonds.
void demand_plain(const leg& fixed, const leg& floating) {
    if (floating.spread != 0)
        floating.data.at("FloatingLegData").at("Spreads").fail("found a spread, expected none");
    if (fixed.end() != floating.end())
        floating.data.at("ScheduleData")
            .fail("found legs that end on " + dates::to_string(fixed.end()) + " and " +
                  dates::to_string(floating.end()) + ", expected one day");
}

}  // namespace

void read_swap(trade& of) {
    of.data.ignore({"Settlement"});
    const auto [fixed, floating] = read_legs(of);
    value& row = of.add("swap");
    row["side"] = fixed.is_payer ? "payer" : "receiver";
    row["begin"] = dates::to_string(fixed.begin());
    row["fixed_rate"] = fixed.rate;
    row["fixed_payments"] = list_of(fixed.periods.dates, 1);
    row["floating_payments"] = list_of(floating.periods.dates, 1);
    if (floating.spread != 0) row["spread"] = floating.spread;
    row["fixed_day_count"] = fixed.day_count;
    row["floating_day_count"] = floating.day_count;
    row["notional"] = fixed.notional;
    row["currency"] = fixed.currency;
}

void read_swaption(trade& of) {
    const option_terms terms = read_option(of, {{"European", "European"}, {"Bermudan", "Bermudan"}});
    const fields option = of.data.at("OptionData");
    option.one_of("SettlementMethod",
                  {{"PhysicalOTC", ""}, {"PhysicalCleared", ""}, {"CollateralizedCashPrice", ""}}, "");
    if (option.one_of("Settlement", {{"Cash", "cash"}, {"Physical", "physical"}}) == "cash" &&
        !option.has("SettlementMethod")) {
        option.at("Settlement")
            .fail(
                "found cash settlement without <SettlementMethod>, which means par yield; expected "
                "CollateralizedCashPrice or Physical");
    }
    option.ignore({"MidCouponExercise"});
    const auto [fixed, floating] = read_legs(of);
    demand_plain(fixed, floating);
    const bool is_european = terms.style == "European";
    value& row = of.add(is_european ? "swaption" : "bermudan_swaption");
    row["option"] = fixed.is_payer ? "payer" : "receiver";
    row["strike"] = fixed.rate;
    if (is_european) {
        if (fixed.begin() < terms.expiry())
            option.at("ExerciseDates")
                .fail(
                    "found a swap that begins before the day of exercise, expected one that begins "
                    "on it or later");
        row["expiry"] = dates::to_string(terms.expiry());
        if (fixed.begin() != terms.expiry()) row["begin"] = dates::to_string(fixed.begin());
    } else {
        for (const leg* one : {&fixed, &floating}) {
            const auto& starts = one->periods.dates;
            for (const dates::date day : terms.exercise)
                if (std::find(starts.begin(), starts.end() - 1, day) == starts.end() - 1)
                    option.at("ExerciseDates")
                        .fail("found an exercise on " + dates::to_string(day) + ", on which no " +
                              (one->is_fixed ? "fixed" : "floating") +
                              " period begins, expected the first day of one");
        }
        row["exercise_dates"] = list_of(terms.exercise);
    }
    row["payments"] = list_of(fixed.periods.dates, 1);
    row["day_count"] = fixed.day_count;
    row["notional"] = fixed.notional;
    if (terms.sign < 0) row["quantity"] = -1;
    row["currency"] = fixed.currency;
}

void read_cap_floor(trade& of) {
    const double sign = sign_of(of.data.at("LongShort"));
    const leg floating = read_leg(of, of.data.at("LegData"));
    if (floating.is_fixed) floating.data.at("LegType").fail_found("Floating");
    if (floating.spread != 0)
        floating.data.at("FloatingLegData").at("Spreads").fail("found a spread, expected none");
    if (floating.is_overnight) {
        floating.data.at("FloatingLegData")
            .at("Index")
            .fail_found(
                "an index with a tenor: the option is on a rate that is fixed where its period begins");
    }
    const bool has_cap = of.data.has("Caps"), has_floor = of.data.has("Floors");
    if (!has_cap && !has_floor) of.data.fail("found neither <Caps> nor <Floors>");
    const auto add = [&](const char* list, const char* item, const char* option, double quantity,
                         const std::string& suffix) {
        value& row = of.add("cap_floor", suffix);
        row["option"] = option;
        row["strike"] = only_one(of.data, list, item, std::nullopt);
        row["begin"] = dates::to_string(floating.begin());
        row["payments"] = list_of(floating.periods.dates, 1);
        row["day_count"] = floating.day_count;
        row["notional"] = floating.notional;
        if (quantity < 0) row["quantity"] = quantity;
        row["currency"] = floating.currency;
    };
    if (has_cap) add("Caps", "Cap", "caplets", sign, "");
    if (has_floor) add("Floors", "Floor", "floorlets", has_cap ? -sign : sign, has_cap ? "_floor" : "");
    read_premiums(of, of.data, sign);
}

void read_bond(trade& of) {
    // Settlement days and issue date affect no future cash flow.
    of.data.ignore({"IssuerId", "SettlementDays", "Calendar", "IssueDate", "PriceQuoteMethod"});
    if (const auto security = of.data.word("SecurityId"))
        of.known.note(*security + " is discounted without a spread of its own");
    if (const auto credit = of.data.find("CreditCurveId")) of.known.demand_without_credit(*credit);
    const double units = of.data.number("BondNotional").value_or(1);
    if (const auto curve = of.data.word("ReferenceCurveId"))
        of.known.note(*curve + ", by which bonds are discounted, is the curve of their currency");
    const leg coupons = read_leg(of, of.data.at("LegData"));
    const fields& data = coupons.data;
    if (!coupons.is_fixed) data.at("LegType").fail_found("Fixed");
    if (coupons.rate == 0) {
        value& row = of.add("zero_coupon_bond");
        row["maturity"] = dates::to_string(coupons.end());
        row["notional"] = coupons.notional * units;
        if (coupons.is_payer) row["quantity"] = -1;
        row["currency"] = coupons.currency;
        return;
    }
    // The book needs the start of the current coupon, which rules give and a list of dates does not.
    const fields periods = data.at("ScheduleData");
    const auto rules = periods.find("Rules");
    if (!rules)
        periods.fail("found a list of dates, expected <Rules>, which say when the coupons of a bond begin");
    const auto& all = coupons.periods.dates;
    const auto every = dates::parse_period(lower(coupons.periods.tenor));
    dates::schedule_rule ours;
    ours.start = {all.front()};
    ours.end = {all.back()};
    ours.every = every;
    const bool is_same = every && dates::generate(ours).times.size() == all.size() - 1 && [&] {
        const auto made = dates::generate(ours).times;
        for (std::size_t i = 0; i < made.size(); ++i)
            if (std::get<dates::date>(made[i].when) != all[i + 1]) return false;
        return true;
    }();
    if (!is_same)
        rules->fail(
            "found coupons that roll or have a stub, expected dates in whole periods from the first one");
    value& row = of.add("coupon_bond");
    value dates_of = value::mapping();
    dates_of["start"] = dates::to_string(all.front());
    dates_of["end"] = dates::to_string(all.back());
    dates_of["every"] = lower(coupons.periods.tenor);
    row["coupon_dates"] = std::move(dates_of);
    row["coupon"] = coupons.rate;
    row["day_count"] = coupons.day_count;
    row["notional"] = coupons.notional * units;
    if (coupons.is_payer) row["quantity"] = -1;
    row["currency"] = coupons.currency;
}

}  // namespace tilewalk::reading::ore
