// SPDX-License-Identifier: Apache-2.0
// Switch for mistakes that drawn_mistakes.py puts into a copy of the sources: all are off but the one whose
// number the environment names. The file REACHED_MISTAKES records which of them a process has run through.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

namespace tilewalk::drawn_mistake {

inline constexpr int most = 4096;
inline const int chosen =
    std::getenv("DRAWN_MISTAKE") != nullptr ? std::atoi(std::getenv("DRAWN_MISTAKE")) : -1;

// A byte per mistake, mapped from a file that all processes share, because commands end without destructors.
inline volatile char* const reached = [] {
    static volatile char own[most] = {};
    const char* const name = std::getenv("REACHED_MISTAKES");
    const int file = name != nullptr ? ::open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ::ftruncate(file, most) != 0) return own;
    void* const shared = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return shared == MAP_FAILED ? own : static_cast<volatile char*>(shared);
}();

inline bool is_on(int number) {
    // Called by many threads, and during static initialisation, before `reached` is set.
    if (reached != nullptr && reached[number] == 0) reached[number] = 1;
    return number == chosen;
}

template <class value>
requires std::is_arithmetic_v<value> value other(int number, value right) {
    if (!is_on(number)) return right;
    if constexpr (std::is_same_v<value, bool>)
        return !right;
    else
        return static_cast<value>(right + 1);
}

template <class a, class b>
auto lesser(int number, const a& first, const b& second) {
    return is_on(number) ? std::max(first, second) : std::min(first, second);
}
template <class a, class b>
auto greater(int number, const a& first, const b& second) {
    return is_on(number) ? std::min(first, second) : std::max(first, second);
}

}  // namespace tilewalk::drawn_mistake
