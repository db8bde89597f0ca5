// SPDX-License-Identifier: Apache-2.0
// Reports of a calibration, for people and for programs.
#include <cmath>
#include <ostream>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "tilewalk/calibration.h"
#include "tilewalk/printable.h"

namespace tilewalk {

namespace {

using report::csv_field;
using report::json_number;
using report::json_string;
using report::shortest;

const char* word(fitted_parameter::state is) {
    switch (is) {
        case fitted_parameter::state::fitted:
            return "fitted";
        case fitted_parameter::state::fixed:
            return "fixed";
        case fitted_parameter::state::at_bound:
            return "at_bound";
    }
    return "";
}

// A fitted price or volatility, with about two digits more than market quotes have.
std::string quoted_number(const model_fit& fit, double x) {
    if (fit.unit == "price") return report::significant(x, 7);
    return report::fixed(x, fit.unit == "normal volatility" ? 8 : 6);
}

std::string verdict(const model_fit& fit) {
    std::string out = fit.has_converged ? "converged" : "NOT CONVERGED";
    std::string bounds;
    for (const fitted_parameter& p : fit.parameters) {
        if (p.is == fitted_parameter::state::at_bound) bounds += (bounds.empty() ? "" : ", ") + p.name;
    }
    if (!bounds.empty()) out = "STOPPED AT A BOUND (" + bounds + ")";
    if (fit.has_arbitrage) out += ", WITH ARBITRAGE";
    return out;
}

std::string text_of(const model_fit& fit, const text_form& form) {
    const std::size_t page_width = report::page_width(form);
    const std::string title = printable(fit.of) + ": " + fit.model +
                              (fit.part.empty() ? "" : " at " + printable(fit.part)) + ", " +
                              report::counted(fit.quotes.size(), "quote") + " by " + fit.unit;
    std::string out = title + "\n" + std::string(report::width(title), '=') + "\n";
    report::columns parameters({{"parameter"}, {"value", report::align::point}, {""}});
    for (const fitted_parameter& p : fit.parameters) {
        parameters.add({p.name, report::significant(p.value, 6),
                        p.is == fitted_parameter::state::fitted  ? ""
                        : p.is == fitted_parameter::state::fixed ? "fixed"
                                                                 : "at its bound"});
    }
    out += parameters.text() + "\n";
    bool weighs = false;
    for (const fitted_quote& q : fit.quotes) weighs |= q.weight != 1;
    std::vector<report::columns::head> heads{{"quote"}};
    if (weighs) heads.push_back({"weight", report::align::point});
    heads.insert(heads.end(), {{"market", report::align::point},
                               {"model", report::align::point},
                               {"difference", report::align::point}});
    report::columns quotes(heads);
    for (const fitted_quote& q : fit.quotes) {
        std::vector<std::string> cells{printable(q.name)};
        if (weighs) cells.push_back(shortest(q.weight));
        const std::string difference =
            fit.unit == "price" ? report::significant(q.difference(), 3) : quoted_number(fit, q.difference());
        cells.insert(cells.end(),
                     {quoted_number(fit, q.market), quoted_number(fit, q.model),
                      difference.find_first_not_of("-0.") == std::string::npos && difference.front() == '-'
                          ? difference.substr(1)
                          : difference});
        quotes.add(std::move(cells));
    }
    quotes.fit(form.columns, {{"quote", 20}, {"difference"}, {"weight"}});
    out += quotes.text() + "\n";
    out += report::wrapped(
        verdict(fit) + " after " + report::counted(fit.iterations, "iteration") + " from " +
            report::counted(fit.starts, "starting point") + "; differences: root mean square " +
            report::significant(fit.root_mean_square, 3) + ", largest " + report::significant(fit.largest, 3),
        page_width, 0);
    for (const std::string& remark : fit.remarks) out += report::wrapped(printable(remark), page_width, 2);
    return out;
}

std::string table_of(const calibration& c, const text_form& form) {
    std::string out;
    for (const model_fit& fit : c.fits) out += (out.empty() ? "" : "\n") + text_of(fit, form);
    return out;
}

std::string csv_of(const calibration& c, const text_form& form) {
    std::string out = "of,model,part,row,name,weight,market,fitted,difference,state\n";
    for (const model_fit& fit : c.fits) {
        const std::string front =
            csv_field(fit.of, form) + ',' + fit.model + ',' + csv_field(fit.part, form) + ',';
        for (const fitted_parameter& p : fit.parameters) {
            out += front + "parameter," + p.name + ",,," + shortest(p.value) + ",," + word(p.is) + '\n';
        }
        for (const fitted_quote& q : fit.quotes) {
            out += front + "quote," + csv_field(q.name, form) + ',' + shortest(q.weight) + ',' +
                   shortest(q.market) + ',' + shortest(q.model) + ',' + shortest(q.difference()) + ',' +
                   csv_field(fit.unit, form) + '\n';
        }
        out += front + "fit,root mean square,,,," + shortest(fit.root_mean_square) + ',' +
               (fit.is_sound() ? "sound" : csv_field(verdict(fit), form)) + '\n';
    }
    return out;
}

std::string json_of(const model_fit& fit) {
    const auto flag = [](bool is) { return std::string(is ? "true" : "false"); };
    std::string out =
        "    {\"of\": " + json_string(fit.of) + ", \"model\": " + json_string(fit.model) +
        ", \"part\": " + json_string(fit.part) + ", \"unit\": " + json_string(fit.unit) +
        ",\n     \"sound\": " + flag(fit.is_sound()) + ", \"converged\": " + flag(fit.has_converged) +
        ", \"at_bound\": " + flag(fit.is_at_bound()) + ", \"arbitrage\": " + flag(fit.has_arbitrage) +
        ", \"starts\": " + std::to_string(fit.starts) +
        ", \"iterations\": " + std::to_string(fit.iterations) +
        ", \"evaluations\": " + std::to_string(fit.evaluations) +
        ",\n     \"root_mean_square\": " + json_number(fit.root_mean_square) +
        ", \"largest\": " + json_number(fit.largest) + ",\n     \"parameters\": [";
    std::string list;
    for (const fitted_parameter& p : fit.parameters) {
        list += (list.empty() ? "" : ", ") + std::string("{\"name\": ") + json_string(p.name) +
                ", \"value\": " + json_number(p.value) + ", \"state\": " + json_string(word(p.is)) + "}";
    }
    out += list + "],\n     \"quotes\": [";
    list.clear();
    for (const fitted_quote& q : fit.quotes) {
        list += (list.empty() ? "\n" : ",\n") + std::string("       {\"name\": ") + json_string(q.name) +
                ", \"weight\": " + json_number(q.weight) + ", \"market\": " + json_number(q.market) +
                ", \"model\": " + json_number(q.model) + ", \"line\": " + std::to_string(q.where.line) + "}";
    }
    out += list + "],\n     \"remarks\": [";
    list.clear();
    for (const std::string& remark : fit.remarks) list += (list.empty() ? "" : ", ") + json_string(remark);
    return out + list + "]}";
}

std::string json_of(const calibration& c) {
    std::string fits;
    for (const model_fit& fit : c.fits) fits += (fits.empty() ? "\n" : ",\n") + json_of(fit);
    return "{\n  \"format\": \"tilewalk-calibration-1\",\n  \"as_of\": " + json_string(c.as_of) +
           ",\n  \"fits\": [" + fits + "\n  ]\n}\n";
}

}  // namespace

void write(std::ostream& out, const calibration& c, output_format format, const text_form& form) {
    switch (format) {
        case output_format::table:
            out << table_of(c, form);
            return;
        case output_format::csv:
            out << csv_of(c, form);
            return;
        case output_format::json:
            out << json_of(c);
            return;
    }
}

}  // namespace tilewalk
