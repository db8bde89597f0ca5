// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/moved_markets.h"

#include "tilewalk/error.h"

namespace tilewalk::greeks {

namespace {

std::optional<market> moved(const market& in, const std::vector<std::string>& keys, double& by) {
    constexpr int most_halvings = 4;
    for (int i = 0; i <= most_halvings; ++i, by /= 2) {
        std::vector<market_change> changes;
        for (const std::string& key : keys) changes.push_back({key, by});
        try {
            return in.changed(changes);
        } catch (const error& e) {
            if (e.kind() != error_kind::input) throw;
        }
    }
    by = 0;
    return std::nullopt;
}

}  // namespace

moved_markets::moved_markets(const market& in, const std::vector<std::string>& keys, double by) {
    double above = by, below = -by;
    up = moved(in, keys, above);
    down = moved(in, keys, below);
    if (!up && !down) return;
    if (!up) up = in;
    if (!down) down = in;
    distance = above - below;
    is_central = above == -below;
}

}  // namespace tilewalk::greeks
