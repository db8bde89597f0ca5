// SPDX-License-Identifier: Apache-2.0
// Gains in scenarios as JSON, with everything known. Each scenario, portfolio and tail has a line of its own,
// so that files can be compared line by line.
#include <span>

#include "engine/base/words.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "engine/tell/line_writer.h"
#include "engine/tell/scenario_forms.h"

namespace tilewalk::report {

namespace {

constexpr std::string_view format_name = "tilewalk-scenarios-1";

class json_line {
  public:
    explicit json_line(line_writer& to) : to_(to) {}
    json_line& key(std::string_view name) {
        to_.text(is_first_ ? "\"" : ", \"").text(name).text("\": ");
        is_first_ = false;
        return *this;
    }
    json_line& text(std::string_view name, std::string_view value) {
        key(name);
        to_.text(json_string(value));
        return *this;
    }
    json_line& number(std::string_view name, double value) {
        key(name);
        to_.json(value);
        return *this;
    }
    json_line& count(std::string_view name, std::uint64_t value) {
        return written(name, std::to_string(value));
    }
    json_line& boolean(std::string_view name, bool value) { return written(name, value ? "true" : "false"); }
    json_line& numbers(std::string_view name, std::span<const double> values) {
        key(name);
        to_.text("[");
        for (std::size_t i = 0; i < values.size(); ++i) to_.text(i == 0 ? "" : ", ").json(values[i]);
        to_.text("]");
        return *this;
    }
    json_line& counts(std::string_view name, const std::vector<std::size_t>& values) {
        key(name);
        to_.text("[");
        for (std::size_t i = 0; i < values.size(); ++i)
            to_.text(i == 0 ? "" : ", ").text(std::to_string(values[i]));
        to_.text("]");
        return *this;
    }
    json_line& written(std::string_view name, std::string_view json) {
        key(name);
        to_.text(json);
        return *this;
    }

