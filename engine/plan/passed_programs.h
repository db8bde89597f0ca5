// SPDX-License-Identifier: Apache-2.0
// Programs as the passes leave them, by what was recorded. Passes look at a program and not at its numbers,
// and trades of one shape are recorded as one program: they run for the first of these alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "products/program/passes.h"
#include "products/program/program.h"

namespace tilewalk::plan {

// Whether the passes make the same of both.
bool is_same_program(const program::program& a, const program::program& b);

struct passed_program {
    program::program plain;                 // after the list of passes
    program::path_program with_logarithms;  // the same compared by logarithms, and hoisted

    passed_program(const program::program& recorded, bool is_fast);
};

// May be used by many threads at once.
class passed_programs {
  public:
    // `is_fast`: for precision single_fast.
    std::shared_ptr<const passed_program> of(const program::program& recorded, bool is_fast);
    std::size_t size() const;

    // A book whose trades are all unlike each other keeps no more.
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
    std::unordered_multimap<std::uint64_t, known> known_;  // by a hash of what was recorded
};

}  // namespace tilewalk::plan
