// SPDX-License-Identifier: Apache-2.0
// The parser turns tokens into the tree of a script: its shape, but not yet its meaning.
#pragma once

#include <string_view>

#include "products/language/syntax.h"

namespace tilewalk::language {

// Throws tilewalk::error (input). Nesting is bounded, so that walking the tree needs little stack.
syntax parse(std::string_view source, const location& origin);

expression parse_expression(std::string_view source, const location& origin);

}  // namespace tilewalk::language
