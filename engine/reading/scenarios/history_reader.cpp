// SPDX-License-Identifier: Apache-2.0
// Scenarios from a table of past market levels: each applies the moves between two of its days to the market.
#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/reading/level_table.h"
#include "engine/reading/scenarios/scenario_parts.h"
#include "kernels/exponential.h"
#include "tilewalk/bounds.h"

namespace tilewalk::reading {

using config::node;

namespace {

struct column_rule {
    move_way way = move_way::absolute;
    double displacement = 0;
};

move_way read_way_of_returns(const node& given) {
    const std::vector<std::string> known{name_of(move_way::absolute), name_of(move_way::relative),
                                         name_of(move_way::log)};
    const auto found = given.is_scalar() ? std::ranges::find(known, given.text()) : known.end();
    if (found == known.end()) given.fail_word(known);
    return static_cast<move_way>(found - known.begin());
}

// Reads one value for all columns, or values by key or pattern, of which the last that fits a column counts.
template <class put>
void read_by_key(const node* given, const level_table& table, const movable_numbers& numbers, put&& puts) {
    if (given == nullptr) return;
    if (!given->is_mapping()) {
        for (std::size_t c = 0; c < table.columns(); ++c) puts(c, *given);
        return;
    }
    for (const node::member& m : given->members()) {
        const auto& fitting = told_at(
            m, [&]() -> auto& { return numbers.fitting(m.key); });
        for (std::size_t c = 0; c < table.columns(); ++c)
            if (std::ranges::find(fitting, table.number(c)) != fitting.end()) puts(c, m.value);
    }
}

std::vector<column_rule> read_rules(const node& given, const level_table& table,
                                    const movable_numbers& numbers) {
    std::vector<column_rule> rules(table.columns());
    for (std::size_t c = 0; c < table.columns(); ++c)
        rules[c].way = is_price(numbers[table.number(c)]) ? move_way::relative : move_way::absolute;
    read_by_key(given.find("returns"), table, numbers,
                [&](std::size_t c, const node& way) { rules[c].way = read_way_of_returns(way); });
    read_by_key(given.find("displacement"), table, numbers, [&](std::size_t c, const node& displacement) {
        rules[c].displacement = read_displacement(displacement);
    });
    return rules;
}

struct day_of_levels {
    dates::date date;
    std::vector<double> levels;
};

move move_between(double before, double after, const column_rule& rule) {
    move made{rule.way, after - before, rule.displacement};
    const double ratio = (after + rule.displacement) / (before + rule.displacement);
    if (rule.way == move_way::relative) made.amount = ratio - 1;
    if (rule.way == move_way::log) made.amount = kernels::log(ratio);
    made.in_unit = made.amount;
    return made;
}

class history {
  public:
    history(const node& given, const std::string& set, config::csv_reader& rows, const level_table& table,
            scenarios_so_far& so_far)
        : set_(set),
          rows_(rows),
          table_(table),
          into_(so_far.into),
          rules_(read_rules(given, table, so_far.numbers)) {
        if (const node* const days = given.find("days")) days_ = static_cast<std::size_t>(read_length(*days));
        if (const node* const roll = given.find("roll")) rolls_ = roll->boolean();
        if (const node* const from = given.find("from")) from_ = config::read_date(*from);
        if (const node* const to = given.find("to")) {
            to_ = config::read_date(*to);
            if (from_ && *to_ < *from_)
                to->fail("found " + to->found() + ", expected a day that is not before 'from'");
        }
        for (std::size_t c = 0; c < table.columns(); ++c) numbers_.push_back({table.number(c)});
    }

    std::size_t read() {
        std::size_t used = 0;
        std::optional<dates::date> last;
        while (rows_.next()) {
            const dates::date date = table_.date();
            if (last && date <= *last) {
                rows_.fail(0, "found " + table_.date_text() +
                                  (date == *last ? " a second time" : " after " + dates::to_string(*last)) +
                                  ", expected a later day in each row");
            }
            last = date;
            if ((from_ && date < *from_) || (to_ && date > *to_)) continue;
            ++used;
            window_.push_back({date, levels()});
            if (window_.size() <= days_) continue;
            make_scenario();
            window_.pop_front();
        }
        return used;
    }
    std::size_t days() const { return days_; }

