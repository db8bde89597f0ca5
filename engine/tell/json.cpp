// SPDX-License-Identifier: Apache-2.0
// Results as JSON: the manifest of the run, then one line per trade, so that runs compare line by line.
#include "engine/base/words.h"
#include "engine/base/written_json.h"
#include "engine/tell/formats.h"
#include "engine/tell/row_fields.h"
#include "tilewalk/results.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::report {

namespace {

std::string json_of(const run_settings& settings) {
    std::string out;
    for (const auto& known : setting_table()) {
        const auto text = known.text(settings);
        if (text && *text != known.preset)
            out += (out.empty() ? "\"" : ", \"") + known.name +
                   "\": " + (known.is_number() ? *text : json_string(*text));
    }
    return "{" + out + "}";
}

std::string json_of(const currency_total& total) {
    std::string out;
    for (const total_field& field : total_fields())
        out += (out.empty() ? "\"" : ", \"") + std::string(field.name) + "\": " + field.json_text(total);
    return "{" + out + "}";
}

std::string json_of(const greek_row& row, const text_form& form) {
    std::string out;
    for (const greek_field& field : greek_fields()) {
        const std::string text = field.json_text(row);
        if (!text.empty()) out += (out.empty() ? "\"" : ", \"") + std::string(field.name) + "\": " + text;
    }
    // With the means of its parts, a reader can compute the error of any sum of trades.
    if (form.parts && !row.part_means.empty()) out += ", \"part_means\": " + json_list(row.part_means);
    return "{" + out + "}";
}

template <class Items, class F>
std::string lines_of(const Items& items, const F& text_of) {
    std::string out;
    for (const auto& item : items) {
        out += out.empty() ? "\n    " : ",\n    ";
        out += text_of(item);
    }
    return "[" + out + (out.empty() ? "]" : "\n  ]");
}

}  // namespace

std::string manifest_json(const run_manifest& m, const text_form& form) {
    std::string out = "  \"manifest\": {\n";
    const auto member = [&](std::string_view name, const std::string& value) {
        out += "    \"" + std::string(name) + "\": " + value + ",\n";
    };
    member("version", json_string(m.version));
    member("compiler", json_string(m.compiler));
    member("instruction_set", json_string(m.instruction_set));
    member("machine", json_string(m.machine));
    member("as_of", json_string(m.as_of));
    member("started", json_string(m.started));
    member("precision", json_string(m.precision));
    member("random", json_string(m.random));
    member("numbered_by", json_string(m.numbered_by));
    member("seed", std::to_string(m.seed));
    member("paths", std::to_string(m.paths));
    if (form.parts) member("part_paths", std::to_string(m.part_paths));
    member("threads", std::to_string(m.threads));
    member("settings", json_of(m.settings));
    member("devices", json_list(m.devices));
    member("lost_devices", json_list(m.lost_devices));
    std::string left;
    for (const left_work& one : m.left_to_processor)
        left += (left.empty() ? "\n" : ",\n") + std::string("      {\"work\": ") + json_string(one.work) +
                ", \"trades\": " + std::to_string(one.trades) + ", \"why\": " + json_string(one.why) + "}";
    member("left_to_processor", "[" + left + (left.empty() ? "]" : "\n    ]"));
    std::string inputs;
    for (const auto& input : m.inputs)
        inputs += (inputs.empty() ? "\n" : ",\n") + std::string("      {\"file\": ") +
                  json_string(input.file) + ", \"hash\": " + json_string(input.hash) + "}";
    member("inputs", "[" + inputs + (inputs.empty() ? "]" : "\n    ]"));
    std::string changes;
    for (const market_number& n : m.market_changes) {
        changes += (changes.empty() ? "\n" : ",\n") + std::string("      {\"key\": ") + json_string(n.key) +
                   ", \"value\": " + json_number(n.value) + ", \"unit\": " + json_string(n.unit) + "}";
    }
    member("market_changes", "[" + changes + (changes.empty() ? "]" : "\n    ]"));
    std::string pairs;
    for (const auto& pair : m.missing_correlations)
        pairs += (pairs.empty() ? "" : ", ") + json_list(std::vector<std::string>{pair.first, pair.second});
    member("missing_correlations", "[" + pairs + "]");
    member("plan_seconds", json_number(m.plan_seconds));
    member("path_seconds", json_number(m.path_seconds));
    member("total_seconds", json_number(m.total_seconds));
    member("path_steps", std::to_string(m.path_steps));
    member("path_steps_on_gpus", std::to_string(m.path_steps_on_gpus));
    member("kernels_compiled", std::to_string(m.kernels_compiled));
    member("kernels_from_cache", std::to_string(m.kernels_from_cache));
    member("launches", std::to_string(m.launches));
    member("device_seconds", json_number(m.device_seconds));
    out += "    \"kernel_seconds\": " + json_number(m.kernel_seconds) + "\n  }";
    return out;
}

std::string row_json(const price_row& row, const text_form& form) {
    std::string out;
    for (const row_field& field : row_fields()) {
        if (field.json_text == nullptr) continue;
        const std::string text = field.json_text(row);
        if (text.empty()) continue;
        out += out.empty() ? "\"" : ", \"";
        out.append(field.json).append("\": ").append(text);
    }
    if (form.parts && row.status == trade_status::priced) {
        out += ", \"part_means\": " + json_list(row.part_means);
        if (row.early) out += ", \"policy_part_means\": " + json_list(row.early->part_means);
    }
    return "{" + out + "}";
}

std::string json(const results& r, const text_form& form) {
    const auto lines_of_greeks = [&](const std::vector<greek_row>& rows) {
        return lines_of(rows, [&](const greek_row& row) { return json_of(row, form); });
    };
    const std::string greeks = r.greeks.empty()
                                   ? ""
                                   : ",\n  \"greeks\": " + lines_of_greeks(r.greeks) +
                                         ",\n  \"greek_totals\": " + lines_of_greeks(r.greek_totals());
    std::vector<std::string> told;
    if (r.rows.empty()) told.emplace_back(remark_on_no_trades);
    if (std::string few = remark_on_few_parts(r); !few.empty()) told.push_back(std::move(few));
    const std::string remarks = told.empty() ? "" : ",\n  \"remarks\": " + json_list(told);
    return "{\n  \"format\": " + json_string(json_format_name) + ",\n" + manifest_json(r.manifest, form) +
           remarks +
           ",\n  \"rows\": " + lines_of(r.rows, [&](const price_row& row) { return row_json(row, form); }) +
           ",\n  \"totals\": " +
           lines_of(r.totals(), [](const currency_total& total) { return json_of(total); }) + greeks +
           "\n}\n";
}

std::string totals_json(const results& r) {
    return "{\n  \"format\": \"tilewalk-totals-1\",\n  \"as_of\": " + json_string(r.manifest.as_of) +
           ",\n  \"totals\": " +
           lines_of(r.totals(), [](const currency_total& total) { return json_of(total); }) + "\n}\n";
}

}  // namespace tilewalk::report
