// SPDX-License-Identifier: Apache-2.0
// Readers of model parameters with their valid ranges.
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
    bool has_low = true, has_high = true;  // whether the ends are valid
};

std::string to_string(const range& r);

// A parameter of a model. Its reader takes ranges and fixed defaults from here, and users are told the same.
struct parameter_row {
    std::string_view name;          // "heston.v0" within the mapping heston
    std::optional<range> within{};  // of its numbers
    std::string_view meaning;
    bool may_be_by_term = false;
    std::string_view takes = "a number";
    std::span<const std::string_view> choices{};  // the first is the default
    std::optional<double> preset{};
    std::string_view otherwise = "required";  // what holds if it is left out, unless that is fixed

    std::string takes_text() const;
    std::string left_out_text() const;
};
using parameter_table = std::span<const parameter_row>;

consteval const parameter_row& find_row(parameter_table in, std::string_view name) {
    for (const parameter_row& row : in)
        if (row.name == name) return row;
    throw "no parameter of this name";
}

// Refuses keys without a row. `inside` is "heston." for the mapping heston.
void refuse_others(const config::node& parameters, parameter_table table, std::string_view inside = "");

double read_parameter(const config::node& value, const range& within);
// Throws if missing, unless the row has a default.
double read_parameter(const config::node& parameters, const parameter_row& row);
double read_parameter(const config::node& parameters, const parameter_row& row, double unless_given);
double read_parameter(const config::node& parameters, std::string_view name, const range& within,
                      double unless_given);

// By term: values[i] from the previous pillar, or as_of, to years[i]; the last also after it.
struct by_term {
    std::vector<double> years;
    std::vector<double> values;

    static by_term flat(double value) { return {{}, {value}}; }
    bool is_constant() const { return values.size() == 1; }
    // Right limit.
    double from(double when) const;
    void add_breaks(double last, std::vector<double>& times) const;
};
by_term read_by_term(const config::node& parameters, const parameter_row& row, dates::date as_of);

// Numbers, terms and words as written, for people; nested ones as "heston.kappa".
std::vector<model_parameter> parameters_as_written(const config::node& parameters, dates::date as_of);
std::vector<model_parameter> parameters_as_written(const std::string& name, const config::node& value,
                                                   dates::date as_of);

// True for parameters of the computation (steps, particles), which are no market numbers to shift.
bool says_how(std::string_view name);

std::size_t read_choice(const config::node& parameters, std::string_view name,
                        std::span<const std::string_view> choices, std::size_t unless_given);
std::size_t read_choice(const config::node& parameters, const parameter_row& row);

}  // namespace tilewalk::models
