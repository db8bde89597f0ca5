// SPDX-License-Identifier: Apache-2.0
// Access to the private state of public value types, for the engine alone.
#pragma once

#include <memory>
#include <utility>

namespace tilewalk {

// A friend of every public value type, through which the functions below read and make states.
struct inside {
    template <class type>
    static const auto& state_of(const type& whole) {
        return *whole.state_;
    }
    template <class type, class state>
    static type with_state(std::shared_ptr<state> of) {
        return type(std::move(of));
    }
};

template <class type>
const auto& state_of(const type& whole) {
    return inside::state_of(whole);
}

// Makes a public value that has this state.
template <class type, class state>
type with_state(std::shared_ptr<state> of) {
    return inside::with_state<type>(std::move(of));
}

}  // namespace tilewalk
