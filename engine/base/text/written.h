// SPDX-License-Identifier: Apache-2.0
// Writes a tree as YAML, which reads as the same tree, less comments and layout.
#pragma once

#include <string>

#include "engine/base/text/document.h"
#include "tilewalk/value.h"

namespace tilewalk::config {

// A mapping has its members and theirs one a line and all they hold in brackets, but for texts of several
// lines, which stand in blocks.
std::string written(const value& root);
std::string written(const node& root);
// In brackets, however long the line becomes.
std::string written_in_a_line(const value& root);
std::string written_in_a_line(const node& root);

}  // namespace tilewalk::config
