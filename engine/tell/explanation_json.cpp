// SPDX-License-Identifier: Apache-2.0
// Plans of trades as JSON: everything that `tilewalk explain` reports.
#include <optional>
#include <string>
#include <vector>

#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "tilewalk/trade_plan.h"

namespace tilewalk {

namespace {

using report::json_number;
using report::json_string;

std::string json_of(const std::string& text) {
    return json_string(text);
}
std::string json_of(double x) {
    return json_number(x);
}
std::string json_of(bool x) {
    return x ? "true" : "false";
}
std::string json_of(std::uint64_t x) {
    return std::to_string(x);
}
std::string json_of(int x) {
    return std::to_string(x);
}
std::string json_of(const std::optional<double>& x) {
    return x ? json_number(*x) : "null";
}

// Declared before the templates that call them, which would not find them otherwise.
std::string json_of(const location& where);
std::string json_of(const trade_term& t);
std::string json_of(const model_parameter& p);
std::string json_of(const asset_numbers::dividend& d);
std::string json_of(const asset_numbers& a);
std::string json_of(const exchange_rate_numbers& x);
std::string json_of(const currency_numbers& c);
std::string json_of(const correlation_taken& c);
std::string json_of(const trade_plan::watched_date& d);
std::string json_of(const trade_plan::decision::date& d);
std::string json_of(const trade_plan::jump& j);
std::string json_of(const trade_plan::scenario_file& s);

class object {
  public:
    template <class Value>
    object& add(const std::string& name, const Value& value) {
        return raw(name, text_of(value));
    }
    object& raw(const std::string& name, const std::string& json) {
        text_ += (text_.empty() ? "\"" : ", \"") + name + "\": " + json;
        return *this;
    }
    std::string text() const { return "{" + text_ + "}"; }

    template <class Value>
    static std::string text_of(const Value& value) {
        return json_of(value);
    }
    template <class Member>
    static std::string text_of(const std::vector<Member>& list) {
        std::string out;
        for (const Member& one : list) out += (out.empty() ? "" : ", ") + text_of(one);
        return "[" + out + "]";
    }

