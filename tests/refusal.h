// SPDX-License-Identifier: Apache-2.0
// Functions that return the error thrown by a call, as text or as an object.
#pragma once

#include <optional>
#include <string>

#include "tilewalk/error.h"

namespace tilewalk::tests {

inline const std::string nothing_refused = "nothing was refused";

template <class act>
std::string refusal(act&& does) {
    try {
        does();
    } catch (const error& e) {
        return e.what();
    }
    return nothing_refused;
}

template <class act>
std::optional<error> error_of(act&& does) {
    try {
        does();
    } catch (const error& e) {
        return e;
    }
    return {};
}

}  // namespace tilewalk::tests