  private:
    line_writer& to_;
    bool is_first_ = true;
};

template <class Items, class F>
void add_list(line_writer& to, std::string_view name, const Items& items, const F& fill) {
    to.text(",\n  \"").text(name).text("\": [");
    bool is_first = true;
    for (const auto& item : items) {
        to.text(is_first ? "\n    {" : ",\n    {");
        is_first = false;
        json_line line(to);
        fill(line, item);
        to.text("}");
    }
    to.text(is_first ? "]" : "\n  ]");
}

std::string changes_of(const scenario& s) {
    std::string out;
    for (const market_change& change : s.changes) {
        out += (out.empty() ? "{\"key\": " : ", {\"key\": ") + json_string(change.key) +
               (change.is == market_change::way::set ? ", \"set\": " : ", \"shift\": ") +
               json_number(change.amount) + "}";
    }
    return "[" + out + "]";
}

std::string json_of(const tail_figure& figure) {
    return "{\"value\": " + json_number(figure.value) + ", \"noise\": " + json_number(figure.noise) +
           ", \"sampling\": " + json_number(figure.sampling) + "}";
}

std::string ids_of(const scenario_results& r, const std::vector<std::size_t>& trades) {
    std::vector<std::string> ids;
    for (const std::size_t t : trades) ids.push_back(r.base.rows[t].trade);
    return json_list(ids);
}

std::string tails_of(const scenario_results& r, const portfolio_risk& risk) {
    std::string out;
    for (const tail& t : risk.tails) {
        out += (out.empty() ? "{\"level\": " : ", {\"level\": ") + json_number(t.level) +
               ", \"quantile\": " + json_of(t.quantile) + ", \"shortfall\": " + json_of(t.shortfall) +
               ", \"scenario\": " +
               (is_figure(t.quantile.value) ? json_string(r.scenarios[t.at].name) : "null") + "}";
    }
    return "[" + out + "]";
}

}  // namespace

void scenario_json(std::ostream& out, const scenario_results& r, const text_form& form) {
    line_writer to(out);
    to.text("{\n  \"format\": ").text(json_string(format_name)).text(",\n");
    to.text(manifest_json(r.base.manifest, form));
    add_list(to, "inputs", r.inputs, [](json_line& line, const input_file& input) {
        line.text("file", input.file).text("hash", input.hash);
    });
    to.text(",\n  \"rows\": [");
    for (std::size_t t = 0; t < r.trades(); ++t)
        to.text(t == 0 ? "\n    " : ",\n    ").text(row_json(r.base.rows[t], form));
    to.text(r.trades() == 0 ? "]" : "\n  ]");
    to.text(",\n  \"portfolios\": ").text(json_list(r.portfolios));

    std::size_t place = 0;
    add_list(to, "scenarios", r.scenarios, [&](json_line& line, const scenario& s) {
        const std::size_t first = place++ * r.trades();
        const auto of_trades = [&](const std::vector<double>& cells) {
            return std::span(cells).subspan(first, r.trades());
        };
        line.text("set", s.set).text("name", s.name).count("days", static_cast<std::uint64_t>(s.days));
        line.text("first_day", s.first_day).text("last_day", s.last_day).written("changes", changes_of(s));
        line.numbers("gains", of_trades(r.gains)).numbers("errors", of_trades(r.errors));
        if (!r.converted_gains.empty()) line.numbers("converted_gains", of_trades(r.converted_gains));
        if (!r.converted_errors.empty()) line.numbers("converted_errors", of_trades(r.converted_errors));
    });
    add_list(to, "failures", r.failures, [&](json_line& line, const failed_gain& f) {
        line.text("set", r.scenarios[f.scenario].set).text("scenario", r.scenarios[f.scenario].name);
        line.text("trade", r.base.rows[f.trade].trade).text("kind", word_of(kind_words, f.kind));
        line.text("message", f.message);
    });
    add_list(to, "totals", r.totals, [&](json_line& line, const portfolio_gains& of) {
        line.text("portfolio", of.portfolio).text("currency", of.currency);
        line.boolean("converted", of.is_converted).written("trades", ids_of(r, of.trades));
        line.number("base_value", of.base_value).numbers("gains", of.gains).numbers("errors", of.errors);
        line.counts("failed", of.failed);
        if (form.parts) line.count("parts", of.parts).numbers("means_of_parts", of.means_of_parts);
    });
    add_list(to, "risks", r.risks, [&](json_line& line, const portfolio_risk& risk) {
        line.text("set", risk.set).text("portfolio", risk.portfolio).text("currency", risk.currency);
        line.boolean("converted", risk.is_converted).count("scenarios", risk.scenarios);
        line.written("left_out", ids_of(r, risk.left_out)).written("tails", tails_of(r, risk));
    });
    // The contributions of trades to tails. They are a separate list because a large book has many.
    to.text(",\n  \"shares\": [");
    bool is_first = true;
    for (const portfolio_risk& risk : r.risks) {
        for (const trade_in_tail& share : risk.shares) {
            to.text(is_first ? "\n    {" : ",\n    {");
            is_first = false;
            json_line line(to);
            line.text("set", risk.set).text("portfolio", risk.portfolio).text("currency", risk.currency);
            line.boolean("converted", risk.is_converted).text("trade", r.base.rows[share.trade].trade);
            line.number("level", share.level);
            line.number("component_quantile", share.component_quantile);
            line.number("component_quantile_error", share.component_quantile_error);
            line.number("component_shortfall", share.component_shortfall);
            line.number("component_shortfall_error", share.component_shortfall_error);
            line.number("incremental_quantile", share.incremental_quantile);
            line.number("incremental_shortfall", share.incremental_shortfall);
            to.text("}");
        }
    }
    to.text(is_first ? "]" : "\n  ]");
    if (!r.remarks.empty()) to.text(",\n  \"remarks\": ").text(json_list(r.remarks));
    to.text(",\n  \"measures\": ").text(json_list(r.measures));
    add_list(to, "explained", r.explained, [&](json_line& line, const explained_gain& e) {
        line.text("set", r.scenarios[e.scenario].set).text("scenario", r.scenarios[e.scenario].name);
        line.text("portfolio", e.portfolio).text("currency", e.currency);
        line.number("gain", e.gain).number("standard_error", e.error).numbers("by_measure", e.by_measure);
        line.number("left", e.left);
    });
    to.text("\n}\n");
}

}  // namespace tilewalk::report
