// SPDX-License-Identifier: Apache-2.0
// Mistakes that drawn_mistakes.py puts into a copy of the source: each is off, but for the one whose number
// the environment says. The copy keeps which of them a process has come by.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace tilewalk::drawn_mistake {

inline constexpr int most = 4096;
inline bool is_reached[most] = {};
inline const int chosen =
    std::getenv("TILEWALK_DRAWN") != nullptr ? std::atoi(std::getenv("TILEWALK_DRAWN")) : -1;

// Adds the numbers of those that were reached to a file, which other processes add to.
inline const struct at_exit {
    ~at_exit() {
        const char* const name = std::getenv("TILEWALK_REACHED");
        std::FILE* const file = name != nullptr ? std::fopen(name, "a") : nullptr;
        if (file == nullptr) return;
        std::string all;
        for (int k = 0; k < most; ++k)
            if (is_reached[k]) all += std::to_string(k) + "\n";
        std::fwrite(all.data(), 1, all.size(), file);
        std::fclose(file);
    }
} writer;

inline bool is_on(int number) {
    if (!is_reached[number]) is_reached[number] = true;  // many threads come by
    return number == chosen;
}

// Another value than the one that is right.
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
