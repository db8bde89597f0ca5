// SPDX-License-Identifier: Apache-2.0
#include "engine/models/parameters.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/text/time_reader.h"

namespace tilewalk::models {

std::string to_string(const range& r) {
    const std::string low = config::shown(r.low), high = config::shown(r.high);
    if (r.has_low && r.has_high) return "between " + low + " and " + high;
    return (r.has_low ? "at least " : "above ") + low + " and " + (r.has_high ? "at most " : "below ") + high;
}

std::string parameter_row::takes_text() const {
    std::string out(takes);
    if (!choices.empty()) out.clear();
    for (const std::string_view c : choices) out += (out.empty() ? "" : " or ") + std::string(c);
    if (within) out += " " + to_string(*within);
    return may_be_by_term ? out + ", also by term" : out;
}

std::string parameter_row::left_out_text() const {
    if (preset) return "default " + config::shown(*preset);
    return choices.empty() ? std::string(otherwise) : "default " + std::string(choices.front());
}

void refuse_others(const config::node& parameters, parameter_table table, std::string_view inside) {
    std::vector<std::string> known;
    for (const parameter_row& row : table) {
        if (!row.name.starts_with(inside)) continue;
        const std::string_view name = row.name.substr(inside.size());
        if (name.find('.') == name.npos) known.emplace_back(name);
    }
    parameters.only(known);
}

double read_parameter(const config::node& value, const range& within) {
    const double found = value.number();
    const bool high_enough = within.has_low ? found >= within.low : found > within.low;
    const bool low_enough = within.has_high ? found <= within.high : found < within.high;
    if (!high_enough || !low_enough) {
        value.fail("found " + value.text() + ", expected a number " + to_string(within));
    }
    return found;
}

double read_parameter(const config::node& parameters, const parameter_row& row) {
    return row.preset ? read_parameter(parameters, row, *row.preset)
                      : read_parameter(parameters.at(row.name), row.within.value());
}

double read_parameter(const config::node& parameters, const parameter_row& row, double unless_given) {
    return read_parameter(parameters, row.name, row.within.value(), unless_given);
}

double read_parameter(const config::node& parameters, std::string_view name, const range& within,
                      double unless_given) {
    const config::node* const given = parameters.find(name);
    return given == nullptr ? unless_given : read_parameter(*given, within);
}

double by_term::from(double when) const {
    const auto at = std::ranges::upper_bound(years, when + dates::same_time_years);
    return values[std::min(static_cast<std::size_t>(at - years.begin()), values.size() - 1)];
}

void by_term::add_breaks(double last, std::vector<double>& times) const {
    for (const double t : years) {
        if (t < last) times.push_back(t);
    }
}

by_term read_by_term(const config::node& parameters, const parameter_row& row, dates::date as_of) {
    const range within = row.within.value();
    const config::node& given = parameters.at(row.name);
    if (!given.is_mapping()) return by_term::flat(read_parameter(given, within));
    if (given.members().empty()) given.fail("found no pillars, expected at least one");
    by_term out;
    for (const config::node::member& pillar : given.members()) {
        const double until = config::read_time_point(pillar).years(as_of);
        if (!(until > (out.years.empty() ? 0 : out.years.back()))) {
            pillar.fail("found the pillar " + pillar.key + ", expected one after " +
                        (out.years.empty() ? "as_of (" + dates::to_string(as_of) + ")" : "the one before"));
        }
        out.years.push_back(until);
        out.values.push_back(read_parameter(pillar.value, within));
    }
    return out;
}

namespace {

void add_as_written(const config::node& value, const std::string& name, dates::date as_of,
                    std::vector<model_parameter>& into) {
    const auto number_of = [](const config::node& of) -> std::optional<double> {
        if (!of.is_scalar() || of.is_quoted()) return std::nullopt;
        try {
            return of.number();
        } catch (const error&) {
            return std::nullopt;
        }
    };
    model_parameter read{name, {}, {}, {}};
    if (const auto number = number_of(value)) {
        read.values = {*number};
    } else if (value.is_scalar()) {
        read.text = value.text();
    } else if (value.is_sequence()) {
        for (const config::node& item : value.items()) {
            const auto level = number_of(item);
            if (!level) {
                read.text = "a list of " + std::to_string(value.items().size());
                read.values.clear();
                break;
            }
            read.values.push_back(*level);
        }
    } else if (value.is_mapping()) {
        for (const config::node::member& m : value.members()) {
            const auto level = number_of(m.value);
            try {
                const auto when = config::read_time_point(m.key);
                if (!level) {
                    read.text = "by term, " + std::to_string(value.members().size()) + " times";
                    read.years.clear();
                    read.values.clear();
                    break;
                }
                read.years.push_back(when.years(as_of));
                read.values.push_back(*level);
            } catch (const error&) {
                for (const config::node::member& named : value.members())
                    add_as_written(named.value, name + "." + named.key, as_of, into);
                return;
            }
        }
    }
    into.push_back(std::move(read));
}

}  // namespace

std::vector<model_parameter> parameters_as_written(const config::node& parameters, dates::date as_of) {
    std::vector<model_parameter> out;
    for (const config::node::member& m : parameters.members()) add_as_written(m.value, m.key, as_of, out);
    return out;
}

std::vector<model_parameter> parameters_as_written(const std::string& name, const config::node& value,
                                                   dates::date as_of) {
    std::vector<model_parameter> out;
    add_as_written(value, name, as_of, out);
    return out;
}

bool says_how(std::string_view name) {
    static constexpr std::array<std::string_view, 9> names{
        "scheme", "points", "steps_per_year", "watched_steps_per_year", "particles", "factors",
        "tenor",  "until",  "dates"};
    return std::ranges::find(names, name) != names.end();
}

std::size_t read_choice(const config::node& parameters, std::string_view name,
                        std::span<const std::string_view> choices, std::size_t unless_given) {
    const config::node* const given = parameters.find(name);
    if (given == nullptr) return unless_given;
    const auto at = given->is_scalar() ? std::ranges::find(choices, given->text()) : choices.end();
    if (at != choices.end()) return static_cast<std::size_t>(at - choices.begin());
    std::vector<std::string> known;
    for (const std::string_view c : choices) known.emplace_back(c);
    given->fail_word(known);
}

std::size_t read_choice(const config::node& parameters, const parameter_row& row) {
    return read_choice(parameters, row.name, row.choices, 0);
}

}  // namespace tilewalk::models