  private:
    std::string text_;
};

std::string json_of(const location& where) {
    return object().add("file", where.file).add("line", where.line).add("column", where.column).text();
}
std::string json_of(const trade_term& t) {
    object out;
    out.add("name", t.name).add("type", t.type);
    if (!t.per.empty()) out.add("per", t.per);
    const bool is_number = !t.numbers.empty() && t.type != "date" && t.type != "schedule";
    if (t.is_list) {
        if (is_number) {
            out.add("value", t.numbers);
        } else {
            out.add("value", t.values);
        }
    } else if (is_number) {
        out.add("value", t.numbers.front());
    } else if (t.type == "boolean") {
        out.raw("value", t.values.front());
    } else {
        out.add("value", t.values.front());
    }
    if (!is_number && !t.numbers.empty()) out.add("years", t.numbers);
    if (!t.written.empty()) out.add("written", t.written);
    return out.add("is_default", t.is_default).text();
}
std::string json_of(const model_parameter& p) {
    object out;
    out.add("name", p.name);
    if (!p.years.empty()) out.add("until_years", p.years);
    if (p.values.size() == 1 && p.years.empty()) return out.add("value", p.values.front()).text();
    if (!p.values.empty()) return out.add("values", p.values).text();
    return out.add("value", p.text).text();
}
std::string json_of(const asset_numbers::dividend& d) {
    return object().add("years", d.years).add(d.is_proportion ? "proportion" : "amount", d.amount).text();
}
std::string json_of(const asset_numbers& a) {
    object out;
    out.add("name", a.name).add("currency", a.currency).add("spot", a.spot).add("model", a.model);
    out.add("parameters", a.parameters).add("dividends", a.dividends);
    out.add("falls_by_dividends", a.falls_by_dividends).add("forwards", a.forwards);
    return out.add("quanto_forwards", a.quanto_forwards).add("volatilities", a.volatilities).text();
}
std::string json_of(const exchange_rate_numbers& x) {
    return object()
        .add("pair", x.pair)
        .add("rate", x.rate)
        .add("forwards", x.forwards)
        .add("volatilities", x.volatilities)
        .text();
}
std::string json_of(const currency_numbers& c) {
    object out;
    out.add("name", c.name);
    if (!c.model.empty()) out.add("model", c.model).add("parameters", c.parameters);
    return out.add("discount_factors", c.discounts).text();
}
std::string json_of(const correlation_taken& c) {
    return object()
        .raw("factors", object::text_of(std::vector<std::string>{c.first, c.second}))
        .add("value", c.value)
        .add("is_stated", c.is_stated)
        .text();
}
std::string json_of(const trade_plan::watched_date& d) {
    return object().add("date", d.label).add("years", d.years).add("blocks", d.blocks).text();
}
std::string json_of(const trade_plan::jump& j) {
    return object()
        .add("at", j.at)
        .add("operation", j.operation)
        .add("can_be_smoothed", j.can_be_smoothed)
        .add("can_be_held_still", j.can_be_held_still)
        .text();
}
std::string json_of(const trade_plan::decision::date& d) {
    return object()
        .add("date", d.label)
        .add("years", d.years)
        .add("rank_paid", static_cast<std::uint64_t>(d.rank_paid))
        .add("rank_unpaid", static_cast<std::uint64_t>(d.rank_unpaid))
        .text();
}
std::string json_of(const trade_plan::decision& d) {
    return object()
        .add("knows", d.knows)
        .add("functions", static_cast<std::uint64_t>(d.functions))
        .add("degree", static_cast<std::uint64_t>(d.degree))
        .add("moves", static_cast<std::uint64_t>(d.moves))
        .add("moves_are_ranked", d.are_moves_ranked)
        .add("dates", d.dates)
        .add("training_paths", d.training_paths)
        .text();
}
std::string json_of(const trade_plan::scenario_file& s) {
    return object()
        .add("file", s.name)
        .add("rows", s.rows)
        .add("rows_used", s.rows_used)
        .add("bytes", s.bytes)
        .text();
}

std::string json_of(const trade_plan& p, bool with_program) {
    object out;
    out.add("trade", p.trade).add("product", p.product).add("currency", p.currency);
    out.add("quantity", p.quantity).add("where", p.where);
    if (!p.failure.empty()) return out.add("failure", p.failure).add("terms", p.terms).text();
    out.add("assets", p.assets).add("terms", p.terms);
    out.add("dates", p.year_labels).add("years", p.years).add("currencies", p.currencies);
    out.add("asset_numbers", p.asset_list).add("exchange_rates", p.exchange_rates);
    out.add("correlations", p.correlations).add("remarks", p.remarks).add("models", p.models);
    out.add("error_steps", p.error_steps);
    out.add("events", p.dates).add("grid", p.grid);
    out.add("normals_per_step", p.normals_per_step).add("uniforms_per_step", p.uniforms_per_step);
    out.add("random", p.random);
    out.add("scenarios", p.scenarios)
        .add("ends_early", p.ends_early)
        .raw("decides_by", p.decides_by ? json_of(*p.decides_by) : "null")
        .add("jumps", p.jumps)
        .add("kernel", p.kernel);
    out.add("lane_operations", static_cast<std::uint64_t>(p.lane_operations));
    out.add("uniform_operations", static_cast<std::uint64_t>(p.uniform_operations));
    out.add("lane_registers", static_cast<std::uint64_t>(p.lane_registers));
    out.add("bytes_per_thread", p.bytes_per_thread).add("bytes_shared", p.bytes_shared);
    if (with_program) out.add("program", p.program);
    return out.text();
}

}  // namespace

std::string explanation_json(const std::vector<trade_plan>& plans, const std::string& as_of,
                             bool with_program) {
    std::string out = "{\n  \"format\": \"tilewalk-explanation-1\",\n  \"as_of\": " + json_string(as_of) +
                      ",\n  \"trades\": [";
    for (std::size_t i = 0; i < plans.size(); ++i)
        out += (i == 0 ? "\n    " : ",\n    ") + json_of(plans[i], with_program);
    return out + (plans.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace tilewalk
