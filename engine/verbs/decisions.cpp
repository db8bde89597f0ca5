// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/decisions.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/open_file.h"
#include "engine/config/wording.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::verbs {

using nlohmann::json;

namespace {

// Refuses results that say two things of a trade, or name points that nobody can make.
void refuse_unclear(const results& by, const std::string& file) {
    std::set<std::string_view> trades;
    for (std::size_t i = 0; i < by.rows.size(); ++i) {
        const price_row& row = by.rows[i];
        const std::string at = "rows[" + std::to_string(i) + "]";
        if (!trades.insert(row.trade).second)
            throw error(error_kind::input,
                        "found the trade " + config::shown(row.trade) +
                            " a second time; expected one row for each trade to follow",
                        {file}, at + ".trade");
        if (row.construction.empty()) continue;
        try {
            quasi::construction_named(row.construction);
        } catch (const error& unknown) {
            throw error(error_kind::input, unknown.message(), {file}, at + ".construction");
        }
    }
}

}  // namespace

results load_decisions(const std::string& file) {
    const config::open_file opened(file);
    if (opened.stated_bytes() > bounds::results_bytes)
        throw error(error_kind::input, "larger than 1 GiB: this is no file of results", {file});
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || in.bad()) throw error(error_kind::io, "can't read to the end", {file});
    results out = read_results(text.str(), file);
    refuse_unclear(out, file);
    return out;
}

const price_row& decided_row(const results& by, const std::string& trade) {
    const auto at = std::ranges::find(by.rows, trade, &price_row::trade);
    if (at != by.rows.end() && at->status == trade_status::priced) return *at;
    std::vector<std::string> known;
    for (const price_row& r : by.rows) known.push_back(r.trade);
    throw error(error_kind::input,
                at == by.rows.end()
                    ? "found no decisions on the trade " + config::shown(trade) +
                          " in the results to follow" + config::suggestion(trade, known)
                    : "found a trade that failed in the results to follow, expected one that was priced");
}

std::optional<quasi::points> decided_points(const results& by, const std::string& trade) {
    const price_row& row = decided_row(by, trade);
    if (row.randomisations == 0 || row.construction.empty()) return std::nullopt;
    return quasi::points{quasi::construction_named(row.construction)};
}

std::optional<std::string> decision(const results& by, const std::string& trade, const std::string& name) {
    const price_row& row = decided_row(by, trade);
    if (row.decisions.empty()) return std::nullopt;
    const json read = json::parse(row.decisions, nullptr, false);
    if (!read.is_object() || !read.contains(name)) return std::nullopt;
    return read[name].dump();
}

std::string with_decision(const std::string& so_far, const std::string& name, const std::string& what) {
    json all = so_far.empty() ? json::object() : json::parse(so_far);
    all[name] = json::parse(what);
    return all.dump();
}

}  // namespace tilewalk::verbs
