// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/read_results.h"

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/json_members.h"
#include "engine/base/words.h"
#include "tilewalk/setting_table.h"

namespace tilewalk {

namespace {

using json_value = nlohmann::json;
using report::json_members;

run_settings read_settings(json_members from) {
    run_settings read;
    for (const auto& known : setting_table()) {
        if (!from.has(known.name)) continue;
        const json_value& value = from.member(known.name);
        const bool is_right = known.is_number() ? value.is_number_unsigned() : value.is_string();
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        const auto wrong = is_right ? known.read(text, read) : ", expected " + known.expected();
        if (wrong) from.refuse(from.path(known.name), value, *wrong);
    }
    from.finish();
    return read;
}

run_manifest read_manifest(json_members from, const std::string& name) {
    run_manifest m;
    m.version = from.text("version");
    m.compiler = from.text("compiler");
    m.instruction_set = from.text("instruction_set");
    m.machine = from.text("machine");
    m.as_of = from.text("as_of");
    m.started = from.text("started");
    m.precision = from.text("precision");
    m.random = from.text("random");
    m.numbered_by = from.has("numbered_by") ? from.text("numbered_by") : "place";
    m.seed = from.natural<std::uint64_t>("seed");
    m.paths = from.natural<std::uint64_t>("paths");
    if (from.has("part_paths")) m.part_paths = from.natural<std::uint64_t>("part_paths");
    m.threads = from.natural<int>("threads");
    m.settings = read_settings(from.mapping("settings"));
    m.devices = from.texts("devices");
    if (from.has("lost_devices")) m.lost_devices = from.texts("lost_devices");
    if (from.has("left_to_processor")) {
        const json_value& left = from.list("left_to_processor");
        for (std::size_t i = 0; i < left.size(); ++i) {
            json_members one(left[i], from.path("left_to_processor") + "[" + std::to_string(i) + "]", name);
            std::string work = one.text("work");
            const auto trades = one.natural<std::size_t>("trades");
            m.left_to_processor.push_back({std::move(work), trades, one.text("why")});
            one.finish();
        }
    }
    const json_value& inputs = from.list("inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        json_members input(inputs[i], from.path("inputs") + "[" + std::to_string(i) + "]", name);
        std::string file = input.text("file");
        m.inputs.push_back({std::move(file), input.text("hash")});
        input.finish();
    }
    if (from.has("market_changes")) {
        const json_value& changes = from.list("market_changes");
        for (std::size_t i = 0; i < changes.size(); ++i) {
            json_members change(changes[i], from.path("market_changes") + "[" + std::to_string(i) + "]",
                                name);
            std::string key = change.text("key");
            const double value = change.number("value");
            m.market_changes.push_back({std::move(key), value, change.text("unit")});
            change.finish();
        }
    }
    if (from.has("missing_correlations")) {
        const json_value& pairs = from.list("missing_correlations");
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const bool is_pair = pairs[i].is_array() && pairs[i].size() == 2 && pairs[i][0].is_string() &&
                                 pairs[i][1].is_string();
            if (!is_pair)
                from.fail(from.path("missing_correlations") + "[" + std::to_string(i) + "]", pairs[i],
                          "a list of two names");
            m.missing_correlations.push_back(
                {pairs[i][0].get<std::string>(), pairs[i][1].get<std::string>()});
        }
    }
    m.plan_seconds = from.at_least_zero("plan_seconds");
    m.path_seconds = from.at_least_zero("path_seconds");
    m.total_seconds = from.at_least_zero("total_seconds");
    m.path_steps = from.natural<std::uint64_t>("path_steps");
    // Before runs were shared, GPUs walked all paths of a run that used them, or nearly.
    m.path_steps_on_gpus = from.has("path_steps_on_gpus") ? from.natural<std::uint64_t>("path_steps_on_gpus")
                           : m.devices.empty()            ? 0
                                                          : m.path_steps;
    m.kernels_compiled = from.natural<std::uint64_t>("kernels_compiled");
    m.kernels_from_cache = from.natural<std::uint64_t>("kernels_from_cache");
    m.launches = from.natural<std::uint64_t>("launches");
    m.device_seconds = from.at_least_zero("device_seconds");
    m.kernel_seconds = from.at_least_zero("kernel_seconds");
    from.finish();
    return m;
}

std::optional<reported_figure> read_reported(const json_value& value, const std::string& path,
                                             const std::string& name) {
    if (value.is_null()) return {};
    json_members from(value, path, name);
    reported_figure r;
    r.what = from.text("what");
    r.value = from.number_or_null("value").value_or(no_figure);
    r.standard_error = from.at_least_zero_or_null("standard_error").value_or(no_figure);
    r.message = from.text("message");
    from.finish();
    return r;
}

early_exercise read_early(const json_value& value, const std::string& path, const std::string& name) {
    json_members from(value, path, name);
    early_exercise e;
    e.policy_value = from.number_or_null("policy_value").value_or(no_figure);
    e.policy_error = from.at_least_zero_or_null("policy_error").value_or(no_figure);
    e.lower_bound = from.number_or_null("lower_bound").value_or(no_figure);
    e.lower_error = from.at_least_zero_or_null("lower_error").value_or(no_figure);
    e.upper_bound = from.number_or_null("upper_bound").value_or(no_figure);
    e.upper_error = from.at_least_zero_or_null("upper_error").value_or(no_figure);
    if (from.has("wide")) e.wide = from.boolean("wide");
    if (from.has("extrapolated")) {
        e.extrapolated = from.number_or_null("extrapolated").value_or(no_figure);
        e.step_error = from.at_least_zero_or_null("step_error").value_or(no_figure);
    }
    e.training_paths = from.natural<std::uint64_t>("training_paths");
    from.finish();
    return e;
}

// Results of format 2 have no remarks and no value, and always have an error.
price_row read_row(json_members from, bool is_older, const std::string& name) {
    price_row row;
    row.trade = from.text("trade");
    row.product = from.text("product");
    row.currency = from.text("currency");
    const report::told_status status = from.word("status", report::status_words);
    row.status = status == report::told_status::failed ? trade_status::failed : trade_status::priced;
    row.misses_tolerance = status == report::told_status::tolerance_not_met;
    row.quantity = row.status == trade_status::priced ? from.number("quantity")
                                                      : from.number_or_null("quantity").value_or(no_figure);
    if (row.status == trade_status::priced) {
        row.price = from.number("price");
        if (is_older) {
            row.standard_error = from.at_least_zero("standard_error");
            row.low = from.number("low");
            row.high = from.number("high");
        } else {
            row.standard_error = from.at_least_zero_or_null("standard_error").value_or(no_figure);
            row.low = from.number_or_null("low").value_or(no_figure);
            row.high = from.number_or_null("high").value_or(no_figure);
            from.number("value");
            from.at_least_zero_or_null("value_error");
        }
    } else {
        for (const char* key : {"price", "standard_error", "low", "high"}) from.null(key);
        if (!is_older)
            for (const char* key : {"value", "value_error"}) from.null(key);
        row.kind = from.word("kind", report::kind_words);
    }
    row.paths = from.natural<std::uint64_t>("paths");
    if (from.has("walk")) row.walk = from.word_of_bits("walk");
    if (from.has("randomisations")) {
        row.randomisations = from.natural<std::uint64_t>("randomisations");
        from.text("error_from");
    }
    if (from.has("construction")) row.construction = from.text("construction");
    if (from.has("decisions")) row.decisions = from.member("decisions").dump();
    if (from.has("error_steps"))
        row.error_steps = from.at_least_zero_or_null("error_steps").value_or(no_figure);
    row.effective_hits = from.at_least_zero("effective_hits");
    row.thin = from.boolean("thin");
    row.shadow_difference = from.number_or_null("shadow_difference");
    if (!is_older) {
        row.remarks = from.texts("remarks");
        row.reported = read_reported(from.member("reported"), from.path("reported"), name);
    }
    if (from.has("early")) row.early = read_early(from.member("early"), from.path("early"), name);
    if (from.has("part_means")) row.part_means = from.numbers("part_means");
    if (row.early && from.has("policy_part_means")) row.early->part_means = from.numbers("policy_part_means");
    row.message = from.text("message");
    json_members where = from.mapping("where");
    row.where.file = where.text("file");
    row.where.line = where.natural<int>("line");
    row.where.column = where.natural<int>("column");
    where.finish();
    from.finish();
    return row;
}

greek_row read_greek(json_members from, bool, const std::string&) {
    greek_row row;
    row.trade = from.text("trade");
    row.measure = from.text("measure");
    row.key = from.text("key");
    row.unit = from.text("unit");
    row.value = from.number_or_null("value").value_or(no_figure);
    row.standard_error = from.at_least_zero_or_null("standard_error").value_or(no_figure);
    row.method = from.text("method");
    row.paths = from.natural<std::uint64_t>("paths");
    if (from.has("walk")) row.walk = from.word_of_bits("walk");
    row.bias = from.at_least_zero("bias");
    row.message = from.text("message");
    if (row.has_failed()) row.kind = from.word("kind", report::kind_words);
    if (from.has("part_means")) row.part_means = from.numbers("part_means");
    from.finish();
    return row;
}

// Empty if the part of the document that was read has no format yet.
std::optional<bool> is_of_older_format(const json_value& document) {
    const auto format = document.find("format");
    if (format == document.end()) return {};
    if (*format == report::json_format_name) return false;
    if (*format == report::older_json_format_name) return true;
    return {};
}

// Reads the rows of a list while the text is parsed. Keeps the first error until all of the text is known to
// be JSON, because errors of JSON come first.
template <class Row>
class listed_rows {
  public:
    using read_one = Row (*)(json_members from, bool is_older, const std::string& name);
    listed_rows(std::string_view list, const std::string& name, read_one read)
        : list_(list), name_(name), read_(read) {}

