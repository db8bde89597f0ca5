// SPDX-License-Identifier: Apache-2.0
// Implements tilewalk::market of the public API: reading, sharing and changing a market.
#include "tilewalk/market.h"

#include <array>

#include "engine/base/text/document.h"
#include "engine/base/text/tree_value.h"
#include "engine/market/market_state.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/reading/market_changes.h"
#include "engine/reading/market_reader.h"
#include "engine/reading/written_market.h"
#include "tilewalk/error.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace {

market market_of(const config::document& read, const std::string& name, bool strict,
                 const std::filesystem::path& inside) {
    markets::market_state state = markets::read_market(read.root, inside);
    // After read_market, so that a file that is no market is not reported as cut short.
    if (strict) config::demand_end(read);
    state.name = name;
    state.hash = read.hash;
    return with_state<market>(std::make_shared<const markets::market_state>(std::move(state)));
}

const markets::written_market& source_of(const markets::market_state& state) {
    if (!state.source)
        throw error(error_kind::usage, "the market was not read from a file, so it has no keys");
    return *state.source;
}

market_number as_it_is(const markets::keyed_number& number, const markets::market_state& state) {
    const auto changed = state.changes.find(number.key);
    return {number.key, changed == state.changes.end() ? number.value : changed->second, number.unit};
}

void add_remarks(const std::string& name, const std::vector<std::string>& now,
                 const std::vector<std::string>* as_read, std::vector<std::string>& out) {
    for (const std::string& remark : now) out.push_back(name + ": " + remark);
    if (as_read == nullptr || *as_read == now) return;
    out.push_back(name + ": these remarks changed with the market: before there were " +
                  std::to_string(as_read->size()) + ", now there are " + std::to_string(now.size()));
}

}  // namespace

std::span<const market_key_form> market_key_forms() {
    static constexpr std::array forms{
        market_key_form{"`spot: 100`", "ACME.spot", "currency of the asset"},
        market_key_form{"`dividend_yield: 0.02`", "ACME.dividend_yield", "rate a year"},
        market_key_form{"`dividend_yield` as a curve", "ACME.dividend_yield@1y", "rate a year"},
        market_key_form{"`dividends`, an amount", "ACME.dividend@2026-06-01", "currency of the asset"},
        market_key_form{"`dividends`, a proportion", "ACME.dividend@2026-12-01", "share of the spot"},
        market_key_form{"`volatility: 0.2`", "ACME.volatility", "volatility"},
        market_key_form{"`volatility` by term", "ACME.volatility@0.5y", "volatility"},
        market_key_form{"`volatility` from scenarios", "ACME.volatility@0.5y",
                        "volatility, added to all numbers of the row that ends then"},
        market_key_form{"`surface`, by strike", "INDEX.volatility@0.5y,6000", "volatility"},
        market_key_form{"`surface`, by moneyness", "INDEX.volatility@0.5y,0.9", "volatility"},
        market_key_form{"`surface`, SVI", "INDEX.volatility@0.5y,rho", "parameter of SVI"},
        market_key_form{"`surface`, local", "INDEX.volatility@0.5y,6000", "volatility"},
        market_key_form{"`model` of an asset", "ACME.heston.sigma", "parameter of the model"},
        market_key_form{"`model`, by term", "ACME.rough_bergomi.xi@1y", "parameter of the model"},
        market_key_form{"`rate: 0.03`", "USD.rate", "rate a year"},
        market_key_form{"`zero_rates`", "EUR.rate@2027-01-15", "rate a year, by the day count of the curve"},
        market_key_form{"`discount_factors`", "EUR.rate@2027-01-15",
                        "rate a year: the zero rate, continuously compounded, ACT/365F"},
        market_key_form{"`model` of a currency", "USD.hull_white.volatility@1y", "parameter of the model"},
        market_key_form{"`volatility` of forward rates, a list", "USD.forward_market.volatility@1",
                        "parameter of the model; periods count from 1"},
        market_key_form{"`loadings` of forward rates", "USD.forward_market.loadings@3,1",
                        "parameter of the model; row and factor count from 1"},
        market_key_form{"`fx`, the rate", "EURUSD.rate", "USD for one EUR"},
        market_key_form{"`fx`, the volatility", "EURUSD.volatility", "volatility"},
        market_key_form{"`correlations`", "ACME|BETA.correlation", "correlation"},
        market_key_form{"`fixings`", "ACME.fixing@2026-01-02", "currency of the asset, or the rate"},
    };
    return forms;
}

market markets::load_market(const std::filesystem::path& file, bool strict,
                            const std::filesystem::path& inside) {
    return market_of(config::read_document(file, {}, inside), file.string(), strict, inside);
}

market market::load(const std::filesystem::path& file, const load_options& options) {
    const timings::during reading(options.times, stage::reading_market);
    const std::filesystem::path inside = options.confine ? config::folder_of_file(file) : "";
    return market_of(config::read_document(file), file.string(), options.strict, inside);
}

market market::parse(std::string_view yaml, const std::string& name, const load_options& options) {
    const timings::during reading(options.times, stage::reading_market);
    const std::filesystem::path inside = options.confine ? config::folder_of_file(name) : "";
    return market_of(config::read_document(yaml, name), name, options.strict, inside);
}

market market::from_value(const value& written, const std::string& name, const load_options& options) {
    load_options whole = options;
    whole.strict = false;  // a value in memory can't be cut short as a file can
    return parse(written.yaml(), name, whole);
}

std::vector<std::string> market::remarks() const {
    std::vector<std::string> out;
    for (const auto& [name, asset] : state_->assets) {
        const auto before = state_->remarks_as_read.find(name);
        add_remarks(name, models::model_of(asset).remarks(),
                    before == state_->remarks_as_read.end() ? nullptr : &before->second, out);
    }
    for (const auto& [name, model] : state_->rate_models) add_remarks(name, model->remarks(), nullptr, out);
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

std::vector<market_number> market::numbers() const {
    std::vector<market_number> out;
    for (const auto& number : source_of(*state_).numbers()) out.push_back(as_it_is(number, *state_));
    return out;
}

market_number market::number(std::string_view key) const {
    return as_it_is(source_of(*state_).find(key), *state_);
}

market market::shifted(std::string_view key, double by) const {
    const market_change only{std::string(key), by, market_change::way::shift};
    return changed({&only, 1});
}

market market::with(std::string_view key, double amount) const {
    const market_change only{std::string(key), amount, market_change::way::set};
    return changed({&only, 1});
}

market market::changed(std::span<const market_change> changes) const {
    source_of(*state_);
    return with_state<market>(
        std::make_shared<const markets::market_state>(markets::changed(*state_, changes)));
}

std::vector<market_number> market::changes() const {
    std::vector<market_number> out;
    for (const auto& [key, now] : state_->changes)
        out.push_back(as_it_is(source_of(*state_).find(key), *state_));
    return out;
}

value market::written() const {
    return config::value_of(source_of(*state_).whole(state_->changes));
}

}  // namespace tilewalk
