// SPDX-License-Identifier: Apache-2.0
// The numbers of a market with their keys, for people and for programs.
#include <ostream>
#include <string>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "tilewalk/printable.h"

namespace tilewalk {

namespace {

std::string table(const std::vector<market_number>& numbers, const text_form& form) {
    report::columns out({{"key"}, {"value", report::align::point}, {"unit of a shift"}});
    for (const market_number& n : numbers)
        out.add({printable(n.key), report::shortest(n.value), printable(n.unit)});
    return out.text(form.columns);
}

std::string csv(const std::vector<market_number>& numbers, const text_form& form) {
    std::string out = "key,value,unit\n";
    for (const market_number& n : numbers) {
        out += report::csv_field(n.key, form) + ',' + report::csv_number(n.value) + ',' +
               report::csv_field(n.unit, form) + '\n';
    }
    return out;
}

std::string json(const std::vector<market_number>& numbers) {
    std::string out;
    for (const market_number& n : numbers) {
        out += (out.empty() ? "\n" : ",\n") + std::string("  {\"key\": ") + report::json_string(n.key) +
               ", \"value\": " + report::json_number(n.value) + ", \"unit\": " + report::json_string(n.unit) +
               "}";
    }
    return "[" + out + (out.empty() ? "]\n" : "\n]\n");
}

}  // namespace

void write(std::ostream& out, const std::vector<market_number>& numbers, output_format format,
           const text_form& form) {
    switch (format) {
        case output_format::table:
            out << table(numbers, form);
            return;
        case output_format::csv:
            out << csv(numbers, form);
            return;
        case output_format::json:
            out << json(numbers);
            return;
    }
}

}  // namespace tilewalk
