// SPDX-License-Identifier: Apache-2.0
// Writes a tree as YAML that reads as the same tree; comments and layout are lost.
#pragma once

#include <string>

#include "engine/base/text/document.h"
#include "tilewalk/value.h"

namespace tilewalk::config {

// Members of the first three levels get lines of their own, what they hold stands in brackets. Texts of
// several lines stand in blocks.
std::string written(const value& root);
std::string written(const node& root);
// In brackets, however long the line.
std::string written_in_a_line(const value& root);
std::string written_in_a_line(const node& root);

}  // namespace tilewalk::config
