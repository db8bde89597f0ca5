// SPDX-License-Identifier: Apache-2.0
// The columns of prices, sensitivities and totals. They are those of the CSV files, with numbers as numbers;
// a test holds them against these files.
#include "python/extension/errors.h"
#include "python/extension/results.h"

namespace tilewalk::python {

namespace {

bool priced(const price_row& row) {
    return row.status == trade_status::priced;
}

const char* status_of(const price_row& row) {
    if (!priced(row)) return "failed";
    return row.misses_tolerance ? "tolerance not met" : "priced";
}

const char* error_from(const price_row& row) {
    if (!priced(row)) return "";
    return row.randomisations > 0 ? "randomisations" : "paths";
}

template <class Text>
std::string joined_by(const std::vector<Text>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : "; ") + word;
    return out;
}

std::string message_of(const price_row& row) {
    std::string all = row.message;
    if (row.reported && !row.reported->message.empty())
        all += (all.empty() ? "" : "; ") + row.reported->what + ": " + row.reported->message;
    return all;
}

template <double price_row::*figure>
double figure_of(const price_row& row) {
    return priced(row) ? row.*figure : no_figure;
}

template <double early_exercise::*figure>
double early_of(const price_row& row) {
    return row.early && priced(row) ? (*row.early).*figure : no_figure;
}

}  // namespace

std::shared_ptr<const table> table_of_rows(const std::vector<price_row>& rows) {
    const auto numbers = [&](const char* name, auto get) { return column_of<figures>(name, rows, get); };
    const auto whole = [&](const char* name, auto get) { return column_of<counts>(name, rows, get); };
    const auto words = [&](const char* name, auto get) { return column_of<coded_texts>(name, rows, get); };
    const auto text = [&](const char* name, auto get) { return column_of<texts>(name, rows, get); };
    table out;
    out.rows = rows.size();
    out.columns = {
        text("trade", [](const price_row& r) -> const std::string& { return r.trade; }),
        words("product", [](const price_row& r) -> const std::string& { return r.product; }),
        words("currency", [](const price_row& r) -> const std::string& { return r.currency; }),
        words("status", status_of),
        numbers("quantity", [](const price_row& r) { return r.quantity; }),
        numbers("price", figure_of<&price_row::price>),
        numbers("standard_error", figure_of<&price_row::standard_error>),
        numbers("low", figure_of<&price_row::low>),
        numbers("high", figure_of<&price_row::high>),
        numbers("value", [](const price_row& r) { return priced(r) ? r.value() : no_figure; }),
        numbers("value_error", [](const price_row& r) { return priced(r) ? r.value_error() : no_figure; }),
        whole("paths", [](const price_row& r) { return priced(r) ? r.paths : 0; }),
        words("error_from", error_from),
        whole("randomisations", [](const price_row& r) { return priced(r) ? r.randomisations : 0; }),
        words("construction", [](const price_row& r) -> const std::string& { return r.construction; }),
        numbers("effective_hits", figure_of<&price_row::effective_hits>),
        column_of<flags>("thin", rows, [](const price_row& r) { return priced(r) && r.thin; }),
        numbers("shadow_difference",
                [](const price_row& r) { return r.shadow_difference.value_or(no_figure); }),
        text("remark", [](const price_row& r) { return joined_by(r.remarks); }),
        words("report", [](const price_row& r) { return r.reported ? r.reported->what : std::string(); }),
        numbers("report_value",
                [](const price_row& r) { return r.reported ? r.reported->value : no_figure; }),
        numbers("report_error",
                [](const price_row& r) { return r.reported ? r.reported->standard_error : no_figure; }),
        numbers("policy_value", early_of<&early_exercise::policy_value>),
        numbers("policy_error", early_of<&early_exercise::policy_error>),
        numbers("lower_bound", early_of<&early_exercise::lower_bound>),
        numbers("lower_error", early_of<&early_exercise::lower_error>),
        numbers("upper_bound", early_of<&early_exercise::upper_bound>),
        numbers("upper_error", early_of<&early_exercise::upper_error>),
        numbers("extrapolated", early_of<&early_exercise::extrapolated>),
        numbers("step_error", early_of<&early_exercise::step_error>),
        whole("training_paths",
              [](const price_row& r) { return r.early && priced(r) ? r.early->training_paths : 0; }),
        text("message", message_of),
        words("kind", [](const price_row& r) { return priced(r) ? "" : word_of(r.kind); }),
        words("file", [](const price_row& r) -> const std::string& { return r.where.file; }),
        whole("line", [](const price_row& r) { return r.where.line; }),
        whole("column", [](const price_row& r) { return r.where.column; }),
    };
    return std::make_shared<const table>(std::move(out));
}

std::shared_ptr<const table> table_of_greeks(const std::vector<greek_row>& rows) {
    const auto numbers = [&](const char* name, auto get) { return column_of<figures>(name, rows, get); };
    const auto words = [&](const char* name, auto get) { return column_of<coded_texts>(name, rows, get); };
    table out;
    out.rows = rows.size();
    out.columns = {
        column_of<texts>("trade", rows, [](const greek_row& r) -> const std::string& { return r.trade; }),
        words("measure", [](const greek_row& r) -> const std::string& { return r.measure; }),
        words("key", [](const greek_row& r) -> const std::string& { return r.key; }),
        words("unit", [](const greek_row& r) -> const std::string& { return r.unit; }),
        numbers("value", [](const greek_row& r) { return r.value; }),
        numbers("standard_error", [](const greek_row& r) { return r.standard_error; }),
        words("method", [](const greek_row& r) -> const std::string& { return r.method; }),
        column_of<counts>("paths", rows, [](const greek_row& r) { return r.paths; }),
        numbers("bias", [](const greek_row& r) { return r.bias; }),
        words("message", [](const greek_row& r) -> const std::string& { return r.message; }),
        words("kind", [](const greek_row& r) { return r.has_failed() ? word_of(r.kind) : ""; }),
    };
    return std::make_shared<const table>(std::move(out));
}

std::shared_ptr<const table> table_of_totals(const std::vector<currency_total>& totals) {
    using row = currency_total;
    const auto numbers = [&](const char* name, auto get) { return column_of<figures>(name, totals, get); };
    const auto whole = [&](const char* name, auto get) { return column_of<counts>(name, totals, get); };
    table out;
    out.rows = totals.size();
    out.columns = {
        column_of<texts>("currency", totals, [](const row& t) -> const std::string& { return t.currency; }),
        whole("trades", [](const row& t) { return t.trades; }),
        whole("without_error", [](const row& t) { return t.without_error; }),
        whole("by_policy", [](const row& t) { return t.by_policy; }),
        numbers("value", [](const row& t) { return t.value; }),
        numbers("value_error", [](const row& t) { return t.error; }),
        numbers("low", [](const row& t) { return t.low; }),
        numbers("high", [](const row& t) { return t.high; }),
        numbers("value_error_at_most", [](const row& t) { return t.error_at_most; }),
    };
    return std::make_shared<const table>(std::move(out));
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
