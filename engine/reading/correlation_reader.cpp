// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/correlation_check.h"
#include "engine/market/term_reader.h"
#include "engine/market/wording.h"
#include "engine/reading/market_parts.h"

namespace tilewalk::markets {
namespace {

using config::node;

std::string read_factor(const node& value, const market_so_far& into) {
    const std::string& name = value.text();
    if (into.market.assets.contains(name) || into.market.own_factors.contains(name) ||
        std::find(into.pair_names.begin(), into.pair_names.end(), name) != into.pair_names.end() ||
        std::find(into.rate_names.begin(), into.rate_names.end(), name) != into.rate_names.end()) {
        return name;
    }
    if (const auto pair = into.split_pair(name);
        pair && into.market.fx_pair(pair->first, pair->second).first) {
        value.fail("found '" + name + "', but the pair is quoted as " + pair->second + pair->first +
                   "; its correlations have the opposite sign");
    }
    std::vector<std::string> known = into.asset_names;
    known.insert(known.end(), into.pair_names.begin(), into.pair_names.end());
    known.insert(known.end(), into.rate_names.begin(), into.rate_names.end());
    for (const auto& [own, of] : into.market.own_factors) known.push_back(own);
    value.fail(unknown_name("asset or exchange rate", name, known));
}

void read_pairs(const node& correlations, market_so_far& into) {
    const std::string form = "a pair with its correlation, such as [ACME, BETA, 0.5]";
    expect_sequence(correlations,
                    "a list of correlations, such as [[ACME, BETA, 0.5]], or {complete: true, pairs: [...]}");
    std::map<std::pair<std::string, std::string>, location> given;
    for (const node& item : correlations.items()) {
        expect_sequence(item, form);
        if (item.items().size() != 3) {
            item.fail("found a list of " + std::to_string(item.items().size()) + ", expected " + form);
        }
        const std::string first = read_factor(item.items()[0], into),
                          second = read_factor(item.items()[1], into);
        if (first == second) {
            item.items()[1].fail("found " + first + " with itself, whose correlation is always 1; expected " +
                                 form);
        }
        const node& number = item.items()[2];
        const double rho = read_in_range(number, check_correlation);
        const std::pair<std::string, std::string> key = std::minmax(first, second);
        for (const auto& [own, asset] : {key, std::pair(key.second, key.first)}) {
            const auto of = into.market.own_factors.find(own);
            if (of == into.market.own_factors.end() || of->second.of != asset) continue;
            item.fail("found the correlation of " + own + " with " + asset + ", which its model says: " +
                      rounded(of->second.correlation) + "; expected one with another factor");
        }
        const auto one = into.market.own_factors.find(first), other = into.market.own_factors.find(second);
        if (one != into.market.own_factors.end() && other != into.market.own_factors.end() &&
            one->second.of == other->second.of) {
            item.fail("found the correlation of " + first + " with " + second +
                      ", which their model says: 0; expected one with another factor");
        }
        for (const std::string& name : {first, second}) {
            const auto of = into.market.own_factors.find(name);
            if (of == into.market.own_factors.end() || of->second.is_constant) continue;
            item.fail("found a correlation of " + name + ", whose correlation with " + of->second.of +
                      " changes with time; expected none with others");
        }
        const auto [place, is_new] = given.emplace(key, item.where());
        if (!is_new) {
            item.fail("found the correlation of " + first + " and " + second + " again, given first at " +
                      to_string(place->second) + "; expected each pair once");
        }
        into.market.correlations.emplace(key, rho);
    }
    if (const auto fault = fault_of_correlations(into.market)) correlations.fail(*fault);
}

}  // namespace

void read_correlations(const node& given, market_so_far& into) {
    into.market.correlations.clear();
    if (!given.is_mapping()) return read_pairs(given, into);
    given.only({"complete", "pairs"});
    if (const node* complete = given.find("complete")) into.market.has_all_correlations = complete->boolean();
    read_pairs(given.at("pairs"), into);
}

}  // namespace tilewalk::markets
