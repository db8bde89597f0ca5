// SPDX-License-Identifier: Apache-2.0
// Reading a model's parameters: each with its admissible range, which a complaint names.
#pragma once

#include <cstddef>
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
    bool has_low = true, has_high = true;  // whether the ends themselves are admissible
};

// "between 0 and 10", "above 0 and at most 10"
std::string to_string(const range& r);

double read_parameter(const config::node& value, const range& within);
// Missing is an error.
double read_parameter(const config::node& parameters, std::string_view name, const range& within);
double read_parameter(const config::node& parameters, std::string_view name, const range& within,
                      double unless_given);

// A parameter that holds for ever, or one by term: values[i] from the pillar before, or as_of, to years[i],
// the last one also after it.
struct by_term {
    std::vector<double> years;
    std::vector<double> values;

    static by_term flat(double value) { return {{}, {value}}; }
    bool is_constant() const { return values.size() == 1; }
    // Just after `when`.
    double from(double when) const;
    void add_breaks(double last, std::vector<double>& times) const;
};
// A number, or a mapping of dates or years to numbers.
by_term read_by_term(const config::node& parameters, std::string_view name, const range& within,
                     dates::date as_of);

// The parameters of a model as the market writes them: numbers, numbers by term and words, those of a mapping
// under its name ("heston.kappa"). For people.
std::vector<model_parameter> parameters_as_written(const config::node& parameters, dates::date as_of);
// The same of one.
std::vector<model_parameter> parameters_as_written(const std::string& name, const config::node& value,
                                                   dates::date as_of);

// Whether a parameter of this name says how a model is computed (steps, particles, the dates of its rates):
// no number of the market, which could be shifted. All others are.
bool says_how(std::string_view name);

// One of a list of names.
std::size_t read_choice(const config::node& parameters, std::string_view name,
                        std::span<const std::string_view> choices, std::size_t unless_given);

}  // namespace tilewalk::models
