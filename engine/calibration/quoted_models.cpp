// SPDX-License-Identifier: Apache-2.0
#include "engine/calibration/quoted_models.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/wording.h"
#include "engine/market/wording.h"
#include "engine/reading/market_parts.h"
#include "engine/reading/written_market.h"

namespace tilewalk::calibrations {

using config::node;

std::vector<named_quotes> name_quotes(const node& calibrate) {
    const std::string such = "such as {ACME: {heston: {by_strike: {2027-01-15: {90: 0.24, 100: 0.22}}}}}";
    if (!calibrate.is_mapping()) {
        calibrate.fail("found " + calibrate.found() +
                       ", expected a mapping of assets and currencies to models with quotes, " + such);
    }
    if (calibrate.members().empty()) calibrate.fail("found nothing to calibrate, expected a mapping " + such);
    std::vector<std::string> known;
    for (const catalogue_entry& entry : catalogue()) known.emplace_back(entry.name);
    std::vector<named_quotes> out;
    for (const node::member& of : calibrate.members()) {
        if (!of.value.is_mapping()) {
            of.value.fail("found " + of.value.found() + ", expected a model with its quotes, one of " +
                          config::joined(known));
        }
        of.value.only(known);
        if (of.value.members().size() != 1) {
            of.value.fail("found " + std::to_string(of.value.members().size()) + " models, expected one of " +
                          config::joined(known));
        }
        const node::member& quotes = of.value.members().front();
        if (!quotes.value.is_mapping()) {
            quotes.value.fail("found " + quotes.value.found() + ", expected a mapping with the quotes of " +
                              quotes.key);
        }
        out.push_back({&of, &quotes, &*std::ranges::find(catalogue(), quotes.key, &catalogue_entry::name)});
    }
    return out;
}

std::vector<quoted_model> read_quoted_models(const std::vector<named_quotes>& all,
                                             const markets::market_state& market) {
    std::vector<quoted_model> out;
    for (const named_quotes& a : all) {
        std::vector<std::string> assets, currencies;
        for (const auto& [known, asset] : market.assets) assets.push_back(known);
        for (const auto& [known, curve] : market.currencies) currencies.push_back(known);
        const bool is_asset = a.model->what == fitted_part::asset;
        const std::vector<std::string>& known = is_asset ? assets : currencies;
        if (std::ranges::find(known, a.of->key) == known.end()) {
            const std::vector<std::string>& others = is_asset ? currencies : assets;
            if (std::ranges::find(others, a.of->key) != others.end()) {
                a.quotes->fail("found " + a.quotes->key + " for " + a.of->key + ", which is " +
                               (is_asset ? "a currency" : "an asset") + "; expected a model of " +
                               (is_asset ? "rates" : "assets"));
            }
            a.of->fail(markets::unknown_name(is_asset ? "asset" : "currency", a.of->key, known));
        }
        out.push_back(
            {a.of->key, a.model->what, a.model->read(a.quotes->value, {a.model->name, a.of->key, market})});
    }
    return out;
}

static const node* quotes_of(const markets::market_state& state) {
    return state.source ? state.source->root().find(markets::key_of_quotes) : nullptr;
}

bool keeps_quotes(const market& in) {
    return quotes_of(state_of(in)) != nullptr;
}

std::vector<fitted_numbers> follow_quotes(const market& in, const std::atomic<bool>* cancel,
                                          std::optional<fitted_part> only) {
    const markets::market_state& state = state_of(in);
    const node* const kept = quotes_of(state);
    if (kept == nullptr) {
        throw error(error_kind::usage, "found no '" + std::string(markets::key_of_quotes) +
                                           "' in the market" + (state.name.empty() ? "" : " " + state.name) +
                                           " for sensitivities to quotes, expected a market that 'tilewalk "
                                           "calibrate' wrote, which keeps its quotes");
    }
    std::vector<fitted_numbers> out;
    for (const quoted_model& m : read_quoted_models(name_quotes(*kept), state)) {
        if (only && m.what != *only) continue;
        const auto now = [&](const std::string& key) {
            const auto& numbers = state.source->numbers();
            if (std::ranges::find(numbers, key, &markets::keyed_number::key) == numbers.end()) {
                kept->fail("found quotes of " + m.of + " but not the number " + key +
                           ", which was fitted to them; expected a market as 'tilewalk calibrate' writes it, "
                           "unchanged");
            }
            return in.number(key).value;
        };
        std::ranges::move(m.fit->follow(now, cancel), std::back_inserter(out));
    }
    return out;
}

}  // namespace tilewalk::calibrations