  private:
    static int read_length(const node& given) {
        const std::int64_t days = given.integer();
        if (days < 1 || days > bounds::days_of_a_return) {
            given.fail("found " + given.found() + ", expected a whole number of days from 1 to " +
                       std::to_string(bounds::days_of_a_return));
        }
        return static_cast<int>(days);
    }

    std::vector<double> levels() const {
        std::vector<double> out;
        for (std::size_t c = 0; c < rules_.size(); ++c) {
            const double level = table_.level(c);
            if (rules_[c].way != move_way::absolute && !(level + rules_[c].displacement > 0)) {
                table_.fail(c, "found the level " + config::shown(level) +
                                   (rules_[c].displacement == 0
                                        ? ""
                                        : " with the displacement " + config::shown(rules_[c].displacement)) +
                                   ", expected more than 0 for a return that is " + name_of(rules_[c].way));
            }
            out.push_back(level);
        }
        return out;
    }

    void make_scenario() {
        const day_of_levels &before = window_.front(), &after = window_.back();
        const std::string first = dates::to_string(before.date), last = dates::to_string(after.date);
        scenario& made = told_at(
            cell_of_row{rows_, 0}, [&]() -> auto& { return into_.begin(set_, last); });
        made.first_day = first;
        made.last_day = last;
        if (rolls_) made.days = after.date.serial - before.date.serial;
        for (std::size_t c = 0; c < rules_.size(); ++c) {
            const move by = move_between(before.levels[c], after.levels[c], rules_[c]);
            try {
                into_.move(numbers_[c], by);
            } catch (const error& e) {
                table_.fail(c, e.message());
            }
        }
    }

    const std::string& set_;
    config::csv_reader& rows_;
    const level_table& table_;
    scenario_builder& into_;
    std::vector<column_rule> rules_;
    std::vector<std::vector<std::size_t>> numbers_;  // by column: the market's numbers that it moves
    std::size_t days_ = 1;
    bool rolls_ = false;
    std::optional<dates::date> from_, to_;
    std::deque<day_of_levels> window_;  // the last days read; one more than a return spans
};

void read_one(const node& given, scenarios_so_far& so_far) {
    if (!given.is_mapping()) {
        given.fail("found " + given.found() +
                   ", expected a history: a mapping with the key 'levels', the name of a table");
    }
    given.only(
        {"set", "levels", "keys", "row_count", "returns", "displacement", "days", "roll", "from", "to"});
    const node* const named = given.find("set");
    const std::string set = named != nullptr ? named->text() : set_of_history;
    if (named != nullptr) told_at(*named, [&] { scenario_builder::check_set(set); });
    const node& levels = given.at("levels");
    const level_keys keys = read_level_keys(given.find("keys"), so_far.numbers, so_far.files);
    const checked_text text = so_far.files.csv(levels);
    config::csv_reader rows(text.text, text.name);
    if (!is_of_levels(rows))
        rows.fail_header(0, "found a table that does not begin with 'Date', expected levels by date");
    const level_table table(rows, keys, so_far.numbers);
    history of(given, set, rows, table, so_far);
    const std::size_t used = of.read();
    check_whole(rows, given.find("row_count"), so_far.files.is_strict(), so_far.remarks);
    if (used <= of.days()) {
        levels.fail("found " + std::to_string(used) + (used == 1 ? " day" : " days") +
                    " of levels, expected at least " + std::to_string(of.days() + 1) + " for a return of " +
                    std::to_string(of.days()) + (of.days() == 1 ? " day" : " days"));
    }
    if (std::string remark = table.remark(); !remark.empty()) so_far.remarks.push_back(std::move(remark));
    add_name(set, so_far.likely_sets);
}

}  // namespace

void read_history(const node& given, scenarios_so_far& so_far) {
    if (!given.is_sequence()) {
        read_one(given, so_far);
        return;
    }
    if (given.items().empty()) given.fail("found an empty list, expected at least one history");
    for (const node& one : given.items()) read_one(one, so_far);
}

}  // namespace tilewalk::reading
