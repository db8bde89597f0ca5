// SPDX-License-Identifier: Apache-2.0
// Books as values.
#include <set>
#include <utility>

#include "engine/book/book_state.h"
#include "engine/config/document.h"
#include "engine/config/tree_value.h"
#include "tilewalk/error.h"

namespace tilewalk {

book book::of(const value& written, const std::string& name, const std::filesystem::path& folder,
              const load_options& options) {
    load_options whole = options;
    whole.strict = false;  // a value is never cut short
    return parse(written.yaml(), name, folder, whole);
}

value book::written() const {
    if (!state_->text) throw error(error_kind::usage, "the book was not read, so that nothing was written");
    const config::node root = config::parse(*state_->text, state_->name);
    value out = config::value_of(root);
    // A trade is known by its place: one that can't be read may have any id, or none.
    std::set<std::pair<int, int>> kept;
    for (const books::trade& t : state_->trades) kept.emplace(t.where.line, t.where.column);
    const auto& rows = root.at("trades").items();
    if (kept.size() == rows.size()) return out;
    std::vector<value> left;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const location at = rows[i].where();
        if (kept.contains({at.line, at.column})) left.push_back(std::move(out["trades"].items()[i]));
    }
    if (out.find("trade_count") != nullptr) out["trade_count"] = left.size();
    out["trades"] = value::list(std::move(left));
    return out;
}

}  // namespace tilewalk
