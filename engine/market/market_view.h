// SPDX-License-Identifier: Apache-2.0
// A market as planning sees it; records which parts of the market a plan reads.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"

namespace tilewalk::markets {

class market_reads {
  public:
    using pair = std::pair<std::string, std::string>;

    std::set<std::string, std::less<>> assets, curves, rate_models, fixings, factors, own_factors;
    std::set<pair> fx_legs, correlations, stated_correlations, written_correlations;
    bool all_fx = false;

    // True if both markets give the same answer to every recorded read, so that a plan made in one fits the
    // other. Models are equal only if they are the same object. False if a read fails in one of the markets.
    bool are_alike(const market_state& a, const market_state& b) const;
};

class market_view {
  public:
    // `state` and `reads` must outlive the view.
    market_view(const market_state& state, market_reads* reads = nullptr)
        : as_of(state.as_of), name(state.name), state_(&state), reads_(reads) {}

    // Reads of these two are not recorded: every plan depends on as_of, and none depends on `name`.
    dates::date as_of;
    std::string_view name;

    const curve& discount_curve(const std::string& currency) const;
    const asset& find_asset(const std::string& asset_name) const;
    std::vector<fx_leg> fx_legs(const std::string& from, const std::string& to) const;
    double fx_spot(const std::string& from, const std::string& to) const;
    const std::vector<fx_rate>& fx() const;
    double correlation(const std::string& a, const std::string& b) const;
    bool states_correlation(const std::string& a, const std::string& b) const;
    bool has_correlations(const std::string& factor) const;
    bool writes_correlation(const std::pair<std::string, std::string>& pair) const;
    bool is_own_factor(const std::string& factor) const;
    // Null if the currency's rates are deterministic.
    const models::rate_model* rate_model(const std::string& currency) const;
    const std::vector<model_parameter>& rate_parameters(const std::string& currency) const;
    // The market on `day`: known for as_of and for the day that this market was rolled from, otherwise empty.
    std::optional<market_view> on(dates::date day) const;
    // When pricing on successive days: the day that this market was rolled from. Otherwise as_of.
    dates::date first_day() const;
    // Fixings of an asset or FX pair by day; null if there are none.
    const std::map<dates::date, double>* fixings(const std::string& of) const;

  private:
    const market_state* state_;
    market_reads* reads_;
};

}  // namespace tilewalk::markets
