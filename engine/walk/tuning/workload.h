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

    std::size_t steps() const;         // the longest trade's
    std::uint64_t path_steps() const;  // for one path of all trades
};

std::uint64_t paths_to_time(std::uint64_t path_steps);

}  // namespace tilewalk::tuning
