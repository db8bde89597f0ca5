// SPDX-License-Identifier: Apache-2.0
// The result of each of several walks, over all tiles of the run.
#pragma once

#include <vector>

#include "engine/walk/tally.h"

namespace tilewalk::tests {

inline std::vector<kernels::tile_result> whole(const std::vector<run::tally>& walks) {
    std::vector<kernels::tile_result> out;
    for (const run::tally& t : walks) out.push_back(t.whole());
    return out;
}

}  // namespace tilewalk::tests
