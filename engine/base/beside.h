// SPDX-License-Identifier: Apache-2.0
// Work beside the caller's, in a thread of its own. If the system gives none, it waits until it is asked for.
#pragma once

#include <future>
#include <system_error>

namespace tilewalk::threads {

template <class Work>
auto beside(const Work& work) {
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, work);
    }
}

}  // namespace tilewalk::threads
