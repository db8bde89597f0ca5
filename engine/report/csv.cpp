// SPDX-License-Identifier: Apache-2.0
// Results as comma-separated values: one header line, one line a trade, every number with all its bits.
#include "engine/report/formats.h"
#include "engine/report/numbers.h"

namespace tilewalk::report {

std::string csv_field(std::string_view text) {
    std::string field(text);
    // Spreadsheets run what begins like this; a leading apostrophe makes it text.
    if (!field.empty() && std::string_view("=+-@\t\r").find(field.front()) != std::string_view::npos)
        field.insert(0, 1, '\'');
    const bool padded = !field.empty() && (field.front() == ' ' || field.back() == ' ');
    if (field.find_first_of(",\"\r\n") == std::string::npos && !padded) return field;
    std::string quoted = "\"";
    for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

std::string csv(const results& r) {
    std::string out =
        "trade,product,currency,status,quantity,price,standard_error,low,high,value,paths,effective_hits,"
        "thin,shadow_difference,message,file,line,column\n";
    for (const auto& row : r.rows) {
        const bool priced = row.status == trade_status::priced;
        const auto figure = [&](double x) { return priced ? shortest(x) : std::string(); };
        const auto position = [](int n) { return n > 0 ? std::to_string(n) : std::string(); };
        out += csv_field(row.trade) + ',' + csv_field(row.product) + ',' + csv_field(row.currency) + ',' +
               (priced ? "priced" : "failed") + ',' + shortest(row.quantity) + ',' + figure(row.price) + ',' +
               figure(row.standard_error) + ',' + figure(row.low) + ',' + figure(row.high) + ',' +
               figure(row.value()) + ',' + (priced ? std::to_string(row.paths) : "") + ',' +
               figure(row.effective_hits) + ',' + (priced ? (row.thin ? "true" : "false") : "") + ',' +
               (row.shadow_difference ? shortest(*row.shadow_difference) : "") + ',' +
               csv_field(row.message) + ',' + csv_field(row.where.file) + ',' + position(row.where.line) +
               ',' + position(row.where.column) + '\n';
    }
    return out;
}

}  // namespace tilewalk::report
