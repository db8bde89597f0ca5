// SPDX-License-Identifier: Apache-2.0
// Scenarios from tables: each row has moves of market numbers, or levels to set them to, as ORE's files have.
#include <filesystem>
#include <string>
#include <unordered_set>

#include "engine/base/numbers.h"
#include "engine/base/wording.h"
#include "engine/reading/level_table.h"
#include "engine/reading/scenarios/scenario_parts.h"
#include "tilewalk/bounds.h"

namespace tilewalk::reading {

using config::node;

namespace {

constexpr std::string_view column_of_names = "Scenario", column_of_sets = "Set", column_of_days = "Days";

// A column of moves: its header is a market key, which contains a dot, unlike the names of other columns.
struct column_of_moves {
    std::size_t cell = 0;
    const std::vector<std::size_t>* numbers = nullptr;
};

int days_of(const config::csv_reader& rows, std::size_t cell) {
    const std::string& text = rows.row()[cell].text;
    if (text.empty()) return 0;
    const auto days = config::plain_number(text);
    if (!days || !(*days >= 0 && *days <= bounds::years * 365) || *days != static_cast<int>(*days)) {
        rows.fail(cell, "found " + config::shown(text) + ", expected a whole number of days from 0 to " +
                            config::shown(bounds::years * 365));
    }
    return static_cast<int>(*days);
}

std::vector<column_of_moves> read_columns(const config::csv_reader& rows, const movable_numbers& numbers) {
    std::vector<column_of_moves> out;
    std::unordered_set<std::string> seen;
    for (std::size_t cell = 0; cell < rows.header().size(); ++cell) {
        const std::string& name = rows.header()[cell].text;
        if (!seen.insert(name).second)
            rows.fail_header(cell, "found a second column " + config::shown(name) + ", expected one");
        if (name == column_of_names || name == column_of_sets || name == column_of_days) continue;
        out.push_back(
            {cell, &told_at(
                       cell_of_header{rows, cell}, [&]() -> auto& { return numbers.fitting(name); })});
    }
    return out;
}

void read_moves(config::csv_reader& rows, scenarios_so_far& so_far) {
    const std::size_t names = rows.find(column_of_names), sets = rows.find(column_of_sets),
                      days = rows.find(column_of_days);
    if (names == config::csv_reader::no_column)
        rows.fail_header(0,
                         "found a table with no column 'Scenario', expected one with the names of scenarios");
    const std::vector<column_of_moves> columns = read_columns(rows, so_far.numbers);
    while (rows.next()) {
        const auto& row = rows.row();
        const bool is_named = sets != config::csv_reader::no_column;
        const std::string set = is_named ? row[sets].text : set_of_moves;
        scenario& made = told_at(
            cell_of_row{rows, is_named && set.empty() ? sets : names}, [&]() -> auto& {
                return so_far.into.begin(set, row[names].text);
            });
        if (days != config::csv_reader::no_column) made.days = days_of(rows, days);
        for (const column_of_moves& c : columns) {
            const std::string& text = row[c.cell].text;
            if (text.empty()) continue;
            told_at(cell_of_row{rows, c.cell}, [&] {
                const move by = read_move(text);
                so_far.into.claim(*c.numbers, rows.header()[c.cell].text);
                so_far.into.move(*c.numbers, by);
            });
        }
        told_at(cell_of_row{rows, names}, [&] { so_far.into.end(); });
        if (set == set_of_history || set == set_of_levels) add_name(set, so_far.likely_sets);
    }
}

class names_of_rows {
  public:
    explicit names_of_rows(config::csv_reader rows) {
        std::unordered_set<std::string> scenarios, days;
        std::size_t read = 0;
        while (rows.next()) {
            ++read;
            if (has_scenarios_) has_scenarios_ = scenarios.insert(rows.row()[1].text).second;
            if (has_days_) has_days_ = days.insert(rows.row()[0].text).second;
        }
        // One row says nothing about which column tells rows apart; the date is used.
        if (read == 1) has_scenarios_ = false;
    }
    std::string name_of(const level_table& row) const {
        if (has_scenarios_) return row.scenario_text();
        return has_days_ ? row.date_text() : row.date_text() + " " + row.scenario_text();
    }

  private:
    bool has_scenarios_ = true, has_days_ = true;
};

void read_levels(config::csv_reader& rows, const level_keys& keys, scenarios_so_far& so_far) {
    const names_of_rows names(rows);
    const level_table table(rows, keys, so_far.numbers);
    while (rows.next()) {
        told_at(cell_of_row{rows, 1}, [&] { so_far.into.begin(set_of_levels, names.name_of(table)); });
        for (std::size_t c = 0; c < table.columns(); ++c) {
            try {
                so_far.into.set(table.number(c), table.level(c));
            } catch (const error& e) {
                if (!e.where().file.empty()) throw;
                table.fail(c, e.message());
            }
        }
    }
    if (std::string remark = table.remark(); !remark.empty()) so_far.remarks.push_back(std::move(remark));
    add_name(set_of_levels, so_far.likely_sets);
}

template <class read_keys>
void read_rows(config::csv_reader& rows, const node* row_count, scenarios_so_far& so_far, read_keys&& keys) {
    if (is_of_ore(rows)) {
        read_levels(rows, keys(), so_far);
    } else if (is_of_levels(rows)) {
        rows.fail_header(0,
                         "found levels by date, expected scenarios; a YAML file makes them from levels, as "
                         "in {history: {levels: NAME}}");
    } else {
        read_moves(rows, so_far);
    }
    check_whole(rows, row_count, so_far.files.is_strict(), so_far.remarks);
    if (rows.rows() == 0) rows.fail_header(0, "found a header and no rows, expected at least one scenario");
}

}  // namespace

void read_table(const node& given, scenarios_so_far& so_far) {
    const node* const keys = given.is_mapping() ? given.find("keys") : nullptr;
    if (given.is_mapping()) given.only({"file", "keys", "row_count"});
    const checked_text text = so_far.files.csv(given.is_mapping() ? given.at("file") : given);
    config::csv_reader rows(text.text, text.name);
    if (keys != nullptr && !is_of_levels(rows)) {
        keys->fail(
            "found keys for a table of moves, whose columns are market keys already, expected keys only with "
            "a table of levels");
    }
    const node* const row_count = given.is_mapping() ? given.find("row_count") : nullptr;
    read_rows(rows, row_count, so_far, [&] { return read_level_keys(keys, so_far.numbers, so_far.files); });
}

bool is_table(std::string_view begin, const std::string& name) {
    if (name.ends_with(".csv")) return true;
    if (begin.starts_with('#')) begin.remove_prefix(1);
    for (const std::string_view first : {column_of_names, column_of_sets, std::string_view("Date")})
        if (begin.starts_with(first) && begin.substr(first.size()).starts_with(',')) return true;
    return false;
}

void read_table(const checked_text& table, scenarios_so_far& so_far) {
    config::csv_reader rows(table.text, table.name);
    read_rows(rows, nullptr, so_far, [&] {
        const std::filesystem::path beside =
            so_far.files.folder() / (std::filesystem::path(table.name).stem().string() + ".keys.yaml");
        std::error_code ignored;
        if (!std::filesystem::exists(beside, ignored)) return level_keys();
        const config::document read = so_far.files.yaml(beside);
        level_keys made(read.root, so_far.numbers);
        if (so_far.files.is_strict()) config::demand_end(read);
        return made;
    });
}

}  // namespace tilewalk::reading
