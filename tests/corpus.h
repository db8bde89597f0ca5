// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of hostile files and of mutated files: the form of a refusal, the memory a case may
// allocate, and random numbers that are pure functions of a counter.
//
// corpus_hostile_test.cpp replaces operator new for all of its program.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reading/book_state.h"
#include "tilewalk/engine.h"
#include "tilewalk/printable.h"

namespace tilewalk::corpus {

// Counts allocated bytes. `take` is not inlined, or the compiler would report a mismatch of free and new.
struct counted_memory {
    std::atomic<std::int64_t> live{0}, most{0};
    [[gnu::noinline]] void* take(std::size_t bytes) {
        void* const at = std::malloc(bytes == 0 ? 1 : bytes);
        if (at == nullptr) throw std::bad_alloc();
        const auto now = live += static_cast<std::int64_t>(malloc_usable_size(at));
        for (std::int64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        return at;
    }
    [[gnu::noinline]] void give(void* at) {
        if (at == nullptr) return;
        live -= static_cast<std::int64_t>(malloc_usable_size(at));
        std::free(at);
    }
};
inline counted_memory& memory() {
    static counted_memory counted;
    return counted;
}

class memory_watch {
  public:
    memory_watch() : before_(memory().live) { memory().most = before_; }
    std::int64_t most() const { return memory().most - before_; }

  private:
    std::int64_t before_;
};
inline constexpr std::int64_t most_memory = std::int64_t{96} << 20;

// The k-th pseudo-random number of a seed, by the finaliser of splitmix64.
inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t k) {
    std::uint64_t z = (seed * 0x9e3779b97f4a7c15U) ^ ((k + 1) * 0xd1342543de82ef95U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}
class draws {
  public:
    explicit draws(std::uint64_t seed) : seed_(seed) {}
    // A random number from 0 to `many` - 1.
    std::size_t below(std::size_t many) {
        return many == 0 ? 0 : static_cast<std::size_t>(mixed(seed_, count_++) % many);
    }
    template <class list>
    const auto& one_of(const list& from) {
        return from[below(std::size(from))];
    }

  private:
    std::uint64_t seed_, count_ = 0;
};

inline std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("no file " + file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Longest message allowed, in bytes: messages shorten lists of names and texts of the file.
inline constexpr std::size_t longest_message = 1500;

inline bool is_printable(std::string_view text) {
    return printable(text) == text;
}

// Says what is wrong with a refusal: its kind, its words, its place or its length; empty if nothing is.
inline std::string fault_of(const error& e, bool needs_place = true) {
    const std::string said = "\n  refused: " + std::string(e.what());
    if (e.kind() != error_kind::input && e.kind() != error_kind::io && e.kind() != error_kind::numeric)
        return "a refusal of a kind that no input has" + said;
    if (e.message().empty()) return "a refusal without words" + said;
    if (e.message().size() > longest_message)
        return "a message of " + std::to_string(e.message().size()) + " bytes" + said;
    if (!is_printable(e.what())) return "a message that a terminal may obey: " + printable(e.what());
    if (needs_place && e.where().line < 1) return "a refusal without a line" + said;
    return "";
}

// Settings with few paths and one thread, enough to see that figures are finite and to compare bits.
inline run_options few_paths() {
    run_options asked;
    asked.overrides.paths = 256;
    asked.overrides.seed = 7;
    asked.overrides.threads = 1;
    asked.overrides.device = "cpu";
    asked.overrides.precision = precision::double_;
    return asked;
}

// Says what is wrong with a row of results; empty if nothing is.
inline std::string fault_of(const price_row& row) {
    if (row.status == trade_status::failed) {
        if (row.kind == error_kind::internal) return row.trade + ": an internal error: " + row.message;
        if (row.message.empty()) return row.trade + ": failed without words";
        if (row.message.size() > longest_message)
            return row.trade + ": a message of " + std::to_string(row.message.size()) +
                   " bytes: " + row.message;
        if (!is_printable(row.message)) return row.trade + ": a message that a terminal may obey";
        if (row.where.line < 1) return row.trade + ": failed without a line: " + row.message;
        return "";
    }
    if (!std::isfinite(row.price) || !std::isfinite(row.value()))
        return row.trade + ": priced at a value that is not finite";
    if (row.has_error() && (!std::isfinite(row.standard_error) || row.standard_error < 0))
        return row.trade + ": a standard error that is none";
    for (const std::string& remark : row.remarks) {
        if (remark.empty() || remark.size() > longest_message || !is_printable(remark))
            return row.trade + ": a remark that nobody can read: " + printable(remark);
    }
    return "";
}

}  // namespace tilewalk::corpus
