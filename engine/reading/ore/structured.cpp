// SPDX-License-Identifier: Apache-2.0
// Imports ORE's Asian options, variance swaps, cliquets, target redemption forwards and accumulators.
#include <cmath>
#include <optional>
#include <string>

#include "engine/base/wording.h"
#include "engine/reading/ore/trade.h"
#include "products/dates/calendar.h"

namespace tilewalk::reading::ore {

namespace {

void demand_no_lag(const trade& of, const schedule& days) {
    for (const char* const name : {"SettlementLag", "SettlementDays"}) {
        const auto given = of.data.word(name);
        if (given && *given != "0" && *given != "0D")
            of.data.at(name).fail_found("0: all is paid on the day on which it is observed");
    }
    const dates::roll how = of.data.has("SettlementConvention")
                                ? read_roll(of.data.at("SettlementConvention"))
                                : dates::roll::following;
    if (!of.data.has("SettlementCalendar")) return;
    const fields settlement = of.data.at("SettlementCalendar");
    const dates::calendar by = of.known.calendar(settlement);
    for (const dates::date day : days.dates)
        if (const dates::date paid = dates::adjust(day, by, how); paid != day)
            settlement.fail("found an observation on " + dates::to_string(day) + " that is paid on " +
                            dates::to_string(paid) + ", expected payment on the day itself");
}

// Leverages in <RangeBounds> for prices below and above the strike, where the two ranges must meet.
struct two_ranges {
    double below = 0, above = 0;
};

two_ranges read_ranges(const trade& of, double strike) {
    const fields data = of.data.at("RangeBounds");
    const std::vector<fields> all = data.all("RangeBound");
    const std::string expected = "expected two ranges that meet at the strike " + config::shown(strike);
    if (all.size() == 1 && !all[0].has("RangeTo") && all[0].number("RangeFrom").value_or(0) == 0) {
        const double leverage = all[0].number("Leverage").value_or(1);
        return {leverage, leverage};
    }
    if (all.size() != 2) data.fail("found " + std::to_string(all.size()) + " ranges, " + expected);
    const bool in_order = all[0].number("RangeFrom").value_or(0) <= all[1].number("RangeFrom").value_or(0);
    const fields &low = all[in_order ? 0 : 1], &high = all[in_order ? 1 : 0];
    if (low.number("RangeFrom").value_or(0) != 0) low.at("RangeFrom").fail_found("0, as " + expected);
    if (low.need_number("RangeTo") != strike)
        low.at("RangeTo").fail_found("the strike, as " + expected.substr(9));
    if (high.need_number("RangeFrom") != strike)
        high.at("RangeFrom").fail_found("the strike, as " + expected.substr(9));
    for (const fields& one : all) {
        if (const auto own = one.number("Strike"); own && *own != strike)
            one.at("Strike").fail_found("the strike of the trade, " + config::shown(strike));
        if (one.number("StrikeAdjustment").value_or(0) != 0) one.at("StrikeAdjustment").fail_found("0");
    }
    if (const auto to = high.number("RangeTo"); to && *to < 1000 * strike)
        high.at("RangeTo").fail_found("none: the upper range has no end");
    return {low.number("Leverage").value_or(1), high.number("Leverage").value_or(1)};
}

double only_level(const fields& barrier) {
    const std::vector<fields> all = barrier.at("Levels").all("Level");
    if (all.size() != 1)
        barrier.at("Levels").fail("found " + std::to_string(all.size()) + " levels, expected one");
    return all[0].number();
}

}  // namespace

void read_asian(trade& of) {
    const std::string currency = of.data.need_word("Currency");
    const std::string asset = read_asset(of);
    const double strike = read_strike(of, currency), quantity = of.data.need_number("Quantity");
    const fields option = of.data.at("OptionData");
    option.one_of("PayoffType", {{"Asian", ""}}, "");
    const std::string mean = option.one_of(
        "PayoffType2", {{"Arithmetic", "arithmetic"}, {"Geometric", "geometric"}}, "arithmetic");
    const option_terms terms = read_option(of, {{"European", "European"}});
    const schedule days = read_schedule(of.data.at("ObservationDates"), of.known);
    if (terms.expiry() != days.dates.back()) {
        option.at("ExerciseDates")
            .fail("found exercise on " + dates::to_string(terms.expiry()) +
                  ", expected the last of the observations, " + dates::to_string(days.dates.back()));
    }
    if (const auto paid = of.data.date("Settlement"); paid && *paid != terms.expiry())
        of.data.at("Settlement").fail_found("the day of exercise: all is paid on it");
    value& row = of.add("asian");
    row["underlying"] = asset;
    if (terms.option.empty()) option.at("OptionType");
    row["option"] = terms.option;
    if (mean != "arithmetic") row["mean"] = mean;
    row["strike"] = strike;
    row["averaging_dates"] = list_of(days.dates);
    row["quantity"] = terms.sign * quantity;
    row["currency"] = currency;
}

void read_variance_swap(trade& of) {
    const double sign = sign_of(of.data.at("LongShort")), strike = of.data.need_number("Strike"),
                 notional = of.data.need_number("Notional");
    if (!(strike > 0)) of.data.at("Strike").fail_found("a volatility above 0");
    of.data.one_of("MomentType", {{"Variance", ""}}, "");
    if (of.data.truth("AddPastDividends", false)) of.data.at("AddPastDividends").fail_found("false");
    const dates::date start = of.data.need_date("StartDate"), end = of.data.need_date("EndDate");
    const dates::calendar days = of.known.calendar(of.data.at("Calendar"));
    if (days.is_every_day())
        of.data.at("Calendar").fail_found("a calendar: the variance is of business days");
    std::vector<dates::date> fixings;
    for (dates::date d = dates::adjust(start, days, dates::roll::following); d <= end;
         d = dates::next_business_day(d, days))
        fixings.push_back(d);
    if (fixings.size() < 2) of.data.at("EndDate").fail("found no return between StartDate and EndDate");
    value& row = of.add("variance_swap");
    row["underlying"] = read_asset(of);
    row["fixings"] = list_of(fixings);
    row["strike"] = strike;
    of.known.note("a variance swap counts 252 returns a year, on the days of its own calendar");
    // ORE's notional is per point of volatility; ours is per unit of variance.
    row["notional"] = notional * 100 / (2 * strike);
    if (sign < 0) row["quantity"] = -1;
    row["currency"] = of.data.need_word("Currency");
}

void read_cliquet(trade& of) {
    const double sign = sign_of(of.data.at("LongShort")), notional = of.data.need_number("Notional");
    of.data.one_of("OptionType", {{"Call", "call"}});
    if (of.data.number("Moneyness").value_or(0) != 1)
        of.data.at("Moneyness").fail_found("1: returns are of the whole price");
    const schedule days = read_schedule(of.data.at("ScheduleData"), of.known);
    demand_no_lag(of, days);
    const std::string currency = of.data.need_word("Currency");
    value& row = of.add("cliquet");
    row["underlying"] = read_asset(of);
    row["fixings"] = list_of(days.dates);
    for (const auto& [theirs, ours] :
         {std::pair{"LocalFloor", "local_floor"}, std::pair{"LocalCap", "local_cap"},
          std::pair{"GlobalFloor", "global_floor"}, std::pair{"GlobalCap", "global_cap"}})
        if (const auto given = of.data.number(theirs)) row[ours] = *given;
    row["notional"] = notional;
    if (sign < 0) row["quantity"] = -1;
    row["currency"] = currency;
    if (of.data.number("Premium").value_or(0) != 0) {
        of.data.at("Premium").fail_found(
            "none: ORE counts it in favour of the side that holds the option; add it as a zero_coupon_bond");
    }
    of.data.ignore({"PremiumCurrency", "PremiumPaymentDate"});
}

void read_target_redemption(trade& of) {
    const std::string currency = of.data.need_word("Currency");
    const fields option = of.data.at("OptionData");
    const double sign = sign_of(option.at("LongShort")), units = of.data.need_number("FixingAmount");
    if (!(units > 0)) of.data.at("FixingAmount").fail_found("an amount above 0");
    const std::string at_target = option.one_of(
        "PayoffType", {{"TargetExact", "exact"}, {"TargetFull", "full"}, {"TargetTruncated", "none"}});
    const double strike = read_strike(of, currency);
    const two_ranges ranges = read_ranges(of, strike);
    if (ranges.above != 1) {
        of.data.at("RangeBounds")
            .fail("found the leverage " + config::shown(ranges.above) +
                  " above the strike, expected 1: leverage of gains is not supported");
    }
    if (ranges.below < 0) of.data.at("RangeBounds").fail("found a leverage below 0, expected at least 0");
    std::optional<double> target;
    for (const fields& barrier : of.data.at("Barriers").all("BarrierData")) {
        const std::string type = barrier.one_of(
            "Type", {{"CumulatedProfitCap", "amount"}, {"CumulatedProfitCapPoints", "points"}});
        barrier.one_of("Style", {{"European", ""}}, "");
        if (target) barrier.fail("found a second barrier, expected one");
        target = only_level(barrier) / (type == "amount" ? units : 1);
    }
    if (!target) of.data.at("Barriers").fail("found no <BarrierData>, expected the cap of the gains");
    for (const auto& [name, by] : {std::pair{"TargetAmount", units}, std::pair{"TargetPoints", 1.0}}) {
        if (const auto given = of.data.number(name);
            given && std::abs(*given / by - *target) > 1e-12 * *target)
            of.data.at(name).fail_found("the cap of the gains, " + config::shown(*target * by));
    }
    if (!of.data.has("TargetAmount") && !of.data.has("TargetPoints") && at_target == "exact")
        of.data.at("TargetAmount");
    const schedule days = read_schedule(of.data.at("ScheduleData"), of.known);
    demand_no_lag(of, days);
    value& row = of.add("target_redemption_forward");
    row["underlying"] = read_asset(of);
    row["strike"] = strike;
    row["fixings"] = list_of(days.dates);
    row["target"] = *target;
    row["at_target"] = at_target;
    row["gearing"] = ranges.below;
    row["units"] = units;
    if (sign < 0) row["quantity"] = -1;
    row["currency"] = currency;
}

void read_accumulator(trade& of) {
    const std::string currency = of.data.need_word("Currency");
    const fields option = of.data.at("OptionData");
    const double sign = sign_of(option.at("LongShort")), units = of.data.need_number("FixingAmount");
    if (!(units > 0)) of.data.at("FixingAmount").fail_found("an amount above 0");
    const bool buys = option.one_of("PayoffType", {{"Accumulator", "accumulate"},
                                                   {"Decumulator", "decumulate"}}) == "accumulate";
    for (const char* const name : {"DailyFixingAmount", "NakedOption"})
        if (of.data.truth(name, false)) of.data.at(name).fail_found("false");
    const double strike = read_strike(of, currency);
    const two_ranges ranges = read_ranges(of, strike);
    const double gain = buys ? ranges.above : ranges.below, loss = buys ? ranges.below : ranges.above;
    if (gain != 1) {
        of.data.at("RangeBounds")
            .fail("found the leverage " + config::shown(gain) + " on the side of gains, expected 1");
    }
    if (loss < 0) of.data.at("RangeBounds").fail("found a leverage below 0, expected at least 0");
    const std::vector<fields> barriers = of.data.at("Barriers").all("BarrierData");
    if (barriers.size() != 1) {
        of.data.at("Barriers")
            .fail("found " + std::to_string(barriers.size()) +
                  " barriers, expected only the knock-out: guaranteed fixings are not supported");
    }
    if (buys) {
        barriers[0].one_of("Type", {{"UpAndOut", ""}});
    } else {
        barriers[0].one_of("Type", {{"DownAndOut", ""}});
    }
    const bool is_continuous =
        barriers[0].one_of("Style", {{"American", "continuous"}, {"European", "on_dates"}}, "continuous") ==
        "continuous";
    const schedule days = read_schedule(of.data.at("ObservationDates"), of.known);
    demand_no_lag(of, days);
    value& row = of.add("accumulator");
    row["underlying"] = read_asset(of);
    row["side"] = buys ? "accumulate" : "decumulate";
    row["strike"] = strike;
    row["barrier"] = only_level(barriers[0]);
    if (is_continuous) {
        row["watched"] = "continuous";
        if (const auto start = of.data.date("StartDate")) {
            if (*start > days.dates.front())
                of.data.at("StartDate").fail_found("a day that is not after the first of <ObservationDates>");
            row["watching_start"] = dates::to_string(*start);
            of.known.note(std::string(nothing_touched));
        }
    } else {
        of.data.ignore({"StartDate"});
    }
    row["observations"] = list_of(days.dates);
    row["units"] = units;
    row["gearing"] = loss;
    if (sign < 0) row["quantity"] = -1;
    row["currency"] = currency;
}

}  // namespace tilewalk::reading::ore
