// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/policy_file.h"

#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/json_members.h"
#include "engine/base/word_table.h"
#include "engine/base/written_json.h"

namespace tilewalk::report {

namespace {

using exercise::decision_date;
using exercise::fitted_side;
using exercise::saved_policy;
using language::party;

constexpr std::array<std::pair<party, std::string_view>, 2> party_words{{
    {party::holder, "holder"},
    {party::issuer, "issuer"},
}};

std::string policy_json(const fitted_side& side) {
    return "{\"low\": " + json_number(side.low) + ", \"high\": " + json_number(side.high) +
           ", \"rank\": " + std::to_string(side.rank) +
           ", \"coefficients\": " + json_list(side.coefficients) + "}";
}

// Writes a date's fits. Cases by uses left or notice are written only if the date has them.
std::string policy_json(const decision_date& f) {
    const auto fit = [](const fitted_side& paid, const fitted_side& unpaid,
                        const std::vector<double>& slopes) {
        return "\"paid\": " + policy_json(paid) + ", \"unpaid\": " + policy_json(unpaid) +
               ", \"slopes\": " + json_list(slopes);
    };
    if (f.levels.empty()) return fit(f.paid, f.unpaid, f.slopes);
    std::string cases;
    for (const exercise::fitted_level& l : f.levels)
        cases += (cases.empty() ? "{" : ", {") + fit(l.paid, l.unpaid, l.slopes) + "}";
    return "\"index\": " + std::to_string(f.index) + ", \"cases\": [" + cases + "]";
}

std::string policy_json(const saved_policy::date& d) {
    const decision_date& f = d.found;
    return "{\"date\": " + json_string(d.label) + ", \"years\": " + json_number(d.years) +
           ", \"block\": " + std::to_string(f.block) +
           ", \"of\": " + json_string(word_of(party_words, f.of)) + ", \"levels\": " + json_list(d.levels) +
           ", \"means\": " + json_list(f.means) + ", \"scales\": " + json_list(f.scales) +
           (f.ahead.empty() ? "" : ", \"ahead\": " + json_list(f.ahead)) + ", " + policy_json(f) + "}";
}

std::string policy_json(const saved_policy& p) {
    std::string dates;
    for (const saved_policy::date& d : p.dates)
        dates += (dates.empty() ? "\n      " : ",\n      ") + policy_json(d);
    std::string by_uses;
    for (const std::vector<double>& slopes : p.first_slopes_by_uses)
        by_uses += (by_uses.empty() ? "" : ", ") + json_list(slopes);
    if (!by_uses.empty()) by_uses = ", \"first_slopes_by_uses\": [" + by_uses + "]";
    const std::string used = !p.is_used_today ? "null" : *p.is_used_today ? "true" : "false";
    return "{\"trade\": " + json_string(p.trade) + ", \"product\": " + json_string(p.product) +
           ", \"script\": " + json_string(p.script) + ", \"as_of\": " + json_string(p.as_of) +
           ", \"features\": " + json_list(p.features) + ", \"functions\": " + std::to_string(p.functions) +
           ", \"normals\": " + std::to_string(p.normals) +
           ", \"training_paths\": " + std::to_string(p.training_paths) + ", \"used_today\": " + used +
           ", \"first_slopes\": " + json_list(p.first_slopes) + by_uses +
           ", \"gain_of_step\": " + (p.gain_of_step ? json_number(*p.gain_of_step) : "null") +
           ", \"error_of_gain\": " + json_number(p.error_of_gain) + ", \"dates\": [" + dates +
           (dates.empty() ? "]}" : "\n    ]}");
}

fitted_side read_side(json_members from) {
    fitted_side out;
    out.low = from.number("low");
    out.high = from.number("high");
    out.rank = from.natural<std::size_t>("rank");
    out.coefficients = from.numbers("coefficients");
    from.finish();
    return out;
}

void read_fit(json_members& from, fitted_side& paid, fitted_side& unpaid, std::vector<double>& slopes) {
    paid = read_side(from.mapping("paid"));
    unpaid = read_side(from.mapping("unpaid"));
    slopes = from.numbers("slopes");
}

saved_policy::date read_date(json_members from, const std::string& name) {
    saved_policy::date out;
    out.label = from.text("date");
    out.years = from.number("years");
    out.found.block = from.natural<std::size_t>("block");
    out.found.of = from.word("of", party_words);
    out.levels = from.numbers("levels");
    out.found.means = from.numbers("means");
    out.found.scales = from.numbers("scales");
    if (from.has("ahead")) out.found.ahead = from.numbers("ahead");
    if (!from.has("cases")) {
        read_fit(from, out.found.paid, out.found.unpaid, out.found.slopes);
        from.finish();
        return out;
    }
    out.found.index = from.natural<int>("index");
    const auto& cases = from.list("cases");
    for (std::size_t k = 0; k < cases.size(); ++k) {
        json_members one(cases[k], from.path("cases") + "[" + std::to_string(k) + "]", name);
        exercise::fitted_level& l = out.found.levels.emplace_back();
        read_fit(one, l.paid, l.unpaid, l.slopes);
        one.finish();
    }
    from.finish();
    return out;
}

saved_policy read_policy(json_members from, const std::string& name) {
    saved_policy out;
    out.trade = from.text("trade");
    out.product = from.text("product");
    out.script = from.text("script");
    out.as_of = from.text("as_of");
    out.features = from.texts("features");
    out.functions = from.natural<std::size_t>("functions");
    out.normals = from.natural<std::size_t>("normals");
    out.training_paths = from.natural<std::uint64_t>("training_paths");
    if (const auto& used = from.member("used_today"); !used.is_null())
        out.is_used_today = from.boolean("used_today");
    out.first_slopes = from.numbers("first_slopes");
    if (from.has("first_slopes_by_uses")) {
        const auto& by_uses = from.list("first_slopes_by_uses");
        for (std::size_t k = 0; k < by_uses.size(); ++k)
            out.first_slopes_by_uses.push_back(from.numbers_of(
                by_uses[k], from.path("first_slopes_by_uses") + "[" + std::to_string(k) + "]"));
    }
    out.gain_of_step = from.number_or_null("gain_of_step");
    out.error_of_gain = from.at_least_zero("error_of_gain");
    const auto& dates = from.list("dates");
    for (std::size_t k = 0; k < dates.size(); ++k)
        out.dates.push_back(
            read_date({dates[k], from.path("dates") + "[" + std::to_string(k) + "]", name}, name));
    from.finish();
    return out;
}

}  // namespace

std::string policies_json(std::span<const saved_policy> all) {
    std::string out;
    for (const saved_policy& p : all) out += (out.empty() ? "\n    " : ",\n    ") + policy_json(p);
    return "{\n  \"format\": " + json_string(policy_format_name) + ",\n  \"trades\": [" + out +
           (out.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

std::vector<saved_policy> read_policies(const std::string& text, const std::string& name) {
    const nlohmann::json document = parsed_json(text, name, "`tilewalk price --save-policy` writes it");
    json_members root(document, "", name);
    const std::string format = root.text("format");
    if (format != policy_format_name)
        throw error(error_kind::input,
                    "found the format '" + format + "', expected '" + std::string(policy_format_name) + "'",
                    {name}, "format");
    std::vector<saved_policy> out;
    std::set<std::string> met;
    const auto& trades = root.list("trades");
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const std::string path = "trades[" + std::to_string(i) + "]";
        out.push_back(read_policy({trades[i], path, name}, name));
        if (!met.insert(out.back().trade).second)
            throw error(
                error_kind::input,
                "found the trade " + config::shown(out.back().trade) + " a second time, expected each once",
                {name}, path);
    }
    root.finish();
    return out;
}

std::vector<saved_policy> load_policies(const std::string& file) {
    return read_policies(text_of_file(file, "policies"), file);
}

}  // namespace tilewalk::report
