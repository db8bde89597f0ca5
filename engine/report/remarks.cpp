// SPDX-License-Identifier: Apache-2.0
// The sentences of remarks on a run.
#include "tilewalk/remarks.h"

namespace tilewalk {

std::string remark_on_correlations(const std::vector<factor_pair>& missing) {
    const factor_pair& first = missing.at(0);
    return "the market states no correlation of " + pairs_text(missing) + ": taken as 0; [" + first.first +
           ", " + first.second + ", 0] under correlations says that it is meant";
}

}  // namespace tilewalk
