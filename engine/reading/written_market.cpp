// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/written_market.h"

#include <algorithm>
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

// The changed number as the file would write it: a discount factor if the file has one, not its zero rate.
double in_file(const changed_number& now, const node& written) {
    const keyed_number& which = *now.which;
    if (which.factor_years == 0) return now.value;
    return written.number() * kernels::exp(-(now.value - which.value) * which.factor_years);
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

// Further spellings of `key`, one of which the list of keys may have.
std::vector<std::string> spellings(std::string_view key) {
    std::vector<std::string> out;
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
            by_part_.try_emplace(numbers_[i].of, run{i, 0}).first->second.count += 1;
        }
    });
}

const std::vector<keyed_number>& written_market::numbers() const {
    list();
    return numbers_;
}

const keyed_number& written_market::find(std::string_view key) const {
    list();
    auto found = by_key_.find(key);
    if (found == by_key_.end()) {
        for (const std::string& spelling : spellings(key)) {
            found = by_key_.find(spelling);
            if (found != by_key_.end()) break;
        }
    }
    if (found != by_key_.end()) {
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

std::span<const keyed_number> written_market::numbers_of(const market_part& of) const {
    list();
    const auto found = by_part_.find(of);
    if (found == by_part_.end()) return {};
    return std::span(numbers_).subspan(found->second.first, found->second.count);
}

std::map<market_part, std::vector<changed_number>> written_market::by_part(const changes& now) const {
    std::map<market_part, std::vector<changed_number>> out;
    for (const auto& [key, value] : now) {
        const keyed_number& number = find(key);
        out[number.of].push_back({&number, value});
    }
    return out;
}

node written_market::whole(const changes& now) const {
    node made = root_;
    for (const auto& [p, numbers] : by_part(now)) {
        const lent_part lent(*this, p, numbers);
        const node& changed = lent.as_member().value;
        // Turn the new numbers into text now: many threads will share the returned tree.
        for (const changed_number& n : numbers)
            if (!n.which->is_added) changed.descendant(n.which->place).text();
        const char* const name = name_of(p.in);
        made = made.with(name, p.in == section::correlations ? changed : made.at(name).with(p.name, changed));
    }
    return made;
}

std::unique_ptr<written_market::copy> written_market::lend(const market_part& of) const {
    {
        const std::lock_guard guard(lock_);
        std::vector<std::unique_ptr<copy>>& idle = idle_[of];
        if (!idle.empty()) {
            std::unique_ptr<copy> lent = std::move(idle.back());
            idle.pop_back();
            return lent;
        }
    }
    auto made = std::make_unique<copy>(copy{part(of), {}});
    for (const keyed_number& n : numbers_of(of)) {
        made->numbers.push_back(n.is_added ? nullptr : &made->of.value.descendant(n.place));
        if (!n.is_added) made->numbers.back()->keep_number();
    }
    return made;
}

void written_market::take_back(const market_part& of, std::unique_ptr<copy> lent) const {
    const std::lock_guard guard(lock_);
    idle_.find(of)->second.push_back(std::move(lent));
}

lent_part::lent_part(const written_market& in, const market_part& of, std::span<const changed_number> now)
    : in_(in), of_(of), lent_(in.lend(of)) {
    const keyed_number* const first = in.numbers_of(of).data();
    before_.reserve(now.size());
    for (const changed_number& n : now) {
        if (n.which->is_added) continue;
        node& at = *lent_->numbers[static_cast<std::size_t>(n.which - first)];
        before_.emplace_back(&at, at);
        at.write(in_file(n, at));
    }
    for (const changed_number& n : now) {
        if (!n.which->is_added) continue;
        lent_->of.value = with_added(lent_->of.value, n.which->place.front(), n.value);
        has_other_shape_ = true;
    }
}

lent_part::~lent_part() {
    if (has_other_shape_) return;
    for (auto& [at, was] : before_) *at = std::move(was);
    in_.take_back(of_, std::move(lent_));
}

}  // namespace tilewalk::markets
