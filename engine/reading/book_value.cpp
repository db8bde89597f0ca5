// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <tuple>
#include <utility>

#include "engine/base/text/document.h"
#include "engine/base/text/tree_value.h"
#include "engine/reading/book_state.h"
#include "engine/reading/trade_table.h"
#include "tilewalk/error.h"

namespace tilewalk {

book book::from_value(const value& written, const std::string& name, const std::filesystem::path& folder,
                      const load_options& options) {
    load_options whole = options;
    whole.strict = false;  // a value in memory can't be cut short as a file can
    return parse(written.yaml(), name, folder, whole);
}

namespace {

std::vector<config::node> rows_of_files(const books::book_state& of) {
    books::rows_of_trades read;
    for (const books::trade_file& file : of.trade_files) books::read_trade_table(file, 1, read);
    return std::move(read.rows);
}

}  // namespace

value book::written() const {
    if (!state_->text && state_->trade_files.empty())
        throw error(error_kind::usage,
                    "found a book that was not read from a file or text, expected one that was: no other can "
                    "be written");
    const bool is_in_files = !state_->trade_files.empty();
    const config::node root = state_->text ? config::parse(*state_->text, state_->name) : config::node();
    value out = state_->text ? config::value_of(root) : value::mapping();
    const std::vector<config::node> rows = is_in_files ? rows_of_files(*state_) : root.at("trades").items();
    if (is_in_files) {
        std::vector<value> trades;
        for (const config::node& row : rows) trades.push_back(config::value_of(row));
        out["trades"] = value::list(std::move(trades));
    }
    // Identify trades by their places in the file: a trade that could not be read may lack a valid id.
    std::set<std::tuple<std::string, int, int>> kept;
    for (const books::trade& t : state_->trades) kept.emplace(t.where.file, t.where.line, t.where.column);
    if (kept.size() == rows.size()) return out;
    std::vector<value> left;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const location at = rows[i].where();
        if (kept.contains({at.file, at.line, at.column})) left.push_back(std::move(out["trades"].items()[i]));
    }
    if (out.find("trade_count") != nullptr) out["trade_count"] = left.size();
    out["trades"] = value::list(std::move(left));
    return out;
}

}  // namespace tilewalk
