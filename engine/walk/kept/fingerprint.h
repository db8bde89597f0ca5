// SPDX-License-Identifier: Apache-2.0
// A hash of 128 bits over everything that a result depends on, the same on every machine. Equal fingerprints
// mean equal work. Collisions by chance are negligible; an adversary could construct them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilewalk::kept {

struct key {
    std::uint64_t first = 0, second = 0;
    friend auto operator<=>(const key&, const key&) = default;

    std::string text() const;  // 32 hexadecimal digits
};

class fingerprint {
  public:
    void add(std::uint64_t word);
    // Adds the length first, so that "ab", "c" and "a", "bc" give different fingerprints.
    void add(std::string_view text);
    void add(std::span<const double> numbers);
    template <class number>
    requires std::is_integral_v<number> || std::is_enum_v<number>
    void add(const std::vector<number>& numbers) {
        add(std::uint64_t{numbers.size()});
        for (const number n : numbers) add(static_cast<std::uint64_t>(n));
    }

    key found() const;

  private:
    void add_bytes(const void* from, std::size_t bytes);

    std::uint64_t first_ = 0x243f6a8885a308d3, second_ = 0x13198a2e03707344;  // digits of pi
    std::uint64_t words_ = 0;
};

}  // namespace tilewalk::kept
