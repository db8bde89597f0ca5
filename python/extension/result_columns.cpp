// SPDX-License-Identifier: Apache-2.0
// In-memory columns of prices, sensitivities and totals, from the library's list of columns.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <utility>
#include <variant>
#include <vector>

#include "python/extension/results.h"
#include "tilewalk/devices.h"

namespace tilewalk::python {

namespace {

// Columns whose texts mostly differ from row to row. All other columns of text have few distinct words.
constexpr std::array<std::string_view, 3> of_many_texts{"trade", "message", "remark"};

std::string_view text_of(const cell& of) {
    if (const auto* view = std::get_if<std::string_view>(&of)) return *view;
    if (const auto* text = std::get_if<std::string>(&of)) return *text;
    return {};
}

std::string day_of(const cell& of) {
    const auto* days = std::get_if<std::int64_t>(&of);
    if (days == nullptr) return {};
    const std::chrono::year_month_day day{std::chrono::sys_days(std::chrono::days(*days))};
    const auto digits = [](unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); };
    return std::to_string(static_cast<int>(day.year())) + "-" + digits(static_cast<unsigned>(day.month())) +
           "-" + digits(static_cast<unsigned>(day.day()));
}

template <class Column, class Get>
decltype(column::data) filled(std::size_t first, std::size_t end, Get get) {
    Column out;
    if constexpr (requires { out.reserve(end - first); }) out.reserve(end - first);
    for (std::size_t row = first; row < end; ++row) {
        if constexpr (requires { out.add(get(row)); }) {
            out.add(get(row));
        } else {
            out.push_back(get(row));
        }
    }
    if constexpr (requires { out.finish(); }) out.finish();
    return out;
}

std::vector<std::uint8_t> absent(const column_table& from, std::size_t at, std::size_t first,
                                 std::size_t end) {
    std::vector<std::uint8_t> out;
    for (std::size_t row = first; row < end; ++row) {
        if (!std::holds_alternative<std::monostate>(from.at(row, at))) continue;
        out.resize(end - first);
        out[row - first] = 1;
    }
    return out;
}

decltype(column::data) read(const column_table& from, std::size_t at, std::size_t first, std::size_t end) {
    const auto cell_of = [&](std::size_t row) { return from.at(row, at); };
    switch (from.columns[at].kind) {
        case column_kind::number:
            return filled<figures>(first, end, [&](std::size_t row) {
                const cell x = cell_of(row);
                const auto* number = std::get_if<double>(&x);
                return number != nullptr ? *number : no_figure;
            });
        case column_kind::count:
            return filled<counts>(first, end, [&](std::size_t row) {
                const cell x = cell_of(row);
                const auto* count = std::get_if<std::int64_t>(&x);
                return count != nullptr ? *count : 0;
            });
        case column_kind::truth:
            return filled<flags>(first, end, [&](std::size_t row) {
                const cell x = cell_of(row);
                const auto* truth = std::get_if<bool>(&x);
                return static_cast<std::uint8_t>(truth != nullptr && *truth);
            });
        case column_kind::date:
            return filled<texts>(first, end, [&](std::size_t row) { return day_of(cell_of(row)); });
        case column_kind::text:
            break;
    }
    const auto text = [&](std::size_t row) {
        const cell x = cell_of(row);
        return std::string(text_of(x));
    };
    if (std::ranges::find(of_many_texts, from.columns[at].name) != of_many_texts.end())
        return filled<texts>(first, end, text);
    return filled<coded_texts>(first, end, text);
}

// Rows from `first` up to `end`, built column by column with one thread a core.
std::shared_ptr<const table> table_of(const column_table& from, std::size_t first, std::size_t end) {
    table out;
    out.rows = end - first;
    out.columns.resize(from.columns.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t at = next++; at < out.columns.size(); at = next++) {
            const tilewalk::column& info = from.columns[at];
            const bool may_lack = info.kind == column_kind::count || info.kind == column_kind::truth;
            out.columns[at] = {std::string(info.name), read(from, at, first, end),
                               may_lack ? absent(from, at, first, end) : std::vector<std::uint8_t>()};
        }
    };
    constexpr std::size_t worth_threads = 10'000;
    std::vector<std::future<void>> crew;  // get() rethrows exceptions of the thread
    if (out.rows >= worth_threads)
        for (int t = 1; t < usable_cores(); ++t) crew.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& thread : crew) thread.get();
    return std::make_shared<const table>(std::move(out));
}

}  // namespace

std::shared_ptr<const table> table_of(const column_table& from) {
    return table_of(from, 0, from.rows);
}

std::shared_ptr<const table> table_of_rows(const results& of) {
    return table_of(price_columns(of));
}

std::shared_ptr<const table> table_of_greeks(const results& of) {
    return table_of(greek_columns(of), 0, of.greeks.size());
}

std::shared_ptr<const table> table_of_greek_totals(const results& of) {
    const column_table from = greek_columns(of);
    return table_of(from, of.greeks.size(), from.rows);
}

std::shared_ptr<const table> table_of_totals(const results& of) {
    return table_of(total_columns(of));
}

std::shared_ptr<const table> table_of_numbers(const std::vector<market_number>& numbers) {
    using row = market_number;
    table out;
    out.rows = numbers.size();
    out.columns = {
        column_of<texts>("key", numbers, [](const row& n) -> const std::string& { return n.key; }),
        column_of<figures>("value", numbers, [](const row& n) { return n.value; }),
        column_of<coded_texts>("unit", numbers, [](const row& n) -> const std::string& { return n.unit; }),
    };
    return std::make_shared<const table>(std::move(out));
}

}  // namespace tilewalk::python
