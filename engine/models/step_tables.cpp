// SPDX-License-Identifier: Apache-2.0
#include "engine/models/step_tables.h"

namespace tilewalk::models {

using program::value;

std::shared_ptr<const step_table> step_tables::find_or_make(double from, double to,
                                                            const std::function<void()>& poll) {
    {
        const std::lock_guard guard(lock_);
        if (const auto at = made_.find({from, to}); at != made_.end()) return at->second;
    }
    auto made = std::make_shared<const step_table>(make_(from, to, poll));
    ++count_;
    const std::lock_guard guard(lock_);
    if (made_.size() < most_kept) made_.emplace(std::pair(from, to), made);
    return made;
}

std::function<value(value)> record_tables(step& of, step_tables& from, const std::string& name) {
    std::vector<double> numbers;
    std::vector<std::pair<double, double>> ranges;
    std::size_t points = 0;
    const auto poll = [&into = of.into()] { into.poll(); };
    for (std::size_t i = 0; i + 1 < of.grid().size(); ++i) {
        poll();
        const auto table = from.find_or_make(of.grid()[i], of.grid()[i + 1], poll);
        numbers.insert(numbers.end(), table->numbers.begin(), table->numbers.end());
        ranges.emplace_back(table->low, table->high);
        points = table->numbers.size();
    }
    const double intervals = static_cast<double>(points - 1);
    const auto row = [&](std::string_view row_name, const std::function<double(double, double)>& of_range) {
        std::size_t i = 0;
        return of.row(row_name, [&](double, double) {
            const auto [low, high] = ranges[i++];
            return of_range(low, high);
        });
    };
    const value per_x = row("per_x", [&](double low, double high) { return intervals / (high - low); });
    const value first =
        row("first", [&](double low, double high) { return -low * intervals / (high - low); });
    const program::tabulated table = of.into().table(name, numbers, points);
    return [table, per_x, first, &into = of.into()](value x) {
        return into.interpolate(table, fma(x, per_x, first));
    };
}

}  // namespace tilewalk::models
