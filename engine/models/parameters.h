// SPDX-License-Identifier: Apache-2.0
// Parameters of models: tables of names and valid ranges, and readers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text/document.h"
#include "products/dates/date.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk::models {

struct range {
    double low, high;
    bool has_low = true, has_high = true;  // true if the end itself is valid
};

std::string to_string(const range& r);

// A parameter of a model. Readers and pages for users take ranges and defaults from these rows.
struct parameter_row {
    std::string_view name;          // "heston.v0" if in a mapping `heston`
    std::optional<range> within{};  // valid range
    std::string_view meaning;
    bool may_be_by_term = false;
    std::string_view takes = "a number";
    std::span<const std::string_view> choices{};  // allowed words; the first is the default
    std::optional<double> preset{};
    std::string_view otherwise = "required";  // text for users about a missing value, if `preset` is empty

    std::string takes_text() const;
    std::string left_out_text() const;
};
using parameter_table = std::span<const parameter_row>;

consteval const parameter_row& find_row(parameter_table in, std::string_view name) {
    for (const parameter_row& row : in)
        if (row.name == name) return row;
    throw "no parameter of this name";
}

// Throws for keys without a row. `inside` is "heston." for a mapping `heston`.
void refuse_others(const config::node& parameters, parameter_table table, std::string_view inside = "");

double read_parameter(const config::node& value, const range& within);
// Throws if the parameter is missing and the row has no default.
double read_parameter(const config::node& parameters, const parameter_row& row);
double read_parameter(const config::node& parameters, const parameter_row& row, double unless_given);
double read_parameter(const config::node& parameters, std::string_view name, const range& within,
                      double unless_given);

// A function of time in steps: values[i] up to years[i], from years[i - 1] or as_of; the last value goes on.
struct by_term {
    std::vector<double> years;
    std::vector<double> values;

    static by_term flat(double value) { return {{}, {value}}; }
    bool is_constant() const { return values.size() == 1; }
    // Value at `when`; at a step of the function, the value after it.
    double from(double when) const;
    void add_breaks(double last, std::vector<double>& times) const;
};
by_term read_by_term(const config::node& parameters, const parameter_row& row, dates::date as_of);

// Parameters as the market file has them, to show to people; within a mapping, named as in "heston.kappa".
std::vector<model_parameter> parameters_as_written(const config::node& parameters, dates::date as_of);
std::vector<model_parameter> parameters_as_written(const std::string& name, const config::node& value,
                                                   dates::date as_of);

// True for parameters of the computation, such as steps or particles, which are no market numbers to shift.
bool says_how(std::string_view name);

std::size_t read_choice(const config::node& parameters, std::string_view name,
                        std::span<const std::string_view> choices, std::size_t unless_given);
std::size_t read_choice(const config::node& parameters, const parameter_row& row);

}  // namespace tilewalk::models
