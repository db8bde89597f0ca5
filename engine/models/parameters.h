// SPDX-License-Identifier: Apache-2.0
// Readers of model parameters with their valid ranges.
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
    bool has_low = true, has_high = true;  // whether the ends are valid
};

std::string to_string(const range& r);

double read_parameter(const config::node& value, const range& within);
// Throws if missing.
double read_parameter(const config::node& parameters, std::string_view name, const range& within);
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
by_term read_by_term(const config::node& parameters, std::string_view name, const range& within,
                     dates::date as_of);

// Numbers, terms and words as written, for people; nested ones as "heston.kappa".
std::vector<model_parameter> parameters_as_written(const config::node& parameters, dates::date as_of);
std::vector<model_parameter> parameters_as_written(const std::string& name, const config::node& value,
                                                   dates::date as_of);

// True for parameters of the computation (steps, particles), which are no market numbers to shift.
bool says_how(std::string_view name);

std::size_t read_choice(const config::node& parameters, std::string_view name,
                        std::span<const std::string_view> choices, std::size_t unless_given);

}  // namespace tilewalk::models
