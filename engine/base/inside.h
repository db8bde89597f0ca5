// SPDX-License-Identifier: Apache-2.0
// The inside of public values: the state that each of them keeps from its users.
#pragma once

#include <memory>
#include <utility>

namespace tilewalk {

// The friend of public values.
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

// Makes a value with this state.
template <class type, class state>
type with_state(std::shared_ptr<state> of) {
    return inside::with_state<type>(std::move(of));
}

}  // namespace tilewalk
