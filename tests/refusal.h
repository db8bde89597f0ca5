// SPDX-License-Identifier: Apache-2.0
// The complaint of a call.
#pragma once

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

}  // namespace tilewalk::tests
