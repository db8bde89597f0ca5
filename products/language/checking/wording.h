// SPDX-License-Identifier: Apache-2.0
// Error messages about a script, and their phrases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "products/language/nearest.h"
#include "products/language/syntax.h"

namespace tilewalk::language::checking {

// Throws tilewalk::error (input) with the location `where` in the script.
[[noreturn]] void fail(const syntax& tree, place where, const std::string& message);

std::string in_quotes(std::string_view name);
std::string described(type t);
std::string suggestion_or_all(std::string_view wrong, const std::vector<std::string>& known,
                              const std::string& what);
// Joins a suggestion, which may be empty, and the list of known names.
std::string behind(const std::string& meant, const std::string& known);

}  // namespace tilewalk::language::checking
