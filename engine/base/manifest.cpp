// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/manifest.h"

#include <algorithm>

#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"

namespace tilewalk {

std::string left_work::text() const {
    return work + " of " + report::counted(trades, "trade") + ": " + why;
}

std::string config::pairs_text(const std::vector<factor_pair>& pairs, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i)
        out += (i == 0 ? "" : ", ") + pairs[i].first + " and " + pairs[i].second;
    if (pairs.size() > most) out += " and " + std::to_string(pairs.size() - most) + " more";
    return out;
}

}  // namespace tilewalk
