// SPDX-License-Identifier: Apache-2.0
// Run options without control variates, for tests of the paths themselves: a control would hide errors of the
// paths, and prices some payoffs exactly.
#pragma once

#include "tilewalk/engine.h"

namespace tilewalk::tests {

inline run_options plain_paths() {
    run_options out;
    out.overrides.controls = technique::none;
    return out;
}

}  // namespace tilewalk::tests
