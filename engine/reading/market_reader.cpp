// SPDX-License-Identifier: Apache-2.0
// Reads the sections of a market in an order in which each finds the names that it refers to.
#include "engine/reading/market_reader.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/market/term_reader.h"
#include "engine/market/wording.h"
#include "engine/models/world/stream_names.h"
#include "engine/reading/market_parts.h"
#include "engine/reading/simm_reader.h"
#include "engine/reading/written_market.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {
namespace {

using config::node;

void read_currencies(const node& currencies, market_so_far& into) {
    expect_mapping(currencies, "a mapping of currencies to curves, such as {USD: {rate: 0.03}}");
    if (currencies.members().empty()) currencies.fail("found no currencies, expected at least one");
    if (currencies.members().size() > bounds::currencies) {
        currencies.fail("found " + std::to_string(currencies.members().size()) +
                        " currencies, expected at most " + std::to_string(bounds::currencies));
    }
    for (const node::member& currency : currencies.members()) {
        const bool well_formed =
            currency.key.size() == 3 && std::all_of(currency.key.begin(), currency.key.end(),
                                                    [](char c) { return c >= 'A' && c <= 'Z'; });
        if (!well_formed) {
            currency.fail("found the currency " + config::shown(currency.key) +
                          ", expected three capital letters, such as USD");
        }
        read_currency(currency, into);
        into.currency_names.push_back(currency.key);
    }
}

void check_pair_name(const node::member& pair, const market_so_far& so_far) {
    const market_state& market = so_far.market;
    if (const auto currencies = so_far.split_pair(pair.key)) {
        const auto& [base, quote] = *currencies;
        if (!market.fx_pair(base, quote).first) return;
        pair.fail("found " + pair.key + " beside " + quote + base +
                  ", expected a pair of currencies to be quoted once");
    }
    // Report an unknown currency before other faults of the pair: a mistyped currency is likelier.
    for (const std::size_t half : {std::size_t{0}, std::size_t{3}}) {
        if (pair.key.size() != 6 || market.currencies.contains(pair.key.substr(half, 3))) continue;
        pair.fail("found the pair " + config::shown(pair.key) + ": " +
                  unknown_name("currency", pair.key.substr(half, 3), so_far.currency_names));
    }
    pair.fail("found the pair " + config::shown(pair.key) +
              ", expected six letters of two different currencies, such as EURUSD");
}

void read_fx(const node& fx, market_so_far& into) {
    expect_mapping(fx, "a mapping of pairs to rates, such as {EURUSD: {rate: 1.10, volatility: 0.1}}");
    for (const node::member& pair : fx.members()) {
        check_pair_name(pair, into);
        read_exchange_rate(pair, into);
        into.pair_names.push_back(pair.key);
    }
    check_crosses(fx, into.market);
}

void check_asset_name(const node::member& asset, const market_so_far& so_far) {
    const bool well_formed =
        !asset.key.empty() && asset.key.size() <= 64 &&
        std::all_of(asset.key.begin(), asset.key.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!well_formed) {
        asset.fail("found the asset name " + config::shown(asset.key) +
                   ", expected 1 to 64 visible ASCII characters without spaces");
    }
    if (so_far.split_pair(asset.key)) {
        asset.fail("found the asset name '" + asset.key +
                   "', which is a pair of currencies; exchange rates belong under fx");
    }
    if (std::ranges::find(so_far.rate_names, asset.key) != so_far.rate_names.end()) {
        asset.fail("found the asset name '" + asset.key +
                   "', which is what correlations call the rates of a currency; expected another "
                   "name");
    }
}

void read_assets(const node& assets, market_so_far& into) {
    expect_mapping(assets, "a mapping of names to assets, such as {ACME: {currency: USD, spot: 100}}");
    for (const node::member& member : assets.members()) {
        check_asset_name(member, into);
        read_asset(member, into);
        into.asset_names.push_back(member.key);
    }
    for (const node::member& member : assets.members()) {
        const auto own = into.market.own_factors.find(member.key);
        if (own == into.market.own_factors.end()) continue;
        member.fail("found the asset name '" + member.key +
                    "', which is what correlations call a factor of " + own->second.of +
                    "; expected another name");
    }
}

void read_past(const node& fixings, market_so_far& into) {
    expect_mapping(fixings,
                   "a mapping of assets or pairs to past values, such as {ACME: {2026-01-02: 99.5}}");
    for (const node::member& series : fixings.members()) {
        if (!into.market.assets.contains(series.key) && !into.split_pair(series.key)) {
            std::vector<std::string> known = into.asset_names;
            known.insert(known.end(), into.pair_names.begin(), into.pair_names.end());
            series.fail(unknown_name("asset or pair of currencies", series.key, known));
        }
        read_fixings(series, into);
    }
}

// Checks that quotes belong to assets or currencies of the market. They are read only if a study needs them.
void check_quotes(const node& quotes, const market_so_far& so_far) {
    expect_mapping(quotes,
                   "a mapping of assets and currencies to models with the quotes that they were fitted to, "
                   "as 'tilewalk calibrate' writes it");
    for (const node::member& of : quotes.members()) {
        const market_state& market = so_far.market;
        if (!market.assets.contains(of.key) && !market.currencies.contains(of.key)) {
            std::vector<std::string> known = so_far.asset_names;
            known.insert(known.end(), so_far.currency_names.begin(), so_far.currency_names.end());
            of.fail(unknown_name("asset or currency", of.key, known));
        }
        if (of.value.is_mapping() && of.value.members().size() == 1 &&
            of.value.members().front().value.is_mapping())
            continue;
        of.value.fail("found " + of.value.found() +
                      ", expected one model with its quotes, such as {heston: {quotes: [...]}}");
    }
}

}  // namespace

std::optional<std::pair<std::string, std::string>> market_so_far::split_pair(const std::string& pair) const {
    if (pair.size() != 6) return std::nullopt;
    const std::string base = pair.substr(0, 3), quote = pair.substr(3);
    if (base == quote || !market.currencies.contains(base) || !market.currencies.contains(quote)) {
        return std::nullopt;
    }
    return std::pair(base, quote);
}

market_state read_market(const node& root, const std::filesystem::path& inside,
                         const std::filesystem::path& folder) {
    if (!root.is_mapping()) {
        root.fail("found " + root.found_kind() +
                  ", expected a market: a mapping with as_of, currencies, assets, fx, correlations, fixings");
    }
    root.only({"as_of", "currencies", "assets", "fx", "correlations", "fixings", key_of_quotes, key_of_simm});
    market_so_far so_far;
    so_far.inside = inside;
    so_far.folder = folder;
    so_far.market.name = root.where().file;
    so_far.market.as_of = config::read_date(root.at("as_of"));
    read_currencies(root.at("currencies"), so_far);
    // Read exchange rates before assets, so that an asset can't take the name of a pair.
    if (const node* fx = root.find("fx")) read_fx(*fx, so_far);
    if (const node* assets = root.find("assets")) read_assets(*assets, so_far);
    const std::string fault = program::fault_of_keys(models::stream_names(so_far.market));
    if (!fault.empty()) root.fail("found the names " + fault);
    if (const node* correlations = root.find("correlations")) read_correlations(*correlations, so_far);
    if (const node* fixings = root.find("fixings")) read_past(*fixings, so_far);
    if (const node* quotes = root.find(key_of_quotes)) check_quotes(*quotes, so_far);
    read_simm(root, so_far.market);  // read here only to check it
    so_far.market.source = std::make_shared<const written_market>(root, so_far.market.as_of, inside, folder);
    return std::move(so_far.market);
}

}  // namespace tilewalk::markets
