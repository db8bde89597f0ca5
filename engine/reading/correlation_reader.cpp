// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
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
    const auto& own_factors = into.market.own_factors;
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
        const auto one = own_factors.find(first), other = own_factors.find(second), none = own_factors.end();
        for (const auto& [own, asset] : {std::pair(one, &second), std::pair(other, &first)}) {
            if (own == none || own->second.of != *asset) continue;
            item.fail("found the correlation of " + own->first + " with " + *asset +
                      ", which its model sets to " + rounded(own->second.correlation) +
                      "; leave this pair out");
        }
        if (one != none && other != none && one->second.of == other->second.of) {
            item.fail("found the correlation of " + first + " with " + second +
                      ", which their model sets to 0; leave this pair out");
        }
        for (const auto& own : {one, other}) {
            if (own == none || own->second.is_constant) continue;
            item.fail("found a correlation of " + own->first + ", whose correlation with " + own->second.of +
                      " changes with time; expected no other correlation of " + own->first);
        }
        if (!into.market.correlations.emplace(key, rho).second) {
            const auto before = std::ranges::find_if(correlations.items(), [&](const node& given) {
                const auto [one_name, other_name] =
                    std::minmax(given.items()[0].text(), given.items()[1].text());
                return one_name == key.first && other_name == key.second;
            });
            item.fail("found the correlation of " + first + " and " + second + " again, given first at " +
                      to_string(before->where()) + "; expected each pair once");
        }
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
