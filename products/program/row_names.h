// SPDX-License-Identifier: Apache-2.0
// Names of rows (unique in a section) and terms (in a program) that one room makes and another looks up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewalk::program::row_names {

// Rows of a numbered asset, exchange rate or source of noise: "drift#0".
inline std::string numbered(std::string_view quantity, std::size_t number) {
    return std::string(quantity) + "#" + std::to_string(number);
}
inline bool is_numbered(std::string_view name, std::string_view quantity) {
    return name.starts_with(quantity) && name.substr(quantity.size()).starts_with('#');
}

// States "x0", "x1" ... carry an asset or exchange rate: a logarithm that starts at 0, or a ratio that starts
// at 1. Factors "scale#0", "scale#1" ... turn them into levels.
inline constexpr std::string_view scale = "scale";
inline std::string moving_number(std::size_t number) {
    return "x" + std::to_string(number);
}
// The name of the factor for a state; empty if the state does not carry an asset or exchange rate.
inline std::string scale_of(std::string_view state) {
    return state.starts_with('x') ? std::string(scale) + "#" + std::string(state.substr(1)) : std::string();
}

// The end of the name of a currency's first rate state, which holds the short rate's distance from the curve.
inline constexpr std::string_view rate = "rate";
inline constexpr std::string_view first_rate = "_rate0";

inline constexpr std::string_view drift = "drift";
// The variance of an asset or exchange rate over a part of a monitored interval.
inline constexpr std::string_view variance = "variance";

// An element of the triangular root of a step's covariance.
inline constexpr std::string_view covariance_root = "root";
inline std::string element_of_covariance_root(std::size_t row, std::size_t column) {
    return numbered(covariance_root, row) + "," + std::to_string(column);
}

// Rows of a currency's interest rates, to be numbered: "EUR_convexity".
inline std::string of_currency(std::string_view currency, std::string_view quantity) {
    return std::string(currency) + "_" + std::string(quantity);
}
// The part of a currency's numeraire growth that fits its bonds to the curve.
inline constexpr std::string_view convexity = "convexity";
inline bool is_convexity_of_some_currency(std::string_view name) {
    const std::size_t at = name.rfind('_');
    return at != std::string_view::npos && is_numbered(name.substr(at + 1), convexity);
}

// Rows of a policy's estimate of the continuation value.
inline constexpr std::string_view to_come = "to come ";
inline bool is_of_a_decision(std::string_view name) {
    return name.starts_with(to_come);
}

inline constexpr std::string_view schedule_size_prefix = "size ";
inline std::string schedule_size(std::string_view schedule) {
    return std::string(schedule_size_prefix) + std::string(schedule);
}
inline bool is_schedule_size(std::string_view name) {
    return name.starts_with(schedule_size_prefix);
}

}  // namespace tilewalk::program::row_names
