// SPDX-License-Identifier: Apache-2.0
#include "engine/settings/precision_named.h"

#include "engine/config/wording.h"
#include "tilewalk/error.h"

namespace tilewalk {

program::precision precision_named(std::string_view name) {
    for (const program::precision_traits& of : program::precision_table)
        if (of.name == name) return of.is;
    throw error(error_kind::usage, "unknown precision " + config::shown(name) +
                                       config::alternatives(name, "known:", program::precision_names()));
}

}  // namespace tilewalk
