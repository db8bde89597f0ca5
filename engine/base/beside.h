// SPDX-License-Identifier: Apache-2.0
// Runs work in a thread of its own, or, if the system gives none, when the work's result is asked for.
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
