// SPDX-License-Identifier: Apache-2.0
// Reads assets: the spot, dividends, and a volatility, paths of volatility from a file, or a model.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/market/term_reader.h"
#include "engine/market/wording.h"
#include "engine/models/model.h"
#include "engine/reading/market_parts.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {
namespace {

using config::node;

std::uint32_t scenarios_in(const node& value, market_so_far& into) {
    if (!value.is_scalar() || value.text().empty()) {
        value.fail("found " + value.found() + ", expected the name of a file, such as vols.npy");
    }
    const auto folder =
        into.folder.empty() ? std::filesystem::path(value.where().file).parent_path() : into.folder;
    const std::string file = (folder / value.text()).lexically_normal().string();
    auto& known = into.market.scenarios;
    const auto at =
        std::find_if(known.begin(), known.end(), [&](const scenario_array& a) { return a.name == file; });
    if (at != known.end()) return static_cast<std::uint32_t>(at - known.begin());
    try {
        known.push_back(open_volatilities(file, into.inside));
    } catch (const error& e) {
        const bool is_file = e.kind() == error_kind::input;
        value.fail(config::shown(file) + ": " + e.message() +
                   (is_file ? "" : "; expected a NumPy array (.npy) of the shape (times, paths)"));
    }
    known.back().where = value.where();
    return static_cast<std::uint32_t>(known.size() - 1);
}

// Reads a shift for each row of a file of volatilities; shifted volatilities must still be valid.
std::vector<double> read_shifts(const node& given, const scenario_array& to) {
    expect_sequence(given, "a list of numbers, one for each row of the file, such as [0, 0.01]");
    if (given.items().size() != to.cube.steps) {
        given.fail("found " + std::to_string(given.items().size()) + " shifts, expected " +
                   std::to_string(to.cube.steps) + ": one for each row of volatilities in " +
                   config::shown(to.name));
    }
    std::vector<double> out;
    for (const node& item : given.items()) {
        const double by = item.number();
        const auto [least, most] = range_of_row(to, out.size());
        if (!(least + by > 0 && most + by <= bounds::scenario_volatility)) {
            item.fail("found the shift " + item.text() + " of a row of volatilities from " + rounded(least) +
                      " to " + rounded(most) + ", expected all to stay above 0 and at most 100");
        }
        out.push_back(by);
    }
    return out;
}

scenario_volatility read_scenario_volatility(const node& value, market_so_far& into) {
    value.only({"scenarios", "times", "shift"});
    scenario_volatility read;
    const node& times = value.at("times");
    read.where = times.where();
    expect_sequence(times, "a list of times, one for each row of the file, such as [0.5, 2027-01-15]");
    for (const node& time : times.items()) {
        const double years = config::read_time_point(time).years(into.market.as_of);
        if (!(years > 0)) {
            time.fail("found the time " + time.text() + ", expected one after as_of (" +
                      dates::to_string(into.market.as_of) + ")");
        }
        if (!read.years.empty() && years <= read.years.back()) {
            time.fail("found the time " + time.text() + " after " +
                      times.items()[read.years.size() - 1].text() + ", expected strictly increasing times");
        }
        read.years.push_back(years);
    }
    read.array = scenarios_in(value.at("scenarios"), into);
    const scenario_array& array = into.market.scenarios[read.array];
    if (array.cube.steps != read.years.size()) {
        times.fail("found " + std::to_string(read.years.size()) + " times for the " +
                   std::to_string(array.cube.steps) + " rows of " + config::shown(array.name) +
                   ", expected one for each: row k holds from the time before to its own" +
                   (array.cube.paths == read.years.size()
                        ? "; the array has " + std::to_string(array.cube.paths) +
                              " paths: is it the wrong way round?"
                        : ""));
    }
    if (const node* shift = value.find("shift")) read.shifts = read_shifts(*shift, array);
    return read;
}

// Empty for a past dividend: the spot already reflects it, and a list need not be pruned every day.
std::optional<dividend> read_dividend(const node& item, dates::date as_of) {
    expect_mapping(item, "a dividend such as {date: 2026-06-01, amount: 0.5}");
    item.only({"date", "amount", "proportion"});
    const node& date = item.at("date");
    const dates::time_point when = config::read_time_point(date);
    const node* amount = item.find("amount");
    const node* proportion = item.find("proportion");
    if (!amount == !proportion) {
        if (amount) item.fail("found both amount and proportion, expected one of them");
        item.fail_incomplete("found neither amount nor proportion, expected one of them");
    }
    dividend read{when.years(as_of), 0, proportion != nullptr};
    if (amount) {
        read.amount = read_in_range(*amount, check_dividend);
    } else {
        read.amount = read_in_range(*proportion, check_dividend_proportion);
    }
    if (read.years > 0) return read;
    if (std::holds_alternative<double>(when.when)) {
        date.fail("found " + date.text() + " years, expected a number above 0 or a date");
    }
    return std::nullopt;
}

bool reads_fall_by_dividends(const node& dividend_model) {
    static const std::vector<std::string> known{"escrowed", "spot"};
    const bool is_word = dividend_model.is_scalar();
    if (!is_word || std::ranges::find(known, dividend_model.text()) == known.end()) {
        dividend_model.fail("found " + dividend_model.found() + ", expected one of " + config::joined(known) +
                            (is_word ? config::suggestion(dividend_model.text(), known) : ""));
    }
    return dividend_model.text() == "spot";
}

void read_dividends(const node& dividends, const market_state& market, asset& into) {
    expect_sequence(dividends, "a list of dividends, such as [{date: 2026-06-01, amount: 0.5}]");
    for (const node& item : dividends.items()) {
        if (const auto paid = read_dividend(item, market.as_of)) into.dividends.push_back(*paid);
    }
    std::stable_sort(into.dividends.begin(), into.dividends.end(),
                     [](const dividend& a, const dividend& b) { return a.years < b.years; });
    spot_map(into, market.discount_curve(into.currency), 0);  // throws if cash dividends exceed the spot
}

void read_model(const node& value, const node& moves, asset& read, market_state& market) {
    if (value.find("volatility") != nullptr) {
        moves.fail("found a model beside a volatility, expected one of them");
    }
    read.model = models::read_model(moves, {market.as_of, read, market.discount_curve(read.currency)});
    read.model_parameters = models::parameters_as_written(moves.members().front().value, market.as_of);
    for (const models::own_factor& f : read.model->own_factors()) {
        market.own_factors[read.name + "." + f.name] = {read.name, f.correlation.from(0),
                                                        f.correlation.is_constant()};
    }
    if (read.falls_by_dividends && !read.model->is_alike_at_any_level()) {
        value.at("dividend_model")
            .fail("found the dividend_model spot beside the model " + moves.members().front().key +
                  ", whose steps depend on where the asset is and know of no fall by an "
                  "amount; expected escrowed");
    }
}

}  // namespace

