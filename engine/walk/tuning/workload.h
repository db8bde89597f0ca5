// SPDX-License-Identifier: Apache-2.0
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

// Trades of one shape, which one kernel walks.
struct workload {
    std::string name;  // "asian"; from a book "book.yaml: asian"
    program::precision precision = program::precision::double_;
    program::path_program code;
    struct trade {
        program::path_data data;
        program::timeline when;
    };
    std::vector<trade> trades;
    std::uint64_t paths = 0;                // enough for a kernel that is long enough to time
    std::optional<quasi::points> points{};  // for normals in arrays; empty: independent numbers

    std::size_t steps() const;         // of the longest trade
    std::uint64_t path_steps() const;  // of all trades, for one path
};

// Paths that make a kernel long enough to time.
std::uint64_t paths_to_time(std::uint64_t path_steps);

}  // namespace tilewalk::tuning
