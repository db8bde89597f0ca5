// SPDX-License-Identifier: Apache-2.0
// Reports of verification, for people and for programs.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "engine/tell/manifest_text.h"
#include "engine/verify/judgement.h"
#include "engine/verify/truth.h"
#include "tilewalk/printable.h"

namespace tilewalk::verify {

namespace {

using report::align;
using report::columns;
using report::fixed;
using report::json_number;
using report::json_string;

std::string word(bool holds) {
    return holds ? "holds" : "OUT";
}

std::string value_text(double x) {
    if (std::abs(x) < 0.0005) x = 0;  // avoids -0.000
    return std::abs(x) < 1000 ? fixed(x, 3) : report::significant(x, 3);
}

std::string bounds_text(const statistic& s) {
    return s.centre == s.low ? "at most " + fixed(s.high, 3) : fixed(s.low, 3) + " .. " + fixed(s.high, 3);
}

std::string once_in(double chance) {
    return "1 in " + std::to_string(std::llround(1 / chance));
}

std::string product_of(const row_judgement& r) {
    return std::string(truths()[r.truth].product);
}

std::string known_by(const row_judgement& r) {
    return std::string(truths()[r.truth].by);
}

std::string left_out_text(const std::vector<std::string>& titles, const text_form& form) {
    std::string names;
    for (const std::string& title : titles) names += (names.empty() ? "" : ", ") + title;
    if (names.empty()) return {};
    return report::hanging("left out in " + std::to_string(form.columns) + " columns: " + names, form.columns,
                           2);
}

std::string verdict_of(const row_judgement& r) {
    std::string out;
    for (const statistic& s : r.of) {
        if (!s.holds()) out += (out.empty() ? "OUT: " : ", ") + s.name;
    }
    return out.empty() ? "holds" : out;
}

bool is_of_bounds(const row_judgement& r) {
    return truths()[r.truth].is == truth_entry::verified_by::bounds;
}

std::string rows_of_bounds_text(const judgement& j, const text_form& form) {
    columns rows({{"product"},
                  {"known by"},
                  {"trades", align::right},
                  {"largest z", align::point},
                  {"lower bounds", align::point},
                  {"upper bounds", align::point},
                  {"given away", align::point},
                  {"left open", align::point},
                  {"verdict"}});
    bool any = false;
    for (const row_judgement& r : j.rows) {
        if (!is_of_bounds(r)) continue;
        any = true;
        std::vector<std::string> cells{product_of(r), known_by(r), std::to_string(r.trades),
                                       value_text(r.largest_z)};
        for (std::size_t i = 0; i < 4; ++i)
            cells.push_back(i < 2 ? value_text(r.of[i].value) : fixed(100 * r.of[i].value, 3) + " %");
        cells.push_back(verdict_of(r));
        rows.add(std::move(cells));
    }
    if (!any) return {};
    const auto left_out = rows.fit(form.columns, {{"known by", 24},
                                                  {"upper bounds"},
                                                  {"lower bounds"},
                                                  {"product", 16},
                                                  {"known by"},
                                                  {"verdict", 20},
                                                  {"product", 8}});
    return rows.text() + left_out_text(left_out, form);
}

std::string rows_text(const judgement& j, const text_form& form) {
    columns rows({{"product"},
                  {"known by"},
                  {"trades", align::right},
                  {"largest |z|", align::point},
                  {"mean z", align::point},
                  {"leaning z", align::point},
                  {"mean z squared", align::point},
                  {"verdict"}});
    bool any = false;
    for (const row_judgement& r : j.rows) {
        if (is_of_bounds(r)) continue;
        any = true;
        rows.add({product_of(r), known_by(r), std::to_string(r.trades), value_text(r.largest_z),
                  value_text(r.of[0].value), value_text(r.of[1].value), value_text(r.of[2].value),
                  verdict_of(r)});
    }
    if (!any) return {};
    const auto left_out = rows.fit(form.columns, {{"known by", 24},
                                                  {"mean z squared"},
                                                  {"leaning z"},
                                                  {"mean z"},
                                                  {"product", 16},
                                                  {"known by"},
                                                  {"verdict", 20},
                                                  {"product", 8}});
    return rows.text() + left_out_text(left_out, form);
}

std::string rows_of_sensitivities_text(const judgement& j, const text_form& form) {
    columns rows({{"product"},
                  {"known by"},
                  {"trades", align::right},
                  {"sensitivities", align::right},
                  {"largest |z|", align::point},
                  {"to"},
                  {"mean z", align::point},
                  {"leaning z", align::point},
                  {"mean z squared", align::point},
                  {"verdict"}});
    for (const row_judgement& r : j.rows) {
        const auto mean = [&](std::size_t i) {
            return i < r.of.size() ? value_text(r.of[i].value) : std::string();
        };
        rows.add({product_of(r), known_by(r), std::to_string(r.trades), std::to_string(r.sensitivities),
                  value_text(r.largest_z), r.key_of_largest, mean(0), mean(1), mean(2), verdict_of(r)});
    }
    const auto left_out = rows.fit(form.columns, {{"to", 16},
                                                  {"known by", 24},
                                                  {"mean z squared"},
                                                  {"leaning z"},
                                                  {"mean z"},
                                                  {"sensitivities"},
                                                  {"product", 16},
                                                  {"known by"},
                                                  {"to"},
                                                  {"verdict", 20},
                                                  {"product", 8}});
    return rows.text() + left_out_text(left_out, form);
}

std::string prices_text(const judgement& j, const text_form& form) {
    const std::string prices = rows_text(j, form), bounds = rows_of_bounds_text(j, form);
    return prices + (prices.empty() || bounds.empty() ? "" : "\n") + bounds;
}

std::string verdict_text(const outcome& o, const judgement& j, const text_form& form) {
    columns statistics(
        {{"all trades"}, {"value", align::point}, {"bounds"}, {"false alarms", align::right}, {"verdict"}});
    for (const statistic& s : j.of)
        statistics.add(
            {s.name, value_text(s.value), bounds_text(s), once_in(s.false_alarm), word(s.holds())});
    const auto left_out = statistics.fit(form.columns, {{"false alarms"}});
    return statistics.text() + left_out_text(left_out, form) + "\n" +
           (o.of_sensitivities ? rows_of_sensitivities_text(j, form) : prices_text(j, form)) +
           "false alarms of all rows together: " + once_in(alarm_of_rows) + "\n";
}

// Upper bound of the probability of any false alarm: the sum of the probabilities of all.
double alarm_of_any(const judgement& j) {
    double sum = alarm_of_rows;
    for (const statistic& s : j.of) sum += s.false_alarm;
    return sum;
}

std::map<std::string, std::size_t> places(const outcome& o) {
    std::map<std::string, std::size_t> out;
    for (const priced_trade& p : o.prices) ++out[p.walked_on];
    return out;
}

std::string places_text(const outcome& o) {
    const auto all = places(o);
    std::string out;
    for (const auto& [name, trades] : all) {
        out += (out.empty() ? "" : "; ") + printable(name);
        if (all.size() > 1) out += " (" + report::counted(trades, "trade") + ")";
    }
    return out;
}

std::string indented(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out += "  " + text.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return out;
}

std::string figures_of(const observation& w) {
    if (!w.failure.empty()) return "not priced: " + printable(w.failure);
    const auto figure = [&](double x) { return report::justified(x, w.standard_error); };
    std::string out =
        (w.key.empty() ? "price " : "to " + w.key + " ") + figure(w.value) + ", " +
        (is_figure(w.standard_error) ? "standard error " + figure(w.standard_error) : "no standard error") +
        ", truth " + figure(w.truth);
    if (w.bias > 0) out += ", bias " + figure(w.bias);
    return w.method.empty() ? out : out + ", " + w.method;
}

std::string worst_text(const outcome& o, const judgement& j, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < std::min(most, j.worst.size()); ++i) {
        const observation& w = j.worst[i];
        const std::string what = w.key.empty() ? "trade" : "sensitivity";
        out += i == 0 ? "\nthe worst " + what + ", a book to price again: z "
                      : "\nnumber " + std::to_string(i + 1) + ": z ";
        out += value_text(w.z) + ", " + figures_of(w) + "\n" + indented(o.trades[w.trade].text);
    }
    return out;
}

std::string found_by(const judgement& j) {
    const auto [what, row] = j.strongest();
    return row == nullptr ? what->name : what->name + ", " + product_of(*row);
}

// Names the mistakes that this run can't make, and the setting of --random with which they can be made.
std::string left_out_mistakes_text(const outcome& o) {
    std::string names;
    for (const std::string& name : o.mistakes_left_out) names += (names.empty() ? "" : ", ") + name;
    if (names.empty()) return {};
    return std::string("; with") + (o.random == "philox" ? "" : "out") + " --random sobol also " + names;
}

std::string mistakes_text(const outcome& o, const text_form& form) {
    columns table({{"mistake"},
                   {"what is wrong"},
                   {"noticed by"},
                   {"value", align::point},
                   {"bounds"},
                   {"times the bound", align::point},
                   {"verdict"}});
    std::size_t caught = 0;
    for (const auto& m : o.mistakes) {
        const statistic& s = *m.of.strongest().what;
        caught += m.is_caught();
        table.add({m.name, m.what, found_by(m.of), value_text(s.value), bounds_text(s),
                   report::significant(s.reach(), 3), m.is_caught() ? "caught" : "NOT CAUGHT"});
    }
    const auto left_out = table.fit(form.columns, {{"what is wrong", 40},
                                                   {"noticed by", 24},
                                                   {"bounds"},
                                                   {"value"},
                                                   {"what is wrong", 20},
                                                   {"noticed by"},
                                                   {"mistake", 12},
                                                   {"what is wrong"}});
    return "\n" + table.text() + left_out_text(left_out, form) + "\n" + std::to_string(caught) + " of " +
           report::counted(o.mistakes.size(), "mistake") + " caught" + left_out_mistakes_text(o) + "\n";
}

struct told_statistic {
    std::string_view mistake;  // empty: the engine without a planted mistake
    const row_judgement* row;  // null if it is over all trades
    std::size_t trades;
    const statistic* of;
};

std::vector<told_statistic> told_statistics(const outcome& o) {
    std::vector<told_statistic> out;
    const auto add = [&](std::string_view mistake, const judgement& j) {
        for (const statistic& s : j.of) out.push_back({mistake, nullptr, j.trades, &s});
        for (const row_judgement& r : j.rows)
            for (const statistic& s : r.of) out.push_back({mistake, &r, r.trades, &s});
    };
    add("", o.of_engine);
    for (const auto& m : o.mistakes) add(m.name, m.of);
    return out;
}

struct statistic_field {
    column is;
    cell (*value)(const told_statistic& t);
};

const statistic_field statistic_fields[] = {
    {{"mistake"}, [](const told_statistic& t) -> cell { return t.mistake; }},
    {{"product"},
     [](const told_statistic& t) -> cell { return t.row == nullptr ? std::string() : product_of(*t.row); }},
    {{"known_by"},
     [](const told_statistic& t) -> cell { return t.row == nullptr ? std::string() : known_by(*t.row); }},
    {{"trades", column_kind::count},
     [](const told_statistic& t) -> cell { return static_cast<std::int64_t>(t.trades); }},
    {{"statistic"}, [](const told_statistic& t) -> cell { return std::string_view(t.of->name); }},
    {{"value", column_kind::number}, [](const told_statistic& t) -> cell { return t.of->value; }},
    {{"low", column_kind::number}, [](const told_statistic& t) -> cell { return t.of->low; }},
    {{"high", column_kind::number}, [](const told_statistic& t) -> cell { return t.of->high; }},
    {{"false_alarm", column_kind::number}, [](const told_statistic& t) -> cell { return t.of->false_alarm; }},
    {{"verdict"},
     [](const told_statistic& t) -> cell { return std::string_view(t.of->holds() ? "holds" : "out"); }},
};

column_table columns_by(const outcome& o) {
    column_table out;
    for (const statistic_field& field : statistic_fields) out.columns.push_back(field.is);
    const auto told = std::make_shared<const std::vector<told_statistic>>(told_statistics(o));
    out.rows = told->size();
    out.at = [told](std::size_t row, std::size_t column) {
        return statistic_fields[column].value((*told)[row]);
    };
    return out;
}

template <class List, class F>
std::string json_list(const List& of, const std::string& indent, const F& text) {
    std::string out;
    for (const auto& one : of) out += (out.empty() ? "\n" : ",\n") + indent + "  " + text(one);
    return "[" + out + (out.empty() ? "]" : "\n" + indent + "]");
}

std::string truth_name(bool yes) {
    return yes ? "true" : "false";
}

std::string statistics_json(const std::vector<statistic>& all, const std::string& indent) {
    return json_list(all, indent, [](const statistic& s) {
        return "{\"name\": " + json_string(s.name) + ", \"value\": " + json_number(s.value) +
               ", \"low\": " + json_number(s.low) + ", \"high\": " + json_number(s.high) +
               ", \"false_alarm\": " + json_number(s.false_alarm) + ", \"holds\": " + truth_name(s.holds()) +
               "}";
    });
}

std::string places_json(const outcome& o) {
    std::string out;
    for (const auto& [name, trades] : places(o))
        out += (out.empty() ? "" : ", ") + json_string(name) + ": " + std::to_string(trades);
    return "{" + out + "}";
}

std::string row_json(const outcome& o, const row_judgement& r, const std::string& indent) {
    std::string out = "{\"product\": " + json_string(product_of(r)) +
                      ", \"known_by\": " + json_string(known_by(r)) +
                      ", \"trades\": " + std::to_string(r.trades);
    if (o.of_sensitivities) out += ", \"sensitivities\": " + std::to_string(r.sensitivities);
    out += ", \"largest_z\": " + json_number(r.largest_z);
    if (o.of_sensitivities) out += ", \"key_of_largest\": " + json_string(r.key_of_largest);
    return out + ", \"holds\": " + truth_name(r.holds()) +
           ", \"statistics\": " + statistics_json(r.of, indent) + "}";
}

std::string observation_json(const outcome& o, const observation& w) {
    std::string out = "{\"z\": " + json_number(w.z);
    if (o.of_sensitivities) out += ", \"key\": " + json_string(w.key);
    out += std::string(o.of_sensitivities ? ", \"value\": " : ", \"price\": ") + json_number(w.value) +
           ", \"standard_error\": " + json_number(w.standard_error) + ", \"truth\": " + json_number(w.truth);
    if (o.of_sensitivities)
        out += ", \"bias\": " + json_number(w.bias) + ", \"method\": " + json_string(w.method);
    return out + ", \"failure\": " + (w.failure.empty() ? "null" : json_string(w.failure)) +
           ", \"book\": " + json_string(o.trades[w.trade].text) + "}";
}

std::string judgement_json(const outcome& o, const judgement& j, const std::string& indent) {
    const std::string in = indent + "  ";
    std::string out = "{\n" + in + "\"holds\": " + truth_name(j.holds()) + ",\n";
    out += in + "\"failed\": " + std::to_string(j.failed) + ",\n";
    if (o.of_sensitivities)
        out += in + "\"sensitivities\": " + std::to_string(j.z.size()) +
               ", \"biased\": " + std::to_string(j.biased) + ", \"exact\": " + std::to_string(j.exact) +
               ",\n";
    out += in + "\"statistics\": " + statistics_json(j.of, in) + ",\n";
    out += in + "\"rows\": " +
           json_list(j.rows, in, [&](const row_judgement& r) { return row_json(o, r, in + "  "); }) + ",\n";
    out += in + "\"worst\": " + json_list(j.worst, in, [&](const observation& w) {
               return observation_json(o, w);
           });
    return out + "\n" + indent + "}";
}

std::string interrupted_text(const outcome& o) {
    std::string out = "INTERRUPTED after " + std::to_string(o.trades.size()) + " of " +
                      report::counted(o.trades_wanted, "trade");
    if (o.mistakes_wanted > 0) {
        out += " and " + std::to_string(o.mistakes.size()) + " of " +
               report::counted(o.mistakes_wanted, "mistake");
    }
    return out + "; what follows is of these alone\n";
}

}  // namespace

