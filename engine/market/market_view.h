// SPDX-License-Identifier: Apache-2.0
// A market as planning sees it: the questions that plans ask, each noted for callers that want to know which
// parts a plan has read.
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

// The reads of a plan: questions to a market that can be asked again.
class market_reads {
  public:
    using pair = std::pair<std::string, std::string>;

    std::set<std::string, std::less<>> assets, curves, rate_models, fixings, factors, own_factors;
    std::set<pair> fx_legs, correlations, stated_correlations, written_correlations;
    bool all_fx = false;

    // Whether every question has the same answer in both markets, so that a plan made in one is that of the
    // other. A model counts as the same only if it is the same object. False where a question has no answer.
    bool are_alike(const market_state& a, const market_state& b) const;
};

class market_view {
  public:
    // The market, and what takes the reads, outlive the view.
    market_view(const market_state& state, market_reads* reads = nullptr)
        : as_of(state.as_of), name(state.name), state_(&state), reads_(reads) {}

    // Every plan depends on the day. The name of the file is for errors, which no plan has.
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
    // Whether the market itself gives that pair, in this order of names.
    bool writes_correlation(const std::pair<std::string, std::string>& pair) const;
    bool is_own_factor(const std::string& factor) const;
    // Null where the rates of the currency do not move.
    const models::rate_model* rate_model(const std::string& currency) const;
    const std::vector<model_parameter>& rate_parameters(const std::string& currency) const;
    // The market as it was on that day, if it is known: of as_of, and of the day that it was rolled from.
    std::optional<market_view> on(dates::date day) const;
    // The day on which a trade that lives on was priced: as_of, or the day that the market was rolled from.
    dates::date first_day() const;
    // By day; null if there are none of that name.
    const std::map<dates::date, double>* fixings(const std::string& of) const;

  private:
    const market_state* state_;
    market_reads* reads_;
};

}  // namespace tilewalk::markets
