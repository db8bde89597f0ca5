// SPDX-License-Identifier: Apache-2.0
// Walks trades whose correlated moves are made ahead, one after another: the matrix kernel turns a chunk's
// shocks into the trade's moves, and its path kernel reads them instead of shocks. Shocks are all trades',
// moves are one trade's, so a few cubes of moves serve a run.
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

// Jobs as path kernels walk them: a job with moves made ahead has a program that reads them.
class separated_jobs {
  public:
    separated_jobs(std::span<const run::job> jobs, std::string_view setting, precision p);
    separated_jobs(const separated_jobs&) = delete;
    separated_jobs& operator=(const separated_jobs&) = delete;

    std::span<const run::job> jobs() const { return walked_; }
    std::span<const run::job> given() const { return given_; }
    // By another trade of the same program. The job must not be separated.
    void replace(std::size_t job, const run::job& by) { given_[job] = walked_[job] = by; }
    bool is_separated(std::size_t job) const { return from_[job] != nullptr; }
    // The job must be separated.
    program::move_numbers numbers(std::size_t job) const;

  private:
    std::vector<run::job> given_;
    std::map<const program::path_program*, std::optional<program::separated_moves>> by_code_;
    std::vector<const program::separated_moves*> from_;  // by job
    std::deque<program::path_data> data_;
    std::vector<run::job> walked_;
};

// The wish for a separated job's path kernel, with `slots` shocks a step.
kernel_wish wish_that_reads_moves(kernel_wish how, int slots);

// Work on a cube goes into one stream, so that moves stay until they are read. The two streams overlap.
class moves_cubes {
  public:
    static constexpr std::size_t count = 2;

    struct needs {
        cuda::precision precision = cuda::precision::double_;
        std::uint64_t rows = 0;  // steps times factors
        std::size_t numbers_bytes = 0;

        void add(std::size_t factors, std::size_t steps);
        std::size_t bytes_per_tile() const;
        std::size_t bytes_always() const { return count * numbers_bytes; }
    };

    moves_cubes(device& on, const needs& most, std::uint64_t tiles);

    // Makes one trade's moves in cube `which` and returns them for its path kernel. `correlate` is the best
    // variant's kernel; the trade's shocks begin in row `first_row` of their cube.
    kernels::array_argument make(std::size_t which, kernel correlate, const program::move_numbers& numbers,
                                 const kernels::array_argument& shocks, std::uint64_t first_row,
                                 std::uint64_t paths, stream s);

  private:
    struct cube {
        device_memory numbers, moves;
    };
    device& on_;
    precision precision_;
    std::uint64_t pitch_;  // elements
    std::vector<cube> cubes_;
};

}  // namespace tilewalk::cuda
