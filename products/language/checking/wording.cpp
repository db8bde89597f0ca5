// SPDX-License-Identifier: Apache-2.0
#include "products/language/checking/wording.h"

#include "products/language/product.h"

namespace tilewalk::language::checking {

void fail(const syntax& tree, place where, const std::string& message) {
    throw error(error_kind::input, message, {tree.file, where.line, where.column});
}

std::string in_quotes(std::string_view name) {
    return "'" + std::string(name) + "'";
}

std::string described(type t) {
    switch (t) {
        case type::number:
            return "a number";
        case type::truth:
            return "a condition (true or false)";
        case type::asset:
            return "an asset";
        case type::asset_list:
            return "a list of assets";
        case type::date:
            return "a date";
        case type::schedule:
            return "a schedule";
        case type::choice:
            return "a choice";
        case type::currency:
            return "a currency";
    }
    return "";
}

std::string suggestion_or_all(std::string_view wrong, const std::vector<std::string>& known,
                              const std::string& what) {
    const std::string near = suggestion(wrong, known);
    if (!near.empty()) return near;
    return known.empty() ? "; there are none" : "; known " + what + ": " + listed(wrong, known);
}

std::string behind(const std::string& meant, const std::string& known) {
    return (meant.empty() ? "; " : meant + " ") + known;
}

}  // namespace tilewalk::language::checking
