// SPDX-License-Identifier: Apache-2.0
// The checker: gives every name of a script its meaning and every expression its type, and refuses scripts
// that make no sense.
#pragma once

#include "products/language/syntax.h"

namespace tilewalk::language {

// `tree` comes from the parser, with its parameters filled in. Throws tilewalk::error (input).
void check(syntax& tree);

}  // namespace tilewalk::language
