// SPDX-License-Identifier: Apache-2.0
// Programs after the passes, found by what was recorded: passes run once for all trades of a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "products/program/passes.h"
#include "products/program/program.h"

namespace tilewalk::plan {

// True if the passes make the same program of both.
bool is_same_program(const program::program& a, const program::program& b);

struct passed_program {
    program::program plain;                 // after all passes
    program::path_program with_logarithms;  // then comparing logarithms, and hoisted

    passed_program(const program::program& recorded, bool is_fast);
};

// Thread-safe.
class passed_programs {
  public:
    std::shared_ptr<const passed_program> passed(const program::program& recorded, bool is_fast);
    std::size_t size() const;

    // Limit on programs, which bounds the memory for a book of unlike trades.
    static constexpr std::size_t most = 1024;

  private:
    struct known {
        program::program recorded;
        bool is_fast;
        std::shared_ptr<const passed_program> passed;
    };
    std::shared_ptr<const passed_program> find(std::uint64_t key, const program::program& recorded,
                                               bool is_fast) const;

    mutable std::shared_mutex lock_;
    std::unordered_multimap<std::uint64_t, known> known_;  // by hash of `recorded`
};

}  // namespace tilewalk::plan
