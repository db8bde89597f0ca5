// SPDX-License-Identifier: Apache-2.0
// The numbers of all trades of a run, laid out for the device. kernels::trade_record points into them.
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

// A row of an array of the market.
struct scenario_row {
    std::uint32_t array = 0, row = 0;
    friend auto operator<=>(const scenario_row&, const scenario_row&) = default;
};

using program::number_type;

// Changes by trades that were put in the place of others.
struct packed_changes {
    std::vector<std::size_t> numbers;  // of these jobs, in order
    bool words = false, records = false;
};

struct packed_trades {
    std::vector<std::byte> numbers;
    std::size_t number_bytes = sizeof(double);  // of one number
    std::vector<kernels::word32> words;
    std::vector<scenario_row> scenarios;         // rows that any trade reads, each once
    std::vector<kernels::trade_record> records;  // by job
    std::size_t results = 0;                     // rows, as many for each job as its code has
    std::vector<std::optional<error>> failures;  // by job: why a GPU can't walk it

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

    // Puts a trade that was packed alone in the place of a job with the same code, later jobs after earlier
    // ones. Says false, and changes nothing, if it takes other room.
    bool replace(std::size_t job, const packed_trades& alone, packed_changes& told);
};

packed_trades pack(std::span<const run::job> jobs, number_type type, int threads = 1);

}  // namespace tilewalk::cuda
