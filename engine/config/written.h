// SPDX-License-Identifier: Apache-2.0
// The way back from a tree to YAML: what is written reads as the same tree, less comments and layout.
#pragma once

#include <string>

#include "engine/config/document.h"

namespace tilewalk::config {

// A mapping: its members and theirs one a line, what they hold in brackets.
std::string written(const node& root);
// In brackets, however long the line becomes.
std::string written_in_a_line(const node& value);

}  // namespace tilewalk::config
