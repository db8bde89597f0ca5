// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/ore_lines.h"

#include "engine/tell/formats.h"

namespace tilewalk::report {

std::vector<std::string> quoted_trades(const std::vector<price_row>& rows) {
    std::vector<std::string> out;
    out.reserve(rows.size());
    for (const price_row& row : rows) out.push_back(csv_field(row.trade));
    return out;
}

void add_sensitivity_keys(line_writer& to, const ore_sensitivity& of) {
    to.field(of.trade).field("false");
    to.field(csv_field(of.first->name)).field(of.first_size, sensitivity_decimals);
    to.field(of.second == nullptr ? std::string() : csv_field(of.second->name));
    to.field(of.second == nullptr ? 0 : of.second_size, sensitivity_decimals);
}

void begin_sensitivities(line_writer& to) {
    to.text(ore_sensitivity_keys);
    to.text("Currency,Base NPV,Delta,Gamma,Currency(Trade),Base NPV(Trade),Delta(Trade),Gamma(Trade)\n");
}

void add_sensitivity(line_writer& to, const ore_sensitivity& of) {
    add_sensitivity_keys(to, of);
    for (const ore_figures& in : {of.base, of.own}) {
        to.field(in.currency).field(in.value, sensitivity_decimals);
        to.field(in.delta, sensitivity_decimals).field(in.gamma, sensitivity_decimals);
    }
    to.end_line();
}

}  // namespace tilewalk::report
