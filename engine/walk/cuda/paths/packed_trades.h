// SPDX-License-Identifier: Apache-2.0
// The numbers of a run's trades in a GPU's layout. kernels::trade_record says where those of a trade are.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/walk/job.h"
#include "kernels/arguments.h"
#include "products/program/precision.h"
#include "tilewalk/error.h"

namespace tilewalk::cuda {

struct scenario_row {
    std::uint32_t array = 0, row = 0;
    friend auto operator<=>(const scenario_row&, const scenario_row&) = default;
};

using program::number_type;

struct packed_changes {
    std::vector<std::size_t> numbers;  // jobs whose numbers changed, in order
    bool words = false, records = false;
};

struct packed_trades {
    std::vector<std::byte> numbers;
    std::size_t number_bytes = sizeof(double);  // 4 or 8
    std::vector<kernels::word32> words;
    std::vector<scenario_row> scenarios;  // rows of scenarios that some trade reads, without repetition
    std::vector<kernels::trade_record> records;  // by job
    std::size_t results = 0;  // rows of results of all jobs: one for each output and crossed pair
    std::vector<std::optional<error>> failures;  // by job: why a GPU can't walk it; empty if it can

    std::span<const std::byte> numbers_of(std::size_t job) const {
        const std::size_t begin = records[job].numbers_at * number_bytes;
        const std::size_t end =
            job + 1 < records.size() ? records[job + 1].numbers_at * number_bytes : numbers.size();
        return std::span(numbers).subspan(begin, end - begin);
    }

    std::size_t bytes() const {
        return numbers.size() + words.size() * sizeof(kernels::word32) +
               records.size() * sizeof(kernels::trade_record);
    }

    // Replaces a job by a trade of the same program, packed alone. Jobs must be replaced in order. Returns
    // false, and changes nothing, if the trade takes a different amount of memory or reads scenarios.
    bool replace(std::size_t job, const packed_trades& alone, packed_changes& told);
};

packed_trades pack(std::span<const run::job> jobs, number_type type, int threads = 1);

}  // namespace tilewalk::cuda
