// SPDX-License-Identifier: Apache-2.0
#include "engine/market/scenarios.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "engine/base/digest.h"
#include "engine/base/wording.h"
#include "engine/walk/arrays/layout.h"
#include "engine/walk/arrays/mapped_file.h"
#include "products/dates/date.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {

namespace {

// Highest volatility allowed anywhere in a file.
constexpr double most_moved_volatility = bounds::scenario_volatility;
// A file with no volatility below this limit is refused: it is probably in percent.
constexpr double most_least_volatility = bounds::volatility;

template <class number>
void check_volatilities(const number* x, const arrays::layout& l, const std::string& name) {
    const std::uint64_t count = l.steps * l.paths;
    const number* const bad =
        std::find_if_not(x, x + count, [](number v) { return v > 0 && v <= number(most_moved_volatility); });
    const auto at = static_cast<std::uint64_t>(bad - x);
    if (at == count) {
        const number least = count == 0 ? number(0) : *std::min_element(x, x + count);
        if (least <= number(most_least_volatility)) return;
        throw error(error_kind::input,
                    "found no volatility below " + config::shown(static_cast<double>(least)) +
                        ", expected some below 5; are they in percent? 0.2 is 20 %",
                    {name});
    }
    throw error(
        error_kind::input,
        "found " + config::shown(static_cast<double>(*bad)) + " in row " + std::to_string(at / l.paths) +
            " on path " + std::to_string(at % l.paths) +
            " (both counted from 0), expected a volatility above 0 and at most 100, where 0.2 is 20 %",
        {name});
}

}  // namespace

scenario_array open_volatilities(const std::filesystem::path& file, const std::filesystem::path& inside) {
    scenario_array made;
    made.name = file.string();
    const arrays::mapped_file mapped = arrays::map_file(file, inside);
    const arrays::layout found = arrays::read_layout(mapped.bytes, made.name, arrays::contents::scenarios);
    const std::byte* const first = mapped.bytes.data() + found.data_at;
    made.cube.step_stride = found.paths;
    made.cube.slot_stride = found.paths;
    made.cube.steps = found.steps;
    made.cube.slots = 1;
    made.cube.paths = found.paths;
    if (found.of == arrays::element::double_) {
        made.cube.first = reinterpret_cast<const double*>(first);
    } else {
        made.cube.first = reinterpret_cast<const float*>(first);
    }
    std::visit([&](const auto* x) { check_volatilities(x, found, made.name); }, made.cube.first);
    made.mapped = mapped.keeps;
    made.hash = std::async(std::launch::deferred, [mapped] {
        return config::sha256({reinterpret_cast<const char*>(mapped.bytes.data()), mapped.bytes.size()});
    });
    return made;
}

std::pair<double, double> range_of_row(const scenario_array& of, std::size_t row) {
    return std::visit(
        [&](const auto* first) -> std::pair<double, double> {
            const auto* const begin = first + row * of.cube.step_stride;
            const auto [least, most] = std::minmax_element(begin, begin + of.cube.paths);
            return {static_cast<double>(*least), static_cast<double>(*most)};
        },
        of.cube.first);
}

bool is_scenario_volatility(const config::node& value) {
    return value.is_mapping() && (value.find("scenarios") != nullptr || value.find("times") != nullptr);
}

std::uint32_t scenario_volatility::row_until(double until) const {
    const auto at = std::lower_bound(years.begin(), years.end(), until - dates::same_time_years);
    return static_cast<std::uint32_t>(at - years.begin());
}

}  // namespace tilewalk::markets