std::string table(const outcome& o, const text_form& form) {
    std::string out = report::counted(o.trades.size(), "random trade") + " with " +
                      (o.of_sensitivities ? "known sensitivities, " : "a known price, ") +
                      std::to_string(o.paths) + " paths each, seed " + std::to_string(o.seed) + ", " +
                      o.precision + " precision, " + (o.random == "philox" ? "" : o.random + ", ") +
                      places_text(o) + "\n\n" + verdict_text(o, o.of_engine, form);
    if (!o.is_complete()) out = interrupted_text(o) + "\n" + out;
    const judgement& j = o.of_engine;
    if (o.of_sensitivities)
        out += report::counted(j.z.size(), "sensitivity", "sensitivities") + ", " + std::to_string(j.biased) +
               " of them with a bias, " + std::to_string(j.exact) + " without an error\n";
    if (j.failed > 0)
        out += (o.of_sensitivities ? report::counted(j.failed, "sensitivity", "sensitivities")
                                   : report::counted(j.failed, "trade")) +
               " could not be priced\n";
    out += worst_text(o, o.of_engine, o.of_engine.holds() ? 1 : 3);
    if (!o.mistakes.empty()) out += mistakes_text(o, form);
    if (o.mistakes.size() == 1) {
        const auto& m = o.mistakes.front();
        out +=
            "\nwith the mistake " + m.name + ":\n\n" + verdict_text(o, m.of, form) + worst_text(o, m.of, 1);
    }
    out += o.mistakes.empty() ? "\n" : "\nwithout a mistake ";
    out += o.of_engine.holds() ? "every bound holds" : "NOT EVERY BOUND HOLDS";
    out += "; a sound engine misses one of them for " + once_in(alarm_of_any(o.of_engine)) + " seeds\n";
    return out + report::duration(o.seconds) + " on " +
           report::counted(static_cast<std::uint64_t>(o.threads), "thread") + " (" +
           report::rate(static_cast<double>(o.path_steps) / o.seconds) + " path-steps/s)\n";
}

