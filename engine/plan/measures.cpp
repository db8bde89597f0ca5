// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/measures.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tilewalk::greeks {

namespace {

using section = markets::market_part::section;

constexpr std::array all{
    greek_measure{"delta", "the price of an asset", 1, false},
    greek_measure{"vega", "a volatility", 1, true},
    greek_measure{"rho", "an interest rate", 1, true},
    greek_measure{"dividend", "a dividend, or a dividend yield", 1, true},
    greek_measure{"fx", "an exchange rate", 1, false},
    greek_measure{"correlation", "a correlation", 1, true},
    greek_measure{"parameter", "a parameter of a model, or the price of an option that one was fitted to", 1,
                  false},
    greek_measure{"theta", "the day, by one", 1, false},
    greek_measure{"gamma", "the price of an asset, twice", 2, false},
    greek_measure{"cross_gamma", "the prices of two assets", 2, false},
    greek_measure{"vanna", "the price of an asset and a volatility", 2, true},
    greek_measure{"volga", "a volatility, and all of its asset at once", 2, true},
    greek_measure{"charm", "the price of an asset and the day", 2, false},
};

// How numbers of a unit move. A sensitivity is for a move of `per`, called `words`. A bump moves by `large`,
// times the number's size if `of_size`, and times `at_jumps` where a payoff jumps.
struct unit_entry {
    std::string_view unit, words;
    double per, large, at_jumps;
    bool of_size;
};
constexpr std::array units{
    unit_entry{"rate a year", "1 bp", 1e-4, 1e-3, 10, false},
    unit_entry{"volatility", "1 % of volatility", 1e-2, 1e-2, 1, false},
    unit_entry{"correlation", "1 % of correlation", 1e-2, 1e-2, 1, false},
    unit_entry{"share of the spot", "1 % of the spot", 1e-2, 1e-1, 1, true},
};

std::string_view measure_of(const markets::keyed_number& n) {
    // A key begins with the name of its part of the market and a dot.
    const std::string_view what =
        n.of.in == section::correlations ? "" : std::string_view(n.key).substr(n.of.name.size() + 1);
    const auto is_of = [&](std::string_view kind) {
        return what.starts_with(kind) && (what.size() == kind.size() || what[kind.size()] == '@');
    };
    switch (n.of.in) {
        case section::correlations:
            return "correlation";
        case section::fixings:
            return "";
        case section::currencies:
            return is_of("rate") ? "rho" : "parameter";
        case section::fx:
            return is_of("rate") ? "fx" : "vega";
        case section::assets:
            break;
    }
    if (is_of("spot")) return "delta";
    if (is_of("dividend_yield") || is_of("dividend")) return "dividend";
    return is_of("volatility") && n.unit.starts_with("volatility") ? "vega" : "parameter";
}

// Returns "rho" of "INDEX.heston.rho", "kappa" of "INDEX.heston.kappa@2y", "a" of "INDEX.volatility@0.5y,a".
std::string_view name_of_parameter(std::string_view key) {
    const std::size_t at = std::min(key.find('@'), key.size());
    if (const std::size_t comma = key.find(',', at); comma != key.npos) return key.substr(comma + 1);
    key = key.substr(0, at);
    return key.substr(key.find_last_of('.') + 1);
}

}  // namespace

risk_number risk_of(const markets::keyed_number& number) {
    risk_number out;
    out.measure = measure_of(number);
    const double size = std::abs(number.value);
    const auto unit = std::ranges::find_if(
        units, [&](const unit_entry& u) { return std::string_view(number.unit).starts_with(u.unit); });
    if (unit != units.end()) {
        out.per = unit->per;
        out.per_words = unit->words;
        out.large = unit->of_size && size > 0 ? unit->large * size : unit->large;
        out.at_jumps = unit->at_jumps;
    } else {
        const double scale = size > 0 ? size : 1;
        out.large = 0.01 * scale;
        if (out.measure == "delta") {
            out.per_words = "1 " + number.unit + " of " + number.of.name;
        } else if (out.measure == "dividend") {
            out.per_words = "1 " + number.unit + " of dividend";
        } else if (out.measure == "fx") {
            out.per_words = "1 " + number.unit;
        } else {
            out.per_words = "1 of " + std::string(name_of_parameter(number.key));
        }
    }
    // The error of a central difference falls with the square of the move; its rounding grows as the move
    // falls.
    out.small = 1e-3 * out.large;
    return out;
}

}  // namespace tilewalk::greeks

std::span<const tilewalk::greek_measure> tilewalk::greek_measures() {
    return greeks::all;
}
