// SPDX-License-Identifier: Apache-2.0
// Turns a file of quotes, which is a market plus `calibrate:`, into that market with fitted models.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/base/inside.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/text/document.h"
#include "engine/base/text/written.h"
#include "engine/base/wording.h"
#include "engine/base/written_json.h"
#include "engine/calibration/quoted_models.h"
#include "engine/market/market_state.h"
#include "engine/reading/market_parts.h"
#include "engine/reading/market_reader.h"
#include "tilewalk/printable.h"

namespace tilewalk {

namespace calibrations {

using config::node;

struct quotes_state {
    node root;  // the market, without `calibrate:`
    node calibrate;
    std::filesystem::path inside;  // folder that the market's files must lie in; empty: any
    markets::market_state market;
    std::vector<quoted_model> models;
};

namespace {

const char* section_of(fitted_part what) {
    return what == fitted_part::asset ? "assets" : "currencies";
}

template <class Change>
node changed(const node& root, fitted_part what, const std::string& name, Change change) {
    const node* const section = root.find(section_of(what));
    if (section == nullptr || !section->is_mapping()) return root;
    const node* const of = section->find(name);
    if (of == nullptr || !of->is_mapping()) return root;
    return root.with(section_of(what), section->with(name, change(*of)));
}

node unmoved(const node& of) {
    return of.without("model").without("volatility");
}

node parsed(const std::string& text) {
    return config::parse(text, "what calibration wrote");
}

// Makes paths of files absolute, since the fitted market may be written to another folder than the quotes.
node with_whole_paths(const node& root) {
    const node* const assets = root.find("assets");
    if (assets == nullptr) return root;
    node made = root;
    for (const node::member& asset : assets->members()) {
        const node* const volatility = asset.value.find("volatility");
        if (volatility == nullptr || !volatility->is_mapping()) continue;
        const node* const file = volatility->find("scenarios");
        if (file == nullptr) continue;
        const auto folder = std::filesystem::path(file->where().file).parent_path();
        const auto whole = std::filesystem::absolute(folder / file->text()).lexically_normal();
        const node name = parsed("[" + report::json_string(whole.string()) + "]").items().front();
        made = changed(made, fitted_part::asset, asset.key, [&](const node& of) {
            return of.with("volatility", volatility->with("scenarios", name));
        });
    }
    return made;
}

std::string sentence(const model_fit& fit) {
    std::string out = fit.of + ", " + fit.model + (fit.part.empty() ? "" : " " + fit.part) + ": " +
                      report::counted(fit.quotes.size(), "quote") + ", root mean square of the " + fit.unit +
                      " differences " + report::significant(fit.root_mean_square, 3);
    if (!fit.has_converged) out += ", NOT CONVERGED";
    if (fit.is_at_bound()) out += ", STOPPED AT A BOUND";
    if (fit.has_arbitrage) out += ", WITH ARBITRAGE";
    return out;
}

}  // namespace

std::shared_ptr<const quotes_state> read_quotes(const config::document& read, const std::string& name,
                                                const load_options& options) {
    const node& root = read.root;
    if (!root.is_mapping()) {
        root.fail("found " + root.found_kind() +
                  ", expected a market with what to calibrate: a mapping with as_of, "
                  "currencies, assets, calibrate");
    }
    root.only({"as_of", "currencies", "assets", "fx", "correlations", "fixings", "calibrate"});
    auto made = std::make_shared<quotes_state>();
    made->calibrate = root.at("calibrate");
    const std::vector<named_quotes> all = name_quotes(made->calibrate);
    made->root = with_whole_paths(root.without("calibrate"));
    // Leaves out correlations, which may name factors of models that are not fitted yet.
    node still = made->root.without("correlations");
    for (const named_quotes& a : all) still = changed(still, a.model->what, a.of->key, unmoved);
    if (options.strict) config::demand_end(read);
    if (options.confine) made->inside = config::folder_of_file(name);
    made->market = markets::read_market(still, made->inside);
    made->market.name = name;
    made->models = read_quoted_models(all, made->market);
    return made;
}

}  // namespace calibrations

market_quotes market_quotes::load(const std::filesystem::path& file, const load_options& options) {
    return market_quotes(calibrations::read_quotes(config::read_document(file), file.string(), options));
}

market_quotes market_quotes::parse(std::string_view yaml, const std::string& name,
                                   const load_options& options) {
    return market_quotes(calibrations::read_quotes(config::read_document(yaml, name), name, options));
}

bool model_fit::is_at_bound() const {
    return std::ranges::any_of(
        parameters, [](const fitted_parameter& p) { return p.is == fitted_parameter::state::at_bound; });
}

bool calibration::is_sound() const {
    return std::ranges::all_of(fits, [](const model_fit& f) { return f.is_sound(); });
}

calibration calibrate(const market_quotes& to, const std::atomic<bool>* cancel) {
    const calibrations::quotes_state& state = state_of(to);
    calibration made;
    made.as_of = dates::to_string(state.market.as_of);
    config::node root = state.root;
    std::string header = "# Written by tilewalk calibrate from " + printable(state.market.name) + ".\n";
    for (const auto& item : state.models) {
        calibrations::outcome found = item.fit->fit(cancel);
        const config::node model = calibrations::parsed(found.model);
        root = calibrations::changed(root, item.what, item.of, [&](const config::node& of) {
            return calibrations::unmoved(of).with("model", model);
        });
        for (model_fit& fit : found.fits) {
            header += "# " + calibrations::sentence(fit) + "\n";
            made.fits.push_back(std::move(fit));
        }
    }
    root = root.with(markets::key_of_quotes, state.calibrate);
    // Checks that the rest of the market, such as correlations of factors, agrees with the fitted models.
    markets::read_market(root, state.inside);
    made.market = header + config::written(root);
    return made;
}

}  // namespace tilewalk
