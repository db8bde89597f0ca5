// SPDX-License-Identifier: Apache-2.0
// Gives every name of a script its meaning and every expression its type, and refuses what makes no sense.
#pragma once

#include "products/language/syntax.h"

namespace tilewalk::language {

// `tree` comes from the parser, with its parameters filled in. Throws tilewalk::error (input).
void check(syntax& tree);

}  // namespace tilewalk::language
