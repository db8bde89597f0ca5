// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "engine/base/text/unicode.h"
#include "engine/base/wording.h"
#include "engine/reading/scenarios/scenario_parts.h"
#include "tilewalk/bounds.h"

namespace tilewalk::reading {

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw error(error_kind::input, message);
}

// Names become rows or columns of results, so they must be one line that begins and ends visibly.
void check_name(const std::string& name, const std::string& what) {
    if (name.empty() || name.find('\n') != name.npos)
        refuse("found " + (name.empty() ? "nothing" : config::shown(name)) + ", expected " + what +
               " of one line");
    if (name.size() > bounds::scenario_name_bytes) {
        refuse("found " + what + " of " + std::to_string(name.size()) + " bytes, expected at most " +
               std::to_string(bounds::scenario_name_bytes));
    }
    std::uint32_t first = config::not_a_code_point, last = first;
    for (std::size_t at = 0; at < name.size();) {
        const auto [c, bytes] = config::decode(name, at);
        if (at == 0) first = c;
        at += bytes;
        last = c;
    }
    if (config::is_blank(first) || config::is_blank(last))
        refuse("found " + config::shown(name) + ", expected " + what + " with no blank at an end");
}

}  // namespace

scenario_builder::scenario_builder(const movable_numbers& numbers)
    : numbers_(numbers), claimed_in_(numbers.size()), claimed_by_(numbers.size()) {}

void scenario_builder::check_set(const std::string& name) {
    check_name(name, "the name of a set");
}

scenario& scenario_builder::begin(const std::string& set, const std::string& name) {
    check_set(set);
    check_name(name, "the name of a scenario");
    if (made_.size() == bounds::scenarios) {
        refuse("found more than " + std::to_string(bounds::scenarios) +
               " scenarios, which is the limit of a file");
    }
    if (!names_.insert(set + "\n" + name).second) {
        refuse("found a second scenario " + config::shown(name) + " of the set " + config::shown(set) +
               ", expected different names");
    }
    return made_.emplace_back(scenario{set, name});
}

void scenario_builder::claim(const std::vector<std::size_t>& numbers, std::string_view by) {
    for (const std::size_t n : numbers) {
        if (claimed_in_[n] == made_.size()) {
            refuse("found " + config::shown(by) + ", which moves " + numbers_[n].key + " as " +
                   config::shown(claimed_by_[n]) +
                   " does, expected each number to be moved once in a scenario");
        }
        claimed_in_[n] = made_.size();
        claimed_by_[n] = by;
    }
}

void scenario_builder::move(const std::vector<std::size_t>& numbers, const reading::move& by) {
    for (const std::size_t n : numbers) add(change_by(by, numbers_[n]));
}

void scenario_builder::set(std::size_t number, double value) {
    if (!std::isfinite(value)) {
        refuse("found a level that makes " + numbers_[number].key + " " + config::shown(value) +
               ", expected a finite number");
    }
    add({numbers_[number].key, value, market_change::way::set});
}

void scenario_builder::add(market_change change) {
    if (++changes_ > bounds::scenario_changes) {
        refuse("found more than " + std::to_string(bounds::scenario_changes) +
               " changes of numbers in all scenarios together, which is the limit");
    }
    made_.back().changes.push_back(std::move(change));
}

void scenario_builder::end() const {
    if (made_.back().changes.empty() && made_.back().days == 0)
        refuse("found a scenario that moves nothing, expected a move of a number, or days that pass");
}

void add_name(const std::string& name, std::vector<std::string>& to) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
}

}  // namespace tilewalk::reading
