// SPDX-License-Identifier: Apache-2.0
// The trades that a path kernel is timed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/numerics/quasi/order.h"
#include "products/program/passes.h"
#include "products/program/precision.h"
#include "products/program/timeline.h"

namespace tilewalk::tuning {

// Trades of one shape: what one kernel walks.
struct workload {
    std::string name;  // "asian"; of a book "book.yaml: asian"
    program::precision precision = program::precision::double_;
    program::path_program code;
    struct trade {
        program::path_data data;
        program::timeline when;
    };
    std::vector<trade> trades;
    std::uint64_t paths = 0;                // enough to make the kernel long enough to time
    std::optional<quasi::points> points{};  // that its normals in arrays are; none: independent numbers

    std::size_t steps() const;         // those of the longest trade
    std::uint64_t path_steps() const;  // those of all trades, a path each
};

// Paths that make a kernel of so many path-steps a path long enough to time.
std::uint64_t paths_to_time(std::uint64_t path_steps);

}  // namespace tilewalk::tuning
