// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/options.h"

#include <string>
#include <vector>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk {

namespace {

template <choice type>
type choice_of_greeks(const std::string& what, const std::string& name) {
    if (const auto found = choice_named<type>(name)) return *found;
    const std::vector<std::string> names(choice_names<type>.begin(), choice_names<type>.end());
    throw error(error_kind::usage, "found the " + what + " of Greeks " + config::shown(name) +
                                       ", expected one of " + config::joined(names) +
                                       config::suggestion(name, names));
}

}  // namespace

greek_method greek_method_named(const std::string& name) {
    return choice_of_greeks<greek_method>("method", name);
}

greek_view greek_view_named(const std::string& name) {
    return choice_of_greeks<greek_view>("view", name);
}

}  // namespace tilewalk
