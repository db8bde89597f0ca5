// SPDX-License-Identifier: Apache-2.0
// Gains in scenarios as bytes, to the bit, for pickles between processes of one version.
#pragma once

#include <string>
#include <string_view>

#include "tilewalk/scenarios.h"

namespace tilewalk::python {

std::string archived(const scenario_results& of);
// Throws tilewalk::error (input) for bytes that are none of these.
scenario_results from_archive(std::string_view bytes);

}  // namespace tilewalk::python
