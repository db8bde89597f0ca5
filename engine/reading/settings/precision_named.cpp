// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/settings/precision_named.h"

#include "engine/base/wording.h"
#include "products/program/precision.h"
#include "tilewalk/error.h"

namespace tilewalk {

precision precision_named(std::string_view name) {
    if (const auto found = choice_named<precision>(name)) return *found;
    throw error(error_kind::usage, "unknown precision " + config::shown(name) +
                                       config::alternatives(name, "known:", program::precision_names()));
}

}  // namespace tilewalk
