// SPDX-License-Identifier: Apache-2.0
// Gains in scenarios as bytes, bit for bit, for pickles between processes of one version.
#pragma once

#include <string>
#include <string_view>

#include "tilewalk/scenarios.h"

namespace tilewalk::python {

std::string archived(const scenario_results& of);
// Throws tilewalk::error (input) for bytes that archived() did not make.
scenario_results from_archive(std::string_view bytes);

}  // namespace tilewalk::python
