// SPDX-License-Identifier: Apache-2.0
// Writes a tree as YAML that reads as the same tree; comments and layout are lost.
#pragma once

#include <string>

#include "engine/base/text/document.h"
#include "tilewalk/value.h"

namespace tilewalk::config {

// Writes members of the first three levels on lines of their own, and deeper values in brackets. Texts of
// several lines become blocks.
std::string written(const value& root);
std::string written(const node& root);
// Writes the tree in brackets on one line, however long.
std::string written_in_a_line(const value& root);
std::string written_in_a_line(const node& root);

}  // namespace tilewalk::config
