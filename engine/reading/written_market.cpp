// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/written_market.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/wording.h"
#include "engine/reading/scenarios/key_list.h"
#include "kernels/exponential.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {
namespace {

using config::node;
using section = market_part::section;

const char* name_of(section s) {
    switch (s) {
        case section::currencies:
            return "currencies";
        case section::fx:
            return "fx";
        case section::assets:
            return "assets";
        case section::correlations:
            return "correlations";
        case section::fixings:
            break;
    }
    return "fixings";
}

std::string text_of(const keyed_number& number, const node& written, double value) {
    if (number.factor_years == 0) return config::shown(value);
    return config::shown(written.number() * kernels::exp(-(value - number.value) * number.factor_years));
}

node with_added(const node& asset, std::size_t row, double value) {
    const node& vol = asset.at("volatility");
    const node* const before = vol.find("shift");
    std::string list;
    for (std::size_t k = 0; k < vol.at("times").items().size(); ++k) {
        const double other = before != nullptr ? before->items()[k].number() : 0;
        list += (k == 0 ? "[" : ", ") + config::shown(k == row ? value : other);
    }
    return asset.with("volatility", vol.with("shift", config::parse(list + "]", vol.where().file)));
}

std::vector<std::string> spellings(std::string_view key) {
    std::vector<std::string> out{std::string(key)};
    if (const std::size_t at = key.rfind('@'); at != std::string_view::npos) {
        std::string plain(key.substr(0, at)), with_years = plain;
        std::string_view rest = key.substr(at);
        for (bool is_first = true; !rest.empty(); is_first = false) {
            const std::size_t end = std::min(rest.find(',', 1), rest.size());
            const std::string_view written = rest.substr(1, end - 1);
            const bool has_years = written.ends_with('y');
            const auto number = config::plain_number(written.substr(0, written.size() - (has_years ? 1 : 0)));
            const std::string shown = number ? config::shown(*number) : std::string(written);
            plain += rest[0] + shown + (number && has_years ? "y" : "");
            with_years += rest[0] + shown + (number && (has_years || is_first) ? "y" : "");
            rest.remove_prefix(end);
        }
        out.push_back(std::move(plain));
        out.push_back(std::move(with_years));
    }
    constexpr std::string_view of_pair = ".correlation";
    const std::size_t bar = key.find('|');
    if (bar != std::string_view::npos && key.ends_with(of_pair)) {
        const std::string_view first = key.substr(0, bar),
                               second = key.substr(bar + 1, key.size() - bar - 1 - of_pair.size());
        out.push_back(std::string(second) + "|" + std::string(first) + std::string(of_pair));
    }
    return out;
}

}  // namespace

written_market::written_market(node root, dates::date as_of, std::filesystem::path inside,
                               std::filesystem::path folder)
    : root_(std::move(root)), as_of_(as_of), inside_(std::move(inside)), folder_(std::move(folder)) {}

void written_market::list() const {
    std::call_once(listed_, [this] {
        numbers_ = list_keys(root_, as_of_);
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            by_key_[numbers_[i].key].push_back(i);
            by_part_[numbers_[i].of].push_back(i);
        }
    });
}

const std::vector<keyed_number>& written_market::numbers() const {
    list();
    return numbers_;
}

const keyed_number& written_market::find(std::string_view key) const {
    list();
    for (const std::string& spelling : spellings(key)) {
        const auto found = by_key_.find(spelling);
        if (found == by_key_.end()) continue;
        if (found->second.size() == 1) return numbers_[found->second.front()];
        throw error(error_kind::usage, "the market key " + config::shown(key) + " names " +
                                           std::to_string(found->second.size()) +
                                           " numbers of the market, expected one");
    }
    std::vector<std::string> known;
    for (const auto& [name, at] : by_key_) known.push_back(name);
    throw error(error_kind::usage,
                "unknown market key " + config::shown(key) +
                    (known.empty() ? "; the market has no numbers"
                                   : config::alternatives(key, "the market's keys:", known)));
}

node::member written_market::part(const market_part& of) const {
    const node& all = root_.at(name_of(of.in));
    if (of.in == section::correlations) return {"", all, all.where().line, all.where().column};
    return *std::ranges::find(all.members(), of.name, &node::member::key);
}

node::member written_market::part(const market_part& of, const changes& now) const {
    list();
    node::member made = part(of);
    const auto numbers = by_part_.find(of);
    if (numbers == by_part_.end()) return made;
    const node written = made.value;
    std::vector<node::new_text> texts;
    std::vector<std::pair<std::size_t, double>> added;
    for (const std::size_t i : numbers->second) {
        const keyed_number& number = numbers_[i];
        const auto changed = now.find(number.key);
        if (changed == now.end()) continue;
        const double value = changed->second;
        if (number.is_added)
            added.emplace_back(number.place.front(), value);
        else
            texts.push_back({number.place, text_of(number, written.descendant(number.place), value)});
    }
    made.value = written.with(texts);
    for (const auto& [row, value] : added) made.value = with_added(made.value, row, value);
    return made;
}

node written_market::whole(const changes& now) const {
    node made = root_;
    std::set<market_part> parts;
    for (const auto& [key, value] : now) parts.insert(find(key).of);
    for (const market_part& p : parts) {
        const char* const name = name_of(p.in);
        node changed = part(p, now).value;
        made =
            made.with(name, p.in == section::correlations ? std::move(changed)
                                                          : made.at(name).with(p.name, std::move(changed)));
    }
    return made;
}

}  // namespace tilewalk::markets
