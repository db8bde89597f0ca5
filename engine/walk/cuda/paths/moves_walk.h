// SPDX-License-Identifier: Apache-2.0
// Trades whose correlated moves are made before their paths are walked. A matrix kernel turns a chunk's
// shocks into the moves of one trade, and the trade's path kernel reads these instead of shocks. Moves belong
// to one trade, so trades are walked one after another, and a few arrays of moves serve a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/walk/cuda/compile/correlation.h"
#include "engine/walk/cuda/compile/kernel_wish.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "kernels/arguments.h"
#include "products/program/moves.h"

namespace tilewalk::cuda {

// A run's jobs; those whose moves are made ahead ("separated") get programs that read moves.
class separated_jobs {
  public:
    separated_jobs(std::span<const run::job> jobs, std::string_view setting, precision p);
    separated_jobs(const separated_jobs&) = delete;
    separated_jobs& operator=(const separated_jobs&) = delete;

    std::span<const run::job> jobs() const { return walked_; }
    std::span<const run::job> given() const { return given_; }
    // Replaces a job by a trade of the same program. Not for separated jobs.
    void replace(std::size_t job, const run::job& by) { given_[job] = walked_[job] = by; }
    bool is_separated(std::size_t job) const { return from_[job] != nullptr; }
    // Drifts and roots of a separated job.
    program::move_numbers numbers(std::size_t job) const;

  private:
    std::vector<run::job> given_;
    std::map<const program::path_program*, std::optional<program::separated_moves>> by_code_;
    std::vector<const program::separated_moves*> from_;  // by job; null if the job is not separated
    std::deque<program::path_data> data_;
    std::vector<run::job> walked_;
};

// How to build the path kernel of a separated job that has `slots` shocks a step.
kernel_wish wish_that_reads_moves(kernel_wish how, int slots);

// Two arrays of moves. Each is used in one stream, so moves stay until they are read; the streams overlap.
class moves_cubes {
  public:
    static constexpr std::size_t count = 2;

    struct needs {
        cuda::precision precision = cuda::precision::double_;
        std::uint64_t rows = 0;  // most of any trade: steps times factors
        std::size_t numbers_bytes = 0;

        void add(std::size_t factors, std::size_t steps);
        std::size_t bytes_per_tile() const;
        std::size_t bytes_always() const { return count * numbers_bytes; }
    };

    moves_cubes(device& on, const needs& most, std::uint64_t tiles);

    // Computes one trade's moves into array `which`, for its path kernel. `correlate` is the kernel of
    // best_correlation_variant(); the trade's shocks begin at row `first_row` of `shocks`.
    kernels::array_argument make(std::size_t which, kernel correlate, const program::move_numbers& numbers,
                                 const kernels::array_argument& shocks, std::uint64_t first_row,
                                 std::uint64_t paths, stream s);

  private:
    struct cube {
        device_memory numbers, moves;
    };
    device& on_;
    precision precision_;
    std::uint64_t pitch_;  // elements from row to row
    std::vector<cube> cubes_;
};

}  // namespace tilewalk::cuda
