// SPDX-License-Identifier: Apache-2.0
// Fingerprints of work: 128 bits over all that a number follows from. Two pieces of work with one fingerprint
// are the same work, whoever does it, on whatever machine. They tell chance differences apart, and are no
// defence against people who look for two with one.
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
    // Bytes with their number, so that no two lists run into each other.
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

    std::uint64_t first_ = 0x243f6a8885a308d3, second_ = 0x13198a2e03707344;  // of pi
    std::uint64_t words_ = 0;
};

}  // namespace tilewalk::kept
