// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/failures.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "engine/base/shown_numbers.h"
#include "tilewalk/results.h"

namespace tilewalk::report {

std::string alike_failures::trades() const {
    return rows.size() == 1 ? first().trade : counted(rows.size(), "trade");
}

std::string alike_failures::reason() const {
    if (rows.size() == 1) return first().message;
    constexpr std::size_t most_named = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(rows.size(), most_named); ++i)
        names += (i == 0 ? "" : ", ") + rows[i]->trade;
    return first().message + " (" + names + (rows.size() > most_named ? ", ...)" : ")");
}

std::vector<alike_failures> failures_of(const results& r) {
    constexpr std::size_t most_alone = 3;
    std::map<std::string_view, std::size_t> counts, places;
    for (const price_row& row : r.rows)
        if (row.status == trade_status::failed) ++counts[row.message];
    std::vector<alike_failures> out;
    for (const price_row& row : r.rows) {
        if (row.status != trade_status::failed) continue;
        const bool is_alone = counts[row.message] <= most_alone;
        const auto [at, is_new] = places.try_emplace(row.message, out.size());
        if (is_new || is_alone)
            out.push_back({{&row}});
        else
            out[at->second].rows.push_back(&row);
    }
    return out;
}

}  // namespace tilewalk::report

namespace tilewalk {

std::vector<std::string> failure_lines(const results& of) {
    std::vector<std::string> out;
    for (const report::alike_failures& alike : report::failures_of(of)) {
        const std::string place = to_string(alike.first().where);
        out.push_back(place + (place.empty() ? "" : ": ") + (alike.rows.size() == 1 ? "trade " : "") +
                      alike.trades() + ": " + alike.reason());
    }
    return out;
}

}  // namespace tilewalk
