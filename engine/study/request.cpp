// SPDX-License-Identifier: Apache-2.0
#include "engine/study/request.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/base/digest.h"
#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/study/manifest.h"
#include "engine/walk/arrays/mapped_file.h"
#include "engine/walk/kept/store.h"
#include "engine/walk/kept/work.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/version.h"

namespace tilewalk::studies {

using nlohmann::json;

std::string hash_of(const std::filesystem::path& file) {
    const arrays::mapped_file mapped = arrays::map_file(file);
    return config::sha256({reinterpret_cast<const char*>(mapped.bytes.data()), mapped.bytes.size()});
}

namespace {

run_settings settings_of(const book& trades, const run_options& options) {
    return over(over(options.overrides, trades.settings()), default_settings());
}

// Only the markets count: names of scenarios change no price.
std::string digest_of(const scenario_list& all) {
    json out = json::array();
    for (const scenario& s : all.scenarios) {
        json changes = json::array();
        for (const market_change& c : s.changes)
            changes.push_back({c.key, c.is == market_change::way::set, c.amount});
        out.push_back({s.days, std::move(changes)});
    }
    if (all.for_differences) out.push_back("for differences");  // gains for differences take other paths
    return config::sha256(out.dump());
}

}  // namespace

std::vector<input_file> inputs_of(const book& trades, std::span<const market> in,
                                  const run_options& options) {
    std::vector<input_file> out = state_of(trades).inputs;
    const auto add = [&](const input_file& one) {
        if (std::ranges::find(out, one.hash, &input_file::hash) == out.end()) out.push_back(one);
    };
    for (const market& m : in) {
        const markets::market_state& state = state_of(m);
        if (!state.hash.empty()) add({state.name, state.hash});
        for (const markets::scenario_array& a : state.scenarios) add({a.name, a.hash.get()});
    }
    for (const input_file& one : fingerprints_of(files_named_by(settings_of(trades, options)))) add(one);
    return out;
}

std::string digest_of_request(const book& trades, std::span<const market> in,
                              const asked_beside_prices& asked, const run_options& options) {
    json all{{"version", version()}, {"compiler", compiler()}};
    all["settings"] = json::object();
    const run_settings settings = settings_of(trades, options);
    // A file setting counts by the file's contents, wherever it lies.
    for (const run_setting& known : setting_table())
        if (const auto text = known.text(settings); text && known.decides_bits)
            all["settings"][known.name] =
                known.takes == run_setting::value_type::file ? hash_of(*text) : *text;
    all["demand_correlations"] = options.demand_correlations;
    const greek_options* const greeks = asked.greeks;
    all["greeks"] =
        greeks == nullptr ? json() : json{greeks->wanted, name_of(greeks->method), name_of(greeks->view)};
    if (asked.scenarios != nullptr) all["scenarios"] = digest_of(*asked.scenarios);
    all["inputs"] = json::array();
    for (const input_file& f : inputs_of(trades, in, options)) all["inputs"].push_back(f.hash);
    all["changes"] = json::array();
    for (const market& m : in) {
        json of_market = json::array();
        for (const market_number& n : m.changes()) of_market.push_back({n.key, n.value});
        all["changes"].push_back(of_market);
    }
    all["trades"] = json::array();
    for (const books::trade& t : state_of(trades).trades) all["trades"].push_back(t.id);
    return config::sha256(all.dump());
}

with_journal::with_journal(const book& trades, std::span<const market> in, const asked_beside_prices& asked,
                           const inner_options& options)
    : options_(options) {
    if (options.journal.empty() || options.work) return;
    const std::string digest = digest_of_request(trades, in, asked, options);
    const std::filesystem::path folder =
        std::filesystem::path(options.journal) / ("request-" + digest.substr(0, 16));
    options_.work = std::make_shared<kept::work>(
        std::make_shared<kept::store>(digest, folder, options.journal_block_seconds));
}

void with_journal::finish(run_manifest& manifest) const {
    if (!options_.work) return;
    kept::store& known = options_.work->known();
    known.flush();
    manifest.journal_blocks = known.blocks_taken();
    manifest.journal_damaged = known.damaged();
}

}  // namespace tilewalk::studies
