// SPDX-License-Identifier: Apache-2.0
// Readers of the parts of a file of scenarios, and the state that they share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/text/csv.h"
#include "engine/base/text/document.h"
#include "engine/reading/movable_numbers.h"
#include "engine/reading/named_files.h"
#include "engine/reading/scenarios/scenario_move.h"
#include "tilewalk/error.h"
#include "tilewalk/scenarios.h"

namespace tilewalk::reading {

inline constexpr std::string_view key_of_days = "days";

// Calls `does`; gives errors without a place the place of `at`: a node, a member or a table's cell.
template <class place, class act>
decltype(auto) told_at(const place& at, act&& does) {
    try {
        return does();
    } catch (const error& e) {
        if (!e.where().file.empty()) throw;
        at.fail(e.message());
    }
}
struct cell_of_row {
    const config::csv_reader& of;
    std::size_t column;
    [[noreturn]] void fail(const std::string& message) const { of.fail(column, message); }
};
struct cell_of_header {
    const config::csv_reader& of;
    std::size_t column;
    [[noreturn]] void fail(const std::string& message) const { of.fail_header(column, message); }
};

// Builds scenarios one after another. All its errors are input errors without a place.
class scenario_builder {
  public:
    explicit scenario_builder(const movable_numbers& numbers);

    const std::vector<scenario>& scenarios() const { return made_; }
    std::vector<scenario> take_scenarios() { return std::move(made_); }

    static void check_set(const std::string& name);
    scenario& begin(const std::string& set, const std::string& name);
    // Notes that the scenario moves these numbers by key or pattern `by`; throws if it moved one already.
    void claim(const std::vector<std::size_t>& numbers, std::string_view by);
    void move(const std::vector<std::size_t>& numbers, const reading::move& by);
    void set(std::size_t number, double value);
    void end() const;  // throws if the scenario changes nothing

  private:
    void add(market_change change);

    const movable_numbers& numbers_;
    std::vector<scenario> made_;
    std::unordered_set<std::string> names_;  // set and name of each scenario so far
    std::size_t changes_ = 0;
    std::vector<std::size_t> claimed_in_;  // by number: the last scenario to claim it, from 1
    std::vector<std::string> claimed_by_;
};

void add_name(const std::string& name, std::vector<std::string>& to);

struct scenarios_so_far {
    scenarios_so_far(const market& base, named_files from)
        : numbers(base), files(std::move(from)), into(numbers) {}
    scenarios_so_far(const scenarios_so_far&) = delete;

    movable_numbers numbers;
    named_files files;
    scenario_builder into;
    std::vector<std::string> likely_sets{};  // used if the file has no list `likely`
    std::vector<std::string> remarks{};
};

inline constexpr const char* set_of_moves = "stress";
inline constexpr const char* set_of_grids = "ladder";
inline constexpr const char* set_of_history = "history";
inline constexpr const char* set_of_levels = "ore";

int read_days(const config::node& given);

void read_ladder(const config::node& given, scenarios_so_far& so_far);
void read_history(const config::node& given, scenarios_so_far& so_far);
void read_table(const config::node& given, scenarios_so_far& so_far);

// True if a file is a table of scenarios, not YAML. A file beside it may map its columns to market keys.
bool is_table(std::string_view begin, const std::string& name);
void read_table(const checked_text& table, scenarios_so_far& so_far);

}  // namespace tilewalk::reading
