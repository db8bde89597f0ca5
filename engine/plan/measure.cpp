// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/measure.h"

#include <cmath>
#include <string>
#include <variant>

#include "tilewalk/error.h"

namespace tilewalk::plan {

double measure_of(const books::trade& t, const markets::market_state& in) {
    const std::string name = t.product->measure.empty() ? "notional" : t.product->measure;
    if (const auto said = t.args.find(name); said != t.args.end())
        if (const double* amount = std::get_if<double>(&said->second); amount != nullptr && *amount != 0)
            return std::abs(*amount);
    for (const language::parameter& p : t.product->parameters) {
        const auto said = t.args.find(p.name);
        if (said == t.args.end()) continue;
        if (p.type == language::parameter_type::asset)
            return in.find_asset(std::get<std::string>(said->second)).spot;
        if (p.type == language::parameter_type::asset_list)
            return in.find_asset(std::get<std::vector<std::string>>(said->second).front()).spot;
    }
    throw error(
        error_kind::input,
        "found a tolerance in basis points for a trade with neither a notional nor an asset, expected "
        "an amount",
        t.where, "tolerance");
}

}  // namespace tilewalk::plan
