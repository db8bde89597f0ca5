// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/decided.h"

namespace tilewalk::decide {

decided_by_trade without_policies(decided_by_trade of) {
    for (auto& [trade, what] : of) what.policy.reset();
    return of;
}

}  // namespace tilewalk::decide
