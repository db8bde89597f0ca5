// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/movable_numbers.h"

#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/wildcard.h"
#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::reading {

movable_numbers::movable_numbers(const market& of) : market_(of), numbers_(of.numbers()) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) by_key_.emplace(numbers_[i].key, i);
}

const markets::keyed_number& movable_numbers::written(std::size_t number) const {
    return state_of(market_).source->numbers()[number];
}

std::optional<double> movable_numbers::years(std::size_t number) const {
    const std::string_view key = numbers_[number].key;
    const std::size_t at = key.rfind('@');
    if (at == key.npos) return std::nullopt;
    const std::string_view time = key.substr(at + 1);
    if (const auto day = dates::parse_date(time)) return dates::time_point{*day}.years(as_of());
    return time.ends_with('y') ? config::plain_number(time.substr(0, time.size() - 1)) : std::nullopt;
}

std::optional<std::size_t> movable_numbers::known(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t movable_numbers::find(std::string_view key) const {
    try {
        return by_key_.find(market_.number(key).key)->second;
    } catch (const error& e) {
        throw error(error_kind::input, e.message());
    }
}

const std::vector<std::size_t>& movable_numbers::fitting(std::string_view key_or_pattern) const {
    if (const auto found = fitting_.find(key_or_pattern); found != fitting_.end()) return found->second;
    std::vector<std::size_t> out;
    const bool is_pattern = key_or_pattern.find('*') != std::string_view::npos && !known(key_or_pattern);
    if (!is_pattern) {
        out.push_back(find(key_or_pattern));
    } else {
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            const bool is_fact = written(i).of.in == markets::market_part::section::fixings;
            if (!is_fact && config::fits(key_or_pattern, numbers_[i].key)) out.push_back(i);
        }
    }
    if (out.empty()) {
        std::vector<std::string> known;
        for (const market_number& n : numbers_) known.push_back(n.key);
        throw error(error_kind::input, "found the pattern " + config::shown(key_or_pattern) +
                                           ", which fits no number of the market" +
                                           config::alternatives(key_or_pattern, "the market's keys:", known));
    }
    return fitting_.emplace(std::string(key_or_pattern), std::move(out)).first->second;
}

}  // namespace tilewalk::reading