column_table columns_of(std::shared_ptr<const outcome> o) {
    column_table out = columns_by(*o);
    out.at = [o = std::move(o), at = std::move(out.at)](std::size_t row, std::size_t column) {
        return at(row, column);
    };
    return out;
}

std::string csv(const outcome& o) {
    std::ostringstream lines;
    report::csv(lines, columns_by(o), {});
    std::string out = std::move(lines).str();
    // This row has no bounds, so that no reader takes it for a statistic that holds.
    if (!o.is_complete())
        out += ",,," + std::to_string(o.trades.size()) + ",trades wanted," + std::to_string(o.trades_wanted) +
               ",,,,interrupted\n";
    return out;
}

std::string json(const outcome& o) {
    std::string out = "{\n  \"format\": \"tilewalk-verification-1\",\n";
    out += "  \"holds\": " + truth_name(o.holds()) + ",\n";
    out += "  \"complete\": " + truth_name(o.is_complete()) +
           ", \"trades_wanted\": " + std::to_string(o.trades_wanted) + ",\n";
    out += "  \"trades\": " + std::to_string(o.trades.size()) + ", \"paths\": " + std::to_string(o.paths) +
           ", \"seed\": " + std::to_string(o.seed) + ",\n  \"precision\": " + json_string(o.precision) +
           ", \"random\": " + json_string(o.random) + ", \"device\": " + json_string(o.device) +
           ", \"walked_on\": " + places_json(o) + ",\n  \"threads\": " + std::to_string(o.threads) +
           ", \"seconds\": " + json_number(o.seconds) + ",\n";
    out += "  \"engine\": " + judgement_json(o, o.of_engine, "  ") + ",\n";
    out += "  \"mistakes\": " + json_list(o.mistakes, "  ", [&](const outcome::planted& m) {
               return "{\"name\": " + json_string(m.name) + ", \"what\": " + json_string(m.what) +
                      ", \"caught\": " + truth_name(m.is_caught()) +
                      ", \"noticed_by\": " + json_string(found_by(m.of)) +
                      ", \"times_the_bound\": " + json_number(m.of.strongest().what->reach()) +
                      ", \"engine\": " + judgement_json(o, m.of, "    ") + "}";
           });
    return out + "\n}\n";
}

}  // namespace tilewalk::verify
