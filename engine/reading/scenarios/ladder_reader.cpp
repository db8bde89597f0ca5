// SPDX-License-Identifier: Apache-2.0
// Grids of scenarios: every combination of the moves along their axes.
#include <algorithm>
#include <cmath>
#include <string>

#include "engine/base/wording.h"
#include "engine/reading/scenarios/scenario_parts.h"
#include "tilewalk/bounds.h"

namespace tilewalk::reading {

using config::node;

namespace {

constexpr std::string_view fill = "...";

// An axis of a grid: moves of some market numbers, or numbers of days to pass.
struct axis {
    const node::member* given = nullptr;
    const std::vector<std::size_t>* numbers = nullptr;  // null if the axis counts days
    std::vector<move> moves{};
    std::vector<int> days{};
    std::size_t size() const { return numbers != nullptr ? moves.size() : days.size(); }
};

void fill_up(std::vector<move>& moves, const move& end, const node& dots) {
    constexpr int usual_size = 9;
    const move last = moves.back();
    const auto alike = [&](const move& m) { return m.unit == end.unit; };
    if (!alike(last) || (moves.size() > 1 && !alike(moves[moves.size() - 2])))
        dots.fail("found '...' between amounts in different units, expected the same unit");
    const double distance = end.in_unit - last.in_unit;
    const auto add = [&](double in_unit) {
        // An amount that is 0 but for rounding, such as -0.3 + 3 * 0.1, becomes exactly 0.
        moves.push_back(with_amount(last, std::abs(in_unit) < 1e-9 * std::abs(distance) ? 0 : in_unit));
    };
    if (moves.size() == 1) {
        for (int i = 1; i < usual_size - 1; ++i) add(last.in_unit + distance * i / (usual_size - 1));
        moves.push_back(end);
        return;
    }
    const double step = last.in_unit - moves[moves.size() - 2].in_unit;
    const double steps = distance / step, whole = std::round(steps);
    if (!(whole >= 1 && std::abs(steps - whole) < 1e-6)) {
        dots.fail("found '...' from " + last.name() + " to " + end.name() + " in steps of " +
                  with_amount(end, step).name() + ", expected a whole number of steps");
    }
    if (whole > static_cast<double>(bounds::scenarios)) {
        dots.fail("found '...' for " + config::shown(whole) + " values, expected at most " +
                  std::to_string(bounds::scenarios));
    }
    for (int i = 1; i < static_cast<int>(whole); ++i) add(last.in_unit + step * i);
    moves.push_back(end);
}

bool is_fill(const node& item) {
    return item.is_scalar() && !item.is_quoted() && item.text() == fill;
}

template <class read>
std::vector<move> read_moves(const node& list, read&& from) {
    if (!list.is_sequence()) {
        list.fail("found " + list.found() +
                  ", expected a list of moves, such as [-20%, ..., 20%] or {relative: [-0.2, 0, 0.2]}");
    }
    std::vector<move> out;
    const auto& items = list.items();
    if (items.empty()) list.fail("found an empty list, expected at least one move");
    const auto dots = std::ranges::count_if(items, is_fill);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!is_fill(items[i])) {
            out.push_back(from(items[i]));
            continue;
        }
        if (dots > 1) items[i].fail("found '...' more than once in a list, expected it once");
        if (out.empty() || i + 1 == items.size())
            items[i].fail("found '...' at an end of a list, expected it between two moves");
        const move end = from(items[++i]);
        if (end.way != out.back().way)
            items[i - 1].fail("found '...' between amounts in different units, expected the same unit");
        fill_up(out, end, items[i - 1]);
    }
    return out;
}

std::vector<move> read_axis_moves(const node& given) {
    if (!given.is_mapping()) return read_moves(given, [](const node& item) { return read_move(item); });
    const written_way found = read_way(given);
    return read_moves(*found.amount, [&](const node& item) {
        move made = read_amount(item, found.way);
        made.displacement = found.displacement;
        return made;
    });
}

axis read_axis(const node::member& given, const movable_numbers& numbers) {
    axis made{&given};
    if (given.key == key_of_days) {
        for (const node& item : given.value.items()) made.days.push_back(read_days(item));
        if (made.days.empty()) given.value.fail("found an empty list, expected at least one number of days");
        return made;
    }
    made.numbers = &told_at(
        given, [&]() -> auto& { return numbers.fitting(given.key); });
    made.moves = read_axis_moves(given.value);
    return made;
}

std::string name_at(const std::vector<axis>& axes, const std::vector<std::size_t>& point) {
    std::string name;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const axis& a = axes[i];
        name += (i == 0 ? "" : ";") + a.given->key + "=" +
                (a.numbers != nullptr ? a.moves[point[i]].name() : std::to_string(a.days[point[i]]));
    }
    return name;
}

void make_scenario(const std::vector<axis>& axes, const std::vector<std::size_t>& point, const node& grid,
                   scenario_builder& into) {
    scenario& made = told_at(
        grid, [&]() -> auto& { return into.begin(set_of_grids, name_at(axes, point)); });
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const axis& a = axes[i];
        if (a.numbers == nullptr) {
            made.days = a.days[point[i]];
            continue;
        }
        told_at(*a.given, [&] { into.claim(*a.numbers, a.given->key); });
        told_at(a.given->value, [&] { into.move(*a.numbers, a.moves[point[i]]); });
    }
}

void read_grid(const node& grid, scenarios_so_far& so_far) {
    if (!grid.is_mapping() || grid.members().empty()) {
        grid.fail("found " + (grid.is_mapping() ? "an empty mapping" : grid.found()) +
                  ", expected a grid: a mapping of market keys to lists of moves, such as {ACME.spot: [-20%, "
                  "..., 20%]}");
    }
    std::vector<axis> axes;
    std::size_t points = 1;
    for (const node::member& m : grid.members()) {
        axes.push_back(read_axis(m, so_far.numbers));
        const std::size_t size = axes.back().size();
        if (size > (bounds::scenarios - so_far.into.scenarios().size()) / points) {
            grid.fail("found a grid with which the file has more than " + std::to_string(bounds::scenarios) +
                      " scenarios, which is the limit of a file");
        }
        points *= size;
    }
    // The last axis varies fastest from scenario to scenario.
    std::vector<std::size_t> point(axes.size(), 0);
    for (std::size_t made = 0; made < points; ++made) {
        make_scenario(axes, point, grid, so_far.into);
        for (std::size_t i = axes.size(); i-- > 0;) {
            if (++point[i] < axes[i].size()) break;
            point[i] = 0;
        }
    }
}

}  // namespace

void read_ladder(const node& given, scenarios_so_far& so_far) {
    if (!given.is_sequence()) {
        read_grid(given, so_far);
        return;
    }
    if (given.items().empty()) given.fail("found an empty list, expected at least one grid");
    for (const node& grid : given.items()) read_grid(grid, so_far);
}

}  // namespace tilewalk::reading
