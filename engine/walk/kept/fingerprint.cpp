// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/kept/fingerprint.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "engine/base/mixed.h"

namespace tilewalk::kept {

namespace {

// High half of the 128-bit product xor its low half, so that each bit of the factors affects all bits.
std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = 0xffffffff;
    const std::uint64_t a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
    const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const std::uint64_t other = a0 * b1 + (middle & low);
    return (a1 * b1 + (middle >> 32) + (other >> 32)) ^ (a * b);
}

}  // namespace

std::string key::text() const {
    std::array<char, 33> out{};
    std::snprintf(out.data(), out.size(), "%016llx%016llx", static_cast<unsigned long long>(first),
                  static_cast<unsigned long long>(second));
    return out.data();
}

// first_ is a folded product, which can be 0 by chance; second_ is a mixed sum, which no word can erase.
void fingerprint::add(std::uint64_t word) {
    first_ = folded(first_ ^ word, run::golden) + word;
    second_ = (second_ << 23 | second_ >> 41) + run::mixed(word ^ ++words_ * 0xd1342543de82ef95);
    second_ *= 0x2545f4914f6cdd1d;
}

void fingerprint::add(std::string_view text) {
    add(std::uint64_t{text.size()});
    add_bytes(text.data(), text.size());
}

void fingerprint::add(std::span<const double> numbers) {
    add(std::uint64_t{numbers.size()});
    add_bytes(numbers.data(), numbers.size_bytes());
}

void fingerprint::add_bytes(const void* from, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(from);
    for (; bytes >= 8; at += 8, bytes -= 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        add(word);
    }
    if (bytes == 0) return;
    std::uint64_t word = 0;
    std::memcpy(&word, at, bytes);
    add(word);
}

key fingerprint::found() const {
    return {run::mixed(first_ ^ second_ << 1 ^ words_), run::mixed(second_ + run::golden * first_)};
}

}  // namespace tilewalk::kept
