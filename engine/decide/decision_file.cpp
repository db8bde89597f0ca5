// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/decision_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/base/digest.h"
#include "engine/base/json_members.h"
#include "engine/decide/followed.h"
#include "engine/decide/policy_file.h"
#include "engine/decide/read_results.h"
#include "engine/numerics/quasi/order.h"
#include "tilewalk/error.h"

namespace tilewalk {

using json_value = nlohmann::json;

namespace {

using decide::of_control, decide::of_control_of_derivatives, decide::of_dropping, decide::of_jumps,
    decide::of_policy, decide::of_shifts, decide::of_integrating;

trade_decisions decisions_on(const price_row& row) {
    trade_decisions out;
    out.paths = row.paths;
    out.walk = row.walk;
    out.randomisations = row.randomisations;
    out.construction = row.construction;
    const json_value said =
        row.decisions.empty() ? json_value() : json_value::parse(row.decisions, nullptr, false);
    if (!said.is_object()) return out;
    if (said.contains(of_control)) out.control = said[of_control].dump();
    if (said.contains(of_shifts)) out.shifts = said[of_shifts].dump();
    if (said.contains(of_jumps)) out.jumps = said[of_jumps].dump();
    if (said.contains(of_control_of_derivatives))
        out.control_of_derivatives = said[of_control_of_derivatives].dump();
    out.drops_control = said.contains(of_dropping);
    out.integrates_jumps = said.contains(of_integrating);
    return out;
}

void check_construction(const std::string& construction, const std::string& file, const std::string& at) {
    if (construction.empty()) return;
    try {
        quasi::construction_named(construction);
    } catch (const error& unknown) {
        throw error(error_kind::input, unknown.message(), {file}, at + ".construction");
    }
}

auto texts_of(auto& of) {
    return std::array{std::pair(of_control, &of.control), std::pair(of_shifts, &of.shifts),
                      std::pair(of_jumps, &of.jumps), std::pair(of_policy, &of.policy),
                      std::pair(of_control_of_derivatives, &of.control_of_derivatives)};
}

json_value json_in(const std::string& text, const std::string& trade, const char* key) {
    try {
        return json_value::parse(text);
    } catch (const json_value::exception& e) {
        throw error(error_kind::input, "found text that is not JSON in the decisions on the trade " +
                                           config::shown(trade) + ": " + key + ": " + e.what());
    }
}

}  // namespace

std::string json_of(const decisions& what) {
    json_value trades = json_value::array();
    for (const auto& [id, of] : what.trades) {
        json_value one{{"trade", id}, {"paths", of.paths}, {"walk", fmt::format("{:016x}", of.walk)}};
        if (of.randomisations > 0)
            one.update({{"randomisations", of.randomisations}, {"construction", of.construction}});
        for (const auto& [key, text] : texts_of(of))
            if (!text->empty()) one[key] = json_in(*text, id, key);
        if (of.drops_control) one[of_dropping] = true;
        if (of.integrates_jumps) one[of_integrating] = true;
        trades.push_back(std::move(one));
    }
    return json_value{{"format", report::decision_format_name},
                      {"seed", what.seed},
                      {"paths", what.paths},
                      {"failed", what.failed},
                      {"trades", std::move(trades)}}
               .dump(1) +
           "\n";
}

decisions read_decisions(const std::string& text, const std::string& name) {
    // A text without this format's name may be the results of a run. Large results are read row by row.
    if (text.find(report::decision_format_name) == text.npos) {
        const report::told_results told = report::read_told_results(text, name);
        return report::decisions_of(told.manifest, told.rows, {}, name);
    }
    const json_value document = report::parsed_json(text, name, "`tilewalk.Results.decisions` writes it");
    report::json_members root(document, "", name);
    if (const std::string format = root.text("format"); format != report::decision_format_name)
        throw error(
            error_kind::input,
            "found the format '" + format + "', expected '" + std::string(report::decision_format_name) + "'",
            {name}, "format");
    decisions out{
        root.natural<std::uint64_t>("seed"), root.natural<std::uint64_t>("paths"), {}, root.texts("failed")};
    const json_value& trades = root.list("trades");
    for (std::size_t i = 0; i < trades.size(); ++i) {
        const std::string at = "trades[" + std::to_string(i) + "]";
        report::json_members from(trades[i], at, name);
        const std::string id = from.text("trade");
        const auto [place, is_new] = out.trades.try_emplace(id);
        if (!is_new)
            throw error(error_kind::input,
                        "found the trade " + config::shown(id) + " a second time; expected each once", {name},
                        at + ".trade");
        trade_decisions& of = place->second;
        of.paths = from.natural<std::uint64_t>("paths");
        if (from.has("walk")) of.walk = from.word_of_bits("walk");
        if (from.has("randomisations")) {
            of.randomisations = from.natural<std::uint64_t>("randomisations");
            of.construction = from.text("construction");
            check_construction(of.construction, name, at);
        }
        for (const auto& [key, to] : texts_of(of))
            if (from.has(key)) *to = from.member(key).dump();
        if (from.has(of_dropping)) of.drops_control = from.boolean(of_dropping);
        if (from.has(of_integrating)) of.integrates_jumps = from.boolean(of_integrating);
        from.finish();
    }
    root.finish();
    return out;
}

memory_file::memory_file(const std::string& title, std::string_view text)
    : descriptor_(::memfd_create(title.c_str(), MFD_CLOEXEC)) {
    std::size_t done = 0;
    while (descriptor_ >= 0 && done < text.size()) {
        const ::ssize_t wrote = ::write(descriptor_, text.data() + done, text.size() - done);
        if (wrote < 0 && errno != EINTR) break;
        if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
    if (descriptor_ >= 0 && done == text.size()) return;
    const std::string why = std::generic_category().message(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw error(error_kind::io, "the text can't be kept as a file in memory: " + why, {title});
}

memory_file::~memory_file() {
    ::close(descriptor_);
}

namespace report {

decisions decisions_of(const run_manifest& manifest, const std::vector<price_row>& rows,
                       const std::string& policies, const std::string& file) {
    decisions out{manifest.seed, manifest.paths, {}, {}};
    std::set<std::string_view> met;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const price_row& row = rows[i];
        const std::string at = "rows[" + std::to_string(i) + "]";
        if (!met.insert(row.trade).second)
            throw error(error_kind::input,
                        "found the trade " + config::shown(row.trade) +
                            " a second time; expected one row for each trade to follow",
                        {file}, at + ".trade");
        check_construction(row.construction, file, at);
        if (row.status == trade_status::priced)
            out.trades.emplace(row.trade, decisions_on(row));
        else
            out.failed.push_back(row.trade);
    }
    if (policies.empty()) return out;
    const json_value kept = json_value::parse(policies);
    for (const json_value& policy : kept.at("trades"))
        if (const auto at = out.trades.find(policy.at("trade").get<std::string>()); at != out.trades.end())
            at->second.policy = policy.dump();
    return out;
}

std::string policies_json(const decisions& what) {
    std::string all;
    for (const auto& [id, of] : what.trades)
        if (!of.policy.empty()) all += (all.empty() ? "" : ",\n") + of.policy;
    return fmt::format("{{\"format\": \"{}\", \"trades\": [{}]}}", policy_format_name, all);
}

loaded_decisions load_decisions(const std::string& file) {
    const std::string text = text_of_file(file, "results");
    return {read_decisions(text, file), config::sha256(text)};
}

}  // namespace report

}  // namespace tilewalk