    // Takes rows once the format is known. Rows before it stay in the document, and with() takes them later.
    report::element_reader reader() {
        return {list_, [this](const json_value& document, const json_value& element) {
                    const std::optional<bool> is_older = is_of_older_format(document);
                    if (is_older) read(element, *is_older);
                    return is_older.has_value();
                }};
    }
    std::vector<Row> with(const json_value& rest, bool is_older) {
        for (const json_value& element : rest) read(element, is_older);
        if (wrong_) std::rethrow_exception(wrong_);
        return std::move(rows_);
    }

  private:
    void read(const json_value& element, bool is_older) {
        if (wrong_) return;
        try {
            const std::string path = std::string(list_) + "[" + std::to_string(rows_.size()) + "]";
            rows_.push_back(read_(json_members(element, path, name_), is_older, name_));
        } catch (const error&) {
            wrong_ = std::current_exception();
        }
    }

    std::string_view list_;
    const std::string& name_;
    read_one read_;
    std::vector<Row> rows_;
    std::exception_ptr wrong_;
};

}  // namespace

report::told_results report::read_told_results(const std::string& text, const std::string& name) {
    listed_rows<price_row> rows("rows", name, read_row);
    listed_rows<greek_row> greeks("greeks", name, read_greek);
    const json_value document = report::parsed_json(text, name, "`tilewalk price --format json` writes it",
                                                    std::array{rows.reader(), greeks.reader()});
    json_members root(document, "", name);
    const std::string format = root.text("format");
    const bool is_older = format == report::older_json_format_name;
    if (!is_older && format != report::json_format_name)
        throw error(
            error_kind::input,
            "found the format '" + format + "', expected '" + std::string(report::json_format_name) + "'",
            {name}, "format");
    told_results r;
    r.manifest = read_manifest(root.mapping("manifest"), name);
    if (root.has("remarks")) root.texts("remarks");  // not kept: they follow from the rows
    r.rows = rows.with(root.list("rows"), is_older);
    if (!is_older) root.list("totals");  // not kept: they follow from the rows
    if (root.has("greeks")) {
        r.greeks = greeks.with(root.list("greeks"), is_older);
        root.list("greek_totals");  // not kept: they follow from the sensitivities
    }
    root.finish();
    return r;
}

}  // namespace tilewalk
