// SPDX-License-Identifier: Apache-2.0
// Imports ORE's options on one asset or exchange rate.
#include <optional>
#include <string>

#include "engine/base/wording.h"
#include "engine/reading/ore/trade.h"

namespace tilewalk::reading::ore {

namespace {

const fields::meanings european{{"European", "European"}};

struct written_on {
    std::string asset, currency;
    double quantity = 1, strike = 0;
};

written_on read_equity(trade& of) {
    const std::string currency = of.data.need_word("Currency");
    return {read_asset(of), currency, of.data.need_number("Quantity"), read_strike(of, currency)};
}

// In an FX trade, the bought currency is the asset, and payments are in the sold currency.
written_on read_exchange(trade& of) {
    const std::string bought = of.data.need_word("BoughtCurrency"), sold = of.data.need_word("SoldCurrency");
    const double amount = of.data.need_number("BoughtAmount");
    if (!(amount > 0)) of.data.at("BoughtAmount").fail_found("an amount above 0");
    of.data.ignore({"FXIndex"});
    return {read_pair(of, bought, sold), sold, amount, of.data.need_number("SoldAmount") / amount};
}

value& add_option(trade& of, const char* product, const written_on& on, const option_terms& terms) {
    value& row = of.add(product);
    row["underlying"] = on.asset;
    if (terms.option.empty()) of.data.at("OptionData").at("OptionType");
    row["option"] = terms.option;
    row["strike"] = on.strike;
    return row;
}

void finish(value& row, const written_on& on, const option_terms& terms) {
    row["quantity"] = terms.sign * on.quantity;
    row["currency"] = on.currency;
}

void read_vanilla(trade& of, const written_on& on) {
    const option_terms terms =
        read_option(of, {{"European", "European"}, {"American", "American"}, {"Bermudan", "Bermudan"}});
    if (terms.style == "European") {
        value& row = add_option(of, "european", on, terms);
        row["maturity"] = dates::to_string(terms.expiry());
        return finish(row, on, terms);
    }
    if (terms.style == "American") {
        const fields data = of.data.at("OptionData");
        if (data.has("PayOffAtExpiry") && terms.pays_at_expiry)
            data.at("PayOffAtExpiry").fail_found("false: an American option pays when it is used");
        if (terms.exercise.size() > 2)
            data.at("ExerciseDates")
                .fail(
                    "found more than two days of exercise, expected the first and the last of an "
                    "American option");
        value& row = add_option(of, "american", on, terms);
        row["maturity"] = dates::to_string(terms.expiry());
        if (terms.exercise.size() == 2) row["exercise_start"] = dates::to_string(terms.exercise.front());
        of.known.note("an American option may be used every 0.02 years, the exercise_step of the product");
        return finish(row, on, terms);
    }
    value& row = of.add("bermudan_basket");
    row["basket"] = value::list({value(on.asset)});
    row["option"] = terms.option;
    row["strike"] = on.strike;
    row["exercise_dates"] = list_of(terms.exercise);
    finish(row, on, terms);
}

// <BarrierData>: one or two barrier levels, monitored continuously.
struct barrier_terms {
    std::string type;
    std::vector<double> levels;
    double rebate = 0;
};

barrier_terms read_barrier(trade& of, std::size_t count, fields::meanings types) {
    const fields data = of.data.at("BarrierData");
    barrier_terms out;
    out.type = data.one_of("Type", types);
    data.one_of("Style", {{"American", ""}}, "");
    for (const fields& level : data.at("Levels").all("Level")) out.levels.push_back(level.number());
    if (out.levels.size() != count) {
        data.at("Levels").fail("found " + std::to_string(out.levels.size()) + " levels, expected " +
                               std::to_string(count));
    }
    if (count == 2 && !(out.levels[0] < out.levels[1]))
        data.at("Levels").fail("found levels that do not increase, expected the lower one first");
    out.rebate = data.number("Rebate").value_or(0);
    // StartDate matters only if the barrier was touched in the past, which the note rules out.
    if (of.data.date("StartDate")) of.known.note(std::string(nothing_touched));
    of.data.ignore({"Calendar", "EQIndex", "FXIndex"});
    return out;
}

const fields::meanings single_types{
    {"DownAndIn", "down in"}, {"DownAndOut", "down out"}, {"UpAndIn", "up in"}, {"UpAndOut", "up out"}};
const fields::meanings double_types{{"KnockIn", "knock_in"}, {"KnockOut", "knock_out"}};

void demand_no_rebate(const trade& of, const barrier_terms& barrier) {
    if (barrier.rebate != 0)
        of.data.at("BarrierData").at("Rebate").fail_found("0: only options with one barrier have rebates");
}

void set_rebate(value& row, const trade& of, double rebate, const written_on& on, bool is_out) {
    if (rebate == 0) return;
    if (!(rebate > 0)) of.data.at("BarrierData").at("Rebate").fail_found("an amount of 0 or more");
    row["rebate"] = rebate / on.quantity;
    if (is_out) row["rebate_paid"] = "at_hit";
}

void read_single_barrier(trade& of, const written_on& on) {
    const option_terms terms = read_option(of, european);
    const barrier_terms barrier = read_barrier(of, 1, single_types);
    const bool is_down = barrier.type.starts_with("down"), is_out = barrier.type.ends_with("out");
    value& row = add_option(of, "barrier", on, terms);
    row["maturity"] = dates::to_string(terms.expiry());
    row["direction"] = is_down ? "down" : "up";
    row["kind"] = is_out ? "knock_out" : "knock_in";
    row["barrier"] = barrier.levels[0];
    set_rebate(row, of, barrier.rebate, on, is_out);
    finish(row, on, terms);
}

void read_double_barrier(trade& of, const written_on& on) {
    const option_terms terms = read_option(of, european);
    const barrier_terms barrier = read_barrier(of, 2, double_types);
    demand_no_rebate(of, barrier);
    value& row = add_option(of, "double_barrier", on, terms);
    row["maturity"] = dates::to_string(terms.expiry());
    row["kind"] = barrier.type;
    row["lower"] = barrier.levels[0];
    row["upper"] = barrier.levels[1];
    finish(row, on, terms);
}

// The payment of a digital or one-touch: cash, or units of the asset if it is in the asset's own currency.
struct payout {
    std::string pays = "cash", currency;
    double amount = 0;
};

payout read_payout(const trade& of, const std::string& foreign, const std::string& domestic) {
    payout out{.currency = domestic, .amount = of.data.need_number("PayoffAmount")};
    const auto currency = of.data.word("PayoffCurrency");
    if (!currency || *currency == domestic) return out;
    if (*currency != foreign) {
        of.data.at("PayoffCurrency")
            .fail_found("'" + domestic + "'" + (foreign.empty() ? "" : " or '" + foreign + "'"));
    }
    out.pays = "asset";
    return out;
}

void set_payout(value& row, const payout& what, double sign, double quantity) {
    if (what.pays != "cash") row["pays"] = what.pays;
    row["payout"] = what.amount;
    row["quantity"] = sign * quantity;
    row["currency"] = what.currency;
}

void read_digital(trade& of, const written_on& on, const payout& what) {
    const option_terms terms = read_option(of, european);
    value& row = add_option(of, "digital", on, terms);
    row["maturity"] = dates::to_string(terms.expiry());
    set_payout(row, what, terms.sign, on.quantity);
}

void set_day_of_payment(value& row, trade& of, const option_terms& terms, bool is_in) {
    if (terms.pays_at_expiry) return;
    if (!is_in)
        of.data.at("OptionData").at("PayOffAtExpiry").fail_found("true: without a touch it pays at the end");
    row["paid"] = "at_hit";
    if (of.data.has("ForeignCurrency"))
        of.known.note("a touch of an exchange rate pays when it comes, where ORE waits for the end");
}

void read_touch(trade& of, const std::string& asset, const payout& what, double quantity) {
    const option_terms terms = read_option(of, {{"American", "American"}, {"European", "European"}});
    const barrier_terms barrier = read_barrier(of, 1, single_types);
    demand_no_rebate(of, barrier);
    const bool is_in = barrier.type.ends_with("in");
    value& row = of.add("one_touch");
    row["underlying"] = asset;
    row["kind"] = is_in ? "one_touch" : "no_touch";
    row["direction"] = barrier.type.starts_with("down") ? "down" : "up";
    row["barrier"] = barrier.levels[0];
    set_day_of_payment(row, of, terms, is_in);
    row["maturity"] = dates::to_string(terms.expiry());
    set_payout(row, what, terms.sign, quantity);
}

}  // namespace

void read_equity_option(trade& of) {
    read_vanilla(of, read_equity(of));
}

void read_fx_option(trade& of) {
    read_vanilla(of, read_exchange(of));
}

void read_equity_barrier(trade& of) {
    read_single_barrier(of, read_equity(of));
}

void read_fx_barrier(trade& of) {
    read_single_barrier(of, read_exchange(of));
}

void read_equity_double_barrier(trade& of) {
    read_double_barrier(of, read_equity(of));
}

void read_fx_double_barrier(trade& of) {
    read_double_barrier(of, read_exchange(of));
}

void read_equity_digital(trade& of) {
    const std::string currency = of.data.need_word("PayoffCurrency");
    const written_on on{read_asset(of, "PayoffCurrency"), currency, of.data.number("Quantity").value_or(1),
                        read_strike(of, currency)};
    read_digital(of, on, read_payout(of, "", currency));
}

void read_fx_digital(trade& of) {
    const std::string foreign = of.data.need_word("ForeignCurrency"),
                      domestic = of.data.need_word("DomesticCurrency");
    of.data.ignore({"FXIndex"});
    const written_on on{read_pair(of, foreign, domestic), domestic, 1, of.data.need_number("Strike")};
    read_digital(of, on, read_payout(of, foreign, domestic));
}

void read_equity_touch(trade& of) {
    const std::string currency = of.data.need_word("PayoffCurrency");
    read_touch(of, read_asset(of, "PayoffCurrency"), read_payout(of, "", currency), 1);
}

void read_fx_touch(trade& of) {
    const std::string foreign = of.data.need_word("ForeignCurrency"),
                      domestic = of.data.need_word("DomesticCurrency");
    read_touch(of, read_pair(of, foreign, domestic), read_payout(of, foreign, domestic), 1);
}

void read_fx_double_touch(trade& of) {
    const std::string foreign = of.data.need_word("ForeignCurrency"),
                      domestic = of.data.need_word("DomesticCurrency");
    const std::string asset = read_pair(of, foreign, domestic);
    const option_terms terms = read_option(of, {{"American", "American"}, {"European", "European"}});
    const barrier_terms barrier = read_barrier(of, 2, double_types);
    demand_no_rebate(of, barrier);
    const payout what = read_payout(of, "", domestic);
    const bool is_in = barrier.type == "knock_in";
    value& row = of.add("double_touch");
    row["underlying"] = asset;
    row["kind"] = is_in ? "one_touch" : "no_touch";
    row["lower"] = barrier.levels[0];
    row["upper"] = barrier.levels[1];
    set_day_of_payment(row, of, terms, is_in);
    row["maturity"] = dates::to_string(terms.expiry());
    set_payout(row, what, terms.sign, 1);
}

}  // namespace tilewalk::reading::ore
