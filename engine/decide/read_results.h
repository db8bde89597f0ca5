// SPDX-License-Identifier: Apache-2.0
// Reads results from JSON and trusts nothing: each member must be known, there once, and of its type.
#pragma once

#include <string>
#include <vector>

#include "tilewalk/manifest.h"
#include "tilewalk/rows.h"

namespace tilewalk::report {

struct told_results {
    std::vector<price_row> rows;
    run_manifest manifest;
    std::vector<greek_row> greeks;
};
// Throws tilewalk::error (input) for malformed results. `name` names the text in messages.
told_results read_told_results(const std::string& json, const std::string& name);

}  // namespace tilewalk::report
