// SPDX-License-Identifier: Apache-2.0
// Results as JSON: the manifest of the run, then one line a trade, so that two runs compare line by line.
#include <nlohmann/json.hpp>

#include "engine/report/formats.h"
#include "engine/report/numbers.h"
#include "engine/report/words.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::report {

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_number(double x) {
    std::string text = shortest(x);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

namespace {

std::string list_of(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& text : texts) out += (out.empty() ? "" : ", ") + json_string(text);
    return "[" + out + "]";
}

// What differs from the presets.
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

std::string json_of(const run_manifest& m) {
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
    member("seed", std::to_string(m.seed));
    member("paths", std::to_string(m.paths));
    member("threads", std::to_string(m.threads));
    member("settings", json_of(m.settings));
    member("devices", list_of(m.devices));
    member("lost_devices", list_of(m.lost_devices));
    std::string inputs;
    for (const auto& input : m.inputs)
        inputs += (inputs.empty() ? "\n" : ",\n") + std::string("      {\"file\": ") +
                  json_string(input.file) + ", \"hash\": " + json_string(input.hash) + "}";
    member("inputs", "[" + inputs + (inputs.empty() ? "]" : "\n    ]"));
    member("plan_seconds", json_number(m.plan_seconds));
    member("path_seconds", json_number(m.path_seconds));
    member("total_seconds", json_number(m.total_seconds));
    member("path_steps", std::to_string(m.path_steps));
    member("kernels_compiled", std::to_string(m.kernels_compiled));
    member("kernels_from_cache", std::to_string(m.kernels_from_cache));
    member("launches", std::to_string(m.launches));
    member("device_seconds", json_number(m.device_seconds));
    out += "    \"kernel_seconds\": " + json_number(m.kernel_seconds) + "\n  }";
    return out;
}

std::string json_of(const price_row& row) {
    const bool priced = row.status == trade_status::priced;
    const auto figure = [&](double x) { return priced ? json_number(x) : "null"; };
    std::string out =
        "{\"trade\": " + json_string(row.trade) + ", \"product\": " + json_string(row.product) +
        ", \"currency\": " + json_string(row.currency) + ", \"status\": \"" +
        std::string(word_of(status_words, row.status)) + "\", \"quantity\": " + json_number(row.quantity) +
        ", \"price\": " + figure(row.price) + ", \"standard_error\": " + figure(row.standard_error) +
        ", \"low\": " + figure(row.low) + ", \"high\": " + figure(row.high) +
        ", \"paths\": " + std::to_string(row.paths) +
        ", \"effective_hits\": " + json_number(row.effective_hits) +
        ", \"thin\": " + (row.thin ? "true" : "false") +
        ", \"shadow_difference\": " + (row.shadow_difference ? json_number(*row.shadow_difference) : "null") +
        ", \"message\": " + json_string(row.message);
    if (!priced) out += ", \"kind\": \"" + std::string(word_of(kind_words, row.kind)) + "\"";
    out += ", \"where\": {\"file\": " + json_string(row.where.file) +
           ", \"line\": " + std::to_string(row.where.line) +
           ", \"column\": " + std::to_string(row.where.column) + "}}";
    return out;
}

}  // namespace

std::string json(const results& r) {
    std::string out = "{\n  \"format\": " + json_string(json_format_name) + ",\n" + json_of(r.manifest) +
                      ",\n  \"rows\": [";
    for (std::size_t i = 0; i < r.rows.size(); ++i)
        out += (i == 0 ? "\n    " : ",\n    ") + json_of(r.rows[i]);
    return out + (r.rows.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace tilewalk::report
