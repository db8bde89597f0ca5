// SPDX-License-Identifier: Apache-2.0
// The checker: finds the meaning of names and the types of expressions, and refuses senseless scripts.
#pragma once

#include "products/language/syntax.h"

namespace tilewalk::language {

// `tree` is the parser's, with its parameters filled in. Throws tilewalk::error (input) for a bad script.
void check(syntax& tree);

}  // namespace tilewalk::language