void read_asset(const node::member& member, market_so_far& into) {
    const node& value = member.value;
    market_state& market = into.market;
    expect_mapping(value,
                   "a mapping with currency and spot, such as {currency: USD, spot: 100, volatility: 0.2}");
    value.only({"currency", "spot", "dividend_yield", "dividends", "dividend_model", "volatility", "model"});
    asset read;
    read.name = member.key;
    read.where = member.where();
    const node& currency = value.at("currency");
    read.currency = currency.text();
    if (!market.currencies.contains(read.currency)) {
        currency.fail(unknown_name("currency", read.currency, into.currency_names));
    }
    read.spot = read_positive(value.at("spot"), "spot");
    if (const node* yield = value.find("dividend_yield")) {
        read.dividend_yield =
            yield->is_scalar() ? curve::flat(read_rate(*yield)) : read_curve(*yield, market.as_of);
    }
    if (const node* vol = value.find("volatility")) {
        if (is_scenario_volatility(*vol)) {
            read.scenario_vol = read_scenario_volatility(*vol, into);
        } else {
            read.vol = read_volatility(*vol, market.as_of);
            read.model_parameters = models::parameters_as_written("volatility", *vol, market.as_of);
        }
    }
    if (const node* falls = value.find("dividend_model"))
        read.falls_by_dividends = reads_fall_by_dividends(*falls);
    if (const node* dividends = value.find("dividends")) read_dividends(*dividends, market, read);
    if (const node* moves = value.find("model")) read_model(value, *moves, read, market);
    market.assets.insert_or_assign(member.key, std::move(read));
}

}  // namespace tilewalk::markets
