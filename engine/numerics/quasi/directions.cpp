// SPDX-License-Identifier: Apache-2.0
#include "engine/numerics/quasi/directions.h"

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

#include "engine/numerics/quasi/table_file.h"
#include "tilewalk/error.h"

namespace tilewalk::quasi {

namespace {

using kernels::word32;

constexpr int most_degree = 18;

// The bits of the table file, which follow the licence at its head (see make_directions.py).
class table_bits {
  public:
    explicit table_bits(std::string_view text) {
        constexpr std::string_view digits =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::array<signed char, 256> values{};
        values.fill(-1);
        for (std::size_t i = 0; i < digits.size(); ++i)
            values[static_cast<unsigned char>(digits[i])] = static_cast<signed char>(i);
        const std::size_t head = text.find("DAMAGE.\n\n");
        if (head == std::string_view::npos) fail();
        for (const char c : text.substr(head + 9)) {
            if (c == '\n') continue;
            const int value = values[static_cast<unsigned char>(c)];
            if (value < 0) fail();
            digits_.push_back(static_cast<char>(value));
        }
    }
    word32 take_bits(int count) {
        word32 out = 0;
        for (int i = 0; i < count; ++i, ++at_) {
            if (at_ / 6 >= digits_.size()) fail();
            out = out << 1 | word32(digits_[at_ / 6] >> (5 - at_ % 6) & 1);
        }
        return out;
    }
    bool is_used_up() const { return at_ + 6 > 6 * digits_.size(); }
    [[noreturn]] static void fail() {
        throw error(error_kind::internal, "the table of direction numbers is damaged");
    }

  private:
    std::vector<char> digits_;
    std::size_t at_ = 0;
};

// Primitive polynomials over GF(2): modulo one, powers of x run through all 2^degree - 1 nonzero remainders.
std::vector<word32> primitive_polynomials(int degree) {
    const word32 top = word32{1} << degree, order = top - 1;
    std::vector<word32> factors;
    word32 rest = order;
    for (word32 f = 2; f * f <= rest; ++f) {
        if (rest % f != 0) continue;
        factors.push_back(f);
        while (rest % f == 0) rest /= f;
    }
    if (rest > 1) factors.push_back(rest);
    const auto product = [&](word32 a, word32 b, word32 polynomial) {
        word32 out = 0;
        for (; b != 0; b >>= 1) {
            if ((b & 1) != 0) out ^= a;
            a <<= 1;
            if ((a & top) != 0) a ^= polynomial;
        }
        return out;
    };
    const auto power_of_x = [&](word32 exponent, word32 polynomial) {
        word32 out = 1, base = degree == 1 ? 1 : 2;  // x, which is 1 modulo x + 1
        for (; exponent != 0; exponent >>= 1) {
            if ((exponent & 1) != 0) out = product(out, base, polynomial);
            base = product(base, base, polynomial);
        }
        return out;
    };
    std::vector<word32> out;
    for (word32 polynomial = top + 1; polynomial < 2 * top; polynomial += 2) {
        bool is_primitive = power_of_x(order, polynomial) == 1;
        for (const word32 f : factors)
            if (is_primitive && power_of_x(order / f, polynomial) == 1) is_primitive = false;
        if (is_primitive) out.push_back(polynomial);
    }
    return out;
}

class growing_table {
  public:
    growing_table() {
        numbers_.reserve(std::size_t{most_dimensions} * bits);
        for (int b = 0; b < bits; ++b) numbers_.push_back(word32{1} << b);  // the index's digits, mirrored
        first_ = numbers_.data();
        known_ = 1;
    }
    std::span<const word32> first(std::uint32_t dimensions) {
        if (known_.load(std::memory_order_acquire) < dimensions) grow(dimensions);
        return {first_, std::size_t{known_.load(std::memory_order_acquire)} * bits};
    }

  private:
    static constexpr int bits = kernels::bits_of_index;

    void grow(std::uint32_t dimensions) {
        const std::lock_guard guard(lock_);
        std::uint32_t known = known_;
        for (; known < dimensions; ++degree_) {
            if (degree_ > most_degree)
                throw error(error_kind::internal, "Sobol points have no such dimension");
            for (const word32 polynomial : primitive_polynomials(degree_)) {
                add(degree_, polynomial);
                ++known;
            }
        }
        if (degree_ > most_degree && (known != most_dimensions || !table_.is_used_up())) table_bits::fail();
        known_.store(known, std::memory_order_release);
    }
    void add(int degree, word32 polynomial) {
        std::array<word32, bits> v{};  // the first digit is the highest bit
        const auto at = [&](int b) -> word32& { return v[static_cast<std::size_t>(b)]; };
        for (int b = 0; b < degree; ++b) at(b) = (table_.take_bits(b) << 1 | 1) << (31 - b);
        for (int b = degree; b < bits; ++b) {
            at(b) = at(b - degree) ^ at(b - degree) >> degree;
            for (int k = 1; k < degree; ++k)
                if ((polynomial >> (degree - k) & 1) != 0) at(b) ^= at(b - k);
        }
        for (const word32 x : v) numbers_.push_back(kernels::reversed(x));
    }

    std::mutex lock_;
    table_bits table_{table_files().front().text};
    int degree_ = 1;  // degree of the next polynomials
    std::vector<word32> numbers_;
    const word32* first_ = nullptr;
    std::atomic<std::uint32_t> known_{0};
};

}  // namespace

std::span<const word32> directions(std::uint32_t dimensions) {
    static growing_table all;
    return all.first(dimensions);
}

}  // namespace tilewalk::quasi
