// SPDX-License-Identifier: Apache-2.0
// Names of rows and terms that are made in one room and looked up in another. Within a section the same name
// is the same row, and within a program the same term.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewalk::program::row_names {

// Rows that belong to a numbered asset, exchange rate or source of noise: "drift#0".
inline std::string numbered(std::string_view quantity, std::size_t number) {
    return std::string(quantity) + "#" + std::to_string(number);
}
inline bool is_numbered(std::string_view name, std::string_view quantity) {
    return name.starts_with(quantity) && name.substr(quantity.size()).starts_with('#');
}

// The factor that turns the number of an asset or exchange rate which moves along a path into its level, and
// the state that holds the number: a logarithm from 0 on, or a ratio from 1 on.
inline constexpr std::string_view scale = "scale";
inline std::string moving_number(std::size_t number) {
    return "x" + std::to_string(number);
}
// The factor of a state; empty for one that holds no such number.
inline std::string scale_of(std::string_view state) {
    return state.starts_with('x') ? std::string(scale) + "#" + std::string(state.substr(1)) : std::string();
}

// The first state of moving interest rates, behind the name of the currency: how far the short rate is from
// where the curve has it.
inline constexpr std::string_view rate = "rate";
inline constexpr std::string_view first_rate = "_rate0";

// The deterministic part of a source's move over a step.
inline constexpr std::string_view drift = "drift";
// The variance of an asset or exchange rate over a part of a watched interval.
inline constexpr std::string_view variance = "variance";

// An element of the triangular root of a step's covariance.
inline constexpr std::string_view covariance_root = "root";
inline std::string element_of_covariance_root(std::size_t row, std::size_t column) {
    return numbered(covariance_root, row) + "," + std::to_string(column);
}

// Rows of the interest rates of a currency: "EUR_convexity", which are then numbered.
inline std::string of_currency(std::string_view currency, std::string_view quantity) {
    return std::string(currency) + "_" + std::string(quantity);
}
// The part of the growth of a currency's numeraire that makes its bonds cost what the curve says.
inline constexpr std::string_view convexity = "convexity";
inline bool is_convexity_of_some_currency(std::string_view name) {
    const std::size_t at = name.rfind('_');
    return at != std::string_view::npos && is_numbered(name.substr(at + 1), convexity);
}

// Rows that the value to come is made of, as a policy takes it.
inline constexpr std::string_view to_come = "to come ";
inline bool is_of_a_decision(std::string_view name) {
    return name.starts_with(to_come);
}

// The term that holds how many dates a schedule has.
inline constexpr std::string_view schedule_size_prefix = "size ";
inline std::string schedule_size(std::string_view schedule) {
    return std::string(schedule_size_prefix) + std::string(schedule);
}
inline bool is_schedule_size(std::string_view name) {
    return name.starts_with(schedule_size_prefix);
}

}  // namespace tilewalk::program::row_names
