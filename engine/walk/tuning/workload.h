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
    std::string name;  // such as "asian", or "book.yaml: asian" from a book
    program::precision precision = program::precision::double_;
    program::path_program code;
    struct trade {
        program::path_data data;
        program::timeline when;
    };
    std::vector<trade> trades;
    std::uint64_t paths = 0;                // so many that a launch is long enough to time
    std::optional<quasi::points> points{};  // for normals from arrays; empty: independent numbers

    std::size_t steps() const;         // of the longest trade
    std::uint64_t path_steps() const;  // steps of all trades, on one path
};

std::uint64_t paths_to_time(std::uint64_t path_steps);

}  // namespace tilewalk::tuning
