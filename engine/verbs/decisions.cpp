// SPDX-License-Identifier: Apache-2.0
#include "engine/verbs/decisions.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "engine/config/open_file.h"
#include "engine/config/wording.h"
#include "tilewalk/bounds.h"
#include "tilewalk/error.h"

namespace tilewalk::verbs {

using nlohmann::json;

results load_decisions(const std::string& file) {
    const config::open_file opened(file);
    if (opened.stated_bytes() > bounds::results_bytes)
        throw error(error_kind::input, "larger than 1 GiB: this is no file of results", {file});
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || in.bad()) throw error(error_kind::io, "can't read to the end", {file});
    return read_results(text.str(), file);
}

namespace {

const price_row& row_of(const results& by, const std::string& trade) {
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

}  // namespace

std::optional<quasi::points> decided_points(const results& by, const std::string& trade) {
    const price_row& row = row_of(by, trade);
    if (row.randomisations == 0 || row.construction.empty()) return std::nullopt;
    return quasi::points{quasi::construction_named(row.construction)};
}

std::uint64_t decided_paths(const results& by, const std::string& trade) {
    return row_of(by, trade).paths;
}

std::optional<std::string> decision(const results& by, const std::string& trade, const std::string& name) {
    const price_row& row = row_of(by, trade);
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
