// SPDX-License-Identifier: Apache-2.0
#include "engine/market/market_state.h"

#include <algorithm>

#include "engine/market/wording.h"
#include "products/language/nearest.h"

namespace tilewalk::markets {
namespace {

template <class Named>
const auto& find_named(const Named& in, const std::string& name, std::string_view what) {
    if (const auto found = in.find(name); found != in.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [known_name, value] : in) known.push_back(known_name);
    throw unknown_in_market(unknown_name(what, name, known), name);
}

}  // namespace

std::vector<arrays::shock_cube> market_state::scenario_cubes() const {
    std::vector<arrays::shock_cube> cubes;
    for (const scenario_array& a : scenarios) cubes.push_back(a.cube);
    return cubes;
}

const curve& market_state::discount_curve(const std::string& currency) const {
    return find_named(currencies, currency, "currency");
}

const asset& market_state::find_asset(const std::string& asset_name) const {
    return find_named(assets, asset_name, "asset");
}

std::pair<const fx_rate*, bool> market_state::fx_pair(const std::string& from, const std::string& to) const {
    for (const fx_rate& pair : fx) {
        if (pair.base == from && pair.quote == to) return {&pair, false};
        if (pair.base == to && pair.quote == from) return {&pair, true};
    }
    return {nullptr, false};
}

std::vector<fx_leg> market_state::fx_legs(const std::string& from, const std::string& to) const {
    discount_curve(from);
    discount_curve(to);
    if (from == to) return {};
    const auto quoted = [this](const std::string& a, const std::string& b) {
        const auto [pair, inverted] = fx_pair(a, b);
        return fx_leg{pair, inverted};
    };
    if (const fx_leg direct = quoted(from, to); direct.pair) return {direct};
    // `currencies` is sorted by name, so the answer does not depend on the order of the file.
    for (const auto& [third, discount] : currencies) {
        if (third == from || third == to) continue;
        const fx_leg first = quoted(from, third), second = quoted(third, to);
        if (first.pair && second.pair) return {first, second};
    }
    std::vector<std::string> known;
    for (const fx_rate& pair : fx) known.push_back(pair.base + pair.quote);
    throw error(error_kind::input, "no exchange rate from " + from + " to " + to +
                                       ", direct or through one third currency; the market quotes " +
                                       (known.empty() ? "none" : language::listed(from + to, known)));
}

double market_state::fx_spot(const std::string& from, const std::string& to) const {
    double rate = 1;
    for (const fx_leg& leg : fx_legs(from, to))
        rate = leg.inverted ? rate / leg.pair->rate : rate * leg.pair->rate;
    return rate;
}

double market_state::correlation(const std::string& a, const std::string& b) const {
    if (a == b) return 1;
    if (const auto found = correlations.find(std::minmax(a, b)); found != correlations.end())
        return found->second;
    if (const auto own = own_factors.find(a); own != own_factors.end()) {
        return own->second.correlation * correlation(own->second.of, b);
    }
    if (own_factors.contains(b)) return correlation(b, a);
    return 0;
}

bool market_state::states_correlation(const std::string& a, const std::string& b) const {
    if (a == b || correlations.contains(std::minmax(a, b))) return true;
    if (const auto own = own_factors.find(a); own != own_factors.end())
        return states_correlation(own->second.of, b);
    return own_factors.contains(b) && states_correlation(b, a);
}

bool market_state::has_correlations(const std::string& factor) const {
    return std::ranges::any_of(correlations, [&](const auto& given) {
        return given.first.first == factor || given.first.second == factor;
    });
}

}  // namespace tilewalk::markets
