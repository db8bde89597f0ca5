// SPDX-License-Identifier: Apache-2.0
// Exchange rates with their volatilities, and a check that cross rates fit the rates they are crossed from.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/market/scenarios.h"
#include "engine/market/term_reader.h"
#include "engine/market/wording.h"
#include "engine/reading/market_parts.h"

namespace tilewalk::markets {
namespace {

using config::node;

constexpr double cross_tolerance = 0.01;

}  // namespace

void read_exchange_rate(const node::member& pair, market_so_far& into) {
    const auto currencies = into.split_pair(pair.key).value();
    const std::string &base = currencies.first, &quote = currencies.second;
    expect_mapping(pair.value, "a mapping with rate and volatility, such as {rate: 1.10, volatility: 0.1}");
    pair.value.only({"rate", "volatility"});
    fx_rate read{base, quote, read_positive(pair.value.at("rate"), "rate"), std::nullopt, pair.where()};
    if (const node* vol = pair.value.find("volatility")) {
        if (is_scenario_volatility(*vol)) {
            vol->fail("found scenarios for the volatility of the exchange rate " + pair.key +
                      ", which only an asset's can have; expected a volatility such as 0.1, or one "
                      "by term such as {0.5: 0.1, 2.0: 0.12}");
        }
        read.vol = read_volatility(*vol, into.market.as_of);
    }
    auto& all = into.market.fx;
    const auto known =
        std::ranges::find_if(all, [&](const fx_rate& r) { return r.base == base && r.quote == quote; });
    if (known == all.end())
        all.push_back(std::move(read));
    else
        *known = std::move(read);
}

void check_crosses(const node& fx, const market_state& market) {
    std::map<std::string, std::map<std::string, double>> rates;
    for (const fx_rate& pair : market.fx) {
        rates[pair.base][pair.quote] = pair.rate;
        rates[pair.quote][pair.base] = 1 / pair.rate;
    }
    for (std::size_t i = 0; i < market.fx.size(); ++i) {
        const fx_rate& pair = market.fx[i];
        for (const auto& [third, to_third] : rates[pair.base]) {
            const auto second = rates[third].find(pair.quote);
            if (third == pair.quote || second == rates[third].end()) continue;
            const double implied = to_third * second->second;
            if (std::abs(pair.rate / implied - 1) <= cross_tolerance) continue;
            fx.members()[i].value.at("rate").fail("found " + pair.base + pair.quote + " at " +
                                                  rounded(pair.rate) + ", but through " + third + " it is " +
                                                  rounded(implied) + "; expected them within 1 %");
        }
    }
}

}  // namespace tilewalk::markets
