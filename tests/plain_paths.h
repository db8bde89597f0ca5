// SPDX-License-Identifier: Apache-2.0
// Options of a run without controls, for tests whose subject is the paths themselves: a control hides what
// paths do, and leaves exact what they have an error of.
#pragma once

#include "tilewalk/engine.h"

namespace tilewalk::tests {

inline run_options plain_paths() {
    run_options out;
    out.overrides.controls = technique::none;
    return out;
}

}  // namespace tilewalk::tests
