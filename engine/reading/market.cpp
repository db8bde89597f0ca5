// SPDX-License-Identifier: Apache-2.0
// The public market: a file or a text, read once and shared.
#include "tilewalk/market.h"

#include "engine/config/document.h"
#include "engine/market/market_state.h"
#include "engine/models/model.h"
#include "engine/models/rates.h"

namespace tilewalk {

namespace {

market market_of(const config::document& read, const std::string& name, bool strict,
                 const std::filesystem::path& inside) {
    markets::market_state state = markets::read_market(read.root, inside);
    // A market that is none is told so before one that is cut short.
    if (strict) config::demand_end(read);
    state.name = name;
    state.hash = read.hash;
    return market(std::make_shared<const markets::market_state>(std::move(state)));
}

}  // namespace

market markets::load_market(const std::filesystem::path& file, bool strict,
                            const std::filesystem::path& inside) {
    return market_of(config::read_document(file, {}, inside), file.string(), strict, inside);
}

market market::load(const std::filesystem::path& file, const load_options& options) {
    const std::filesystem::path inside = options.confine ? config::folder_of_file(file) : "";
    return market_of(config::read_document(file), file.string(), options.strict, inside);
}

market market::parse(std::string_view yaml, const std::string& name, const load_options& options) {
    const std::filesystem::path inside = options.confine ? config::folder_of_file(name) : "";
    return market_of(config::read_document(yaml, name), name, options.strict, inside);
}

std::vector<std::string> market::remarks() const {
    std::vector<std::string> out;
    const auto add = [&](const std::string& name, const auto& model) {
        if (!model) return;
        for (const std::string& remark : model->remarks()) out.push_back(name + ": " + remark);
    };
    for (const auto& [name, asset] : state_->assets) add(name, asset.model);
    for (const auto& [name, model] : state_->rate_models) add(name, model);
    return out;
}

std::vector<std::filesystem::path> market::files() const {
    std::vector<std::filesystem::path> out;
    if (!state_->hash.empty()) out.emplace_back(state_->name);
    for (const markets::scenario_array& a : state_->scenarios) out.emplace_back(a.name);
    return out;
}

std::string market::as_of() const {
    return dates::to_string(state_->as_of);
}

}  // namespace tilewalk
