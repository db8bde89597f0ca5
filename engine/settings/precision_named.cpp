// SPDX-License-Identifier: Apache-2.0
#include "engine/settings/precision_named.h"

#include <algorithm>

#include "engine/config/wording.h"
#include "tilewalk/error.h"

namespace tilewalk {

program::precision precision_named(std::string_view name) {
    const auto known = program::precision_names();
    const auto at = std::ranges::find(known, name);
    if (at != known.end()) return static_cast<program::precision>(at - known.begin());
    throw error(error_kind::usage,
                "unknown precision " + config::shown(name) + config::alternatives(name, "known:", known));
}

}  // namespace tilewalk
