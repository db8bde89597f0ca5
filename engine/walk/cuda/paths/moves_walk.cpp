// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/moves_walk.h"

#include <algorithm>

#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/random/random_source.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

namespace {

using program::real_type;
using program::shock_type;

// The largest ring in shared memory that is chosen by default. Every device of compute capability 8.0 or
// later has this much besides the payoffs, and two such blocks fit on an H100's multiprocessor.
constexpr std::uint64_t most_ring_bytes = 88 * 1024;

std::uint64_t pitch_of(std::uint64_t tiles, precision p) {
    return random::padded_paths(tiles * kernels::paths_per_tile, real_type(p));
}

// A path kernel reads moves, uniforms and scenarios as one type. In mixed, moves are double and the others
// are not, so a program that also reads uniforms or scenarios keeps the matrix product in its path kernel.
std::optional<program::separated_moves> separated(const program::path_program& code, std::string_view setting,
                                                  precision p) {
    if (!makes_moves_ahead(setting, static_cast<std::size_t>(code.normals_per_step), p)) return std::nullopt;
    const bool reads_more = code.uniforms_per_step > 0 || code.scenarios_per_step > 0;
    if (shock_type(p) != real_type(p) && reads_more) return std::nullopt;
    return program::separate_moves(code);
}

}  // namespace

separated_jobs::separated_jobs(std::span<const run::job> jobs, std::string_view setting, precision p)
    : given_(jobs.begin(), jobs.end()), walked_(jobs.begin(), jobs.end()) {
    for (run::job& job : walked_) {
        auto known = by_code_.find(job.code);
        if (known == by_code_.end()) {
            known = by_code_.emplace(job.code, separated(*job.code, setting, p)).first;
        }
        const program::separated_moves* moves = known->second ? &*known->second : nullptr;
        from_.push_back(moves);
        if (moves == nullptr) continue;
        job.code = &moves->code;
        job.data = &data_.emplace_back(program::data_of_code(*moves, *job.data));
    }
}

program::move_numbers separated_jobs::numbers(std::size_t job) const {
    return program::numbers_of_moves(*from_[job], *given_[job].data);
}

kernel_wish wish_that_reads_moves(kernel_wish how, int slots) {
    // All that the kernel reads has the type of the states.
    if (real_type(how.precision) == program::number_type::double_) how.precision = precision::double_;
    // Moves are made in plain device memory, wherever shocks are.
    if (space_named(how.space).lives_in != residence::memory) how.space = kernel_basis().space;
    if (reads_shocks(how)) return how;
    how.reads_shocks = true;
    const bool is_told = how.feed.has_value();
    how.feed.reset();
    const kernel_decision narrow = with_presets(how);
    const bool is_too_large = feed_shared_bytes(narrow, slots) > most_ring_bytes;
    if (is_too_large) {
        how.feed = "none";
    } else if (is_told) {
        how.feed = narrow.feed;
    }
    return how;
}

void moves_cubes::needs::add(std::size_t factors, std::size_t steps) {
    rows = std::max<std::uint64_t>(rows, steps * factors);
    numbers_bytes =
        std::max<std::size_t>(numbers_bytes, correlation_numbers_bytes(factors, steps, precision));
}

std::size_t moves_cubes::needs::bytes_per_tile() const {
    return count * rows * pitch_of(1, precision) * bytes_of(real_type(precision));
}

moves_cubes::moves_cubes(device& on, const needs& most, std::uint64_t tiles)
    : on_(on), precision_(most.precision), pitch_(pitch_of(tiles, most.precision)) {
    const std::size_t bytes = most.rows * pitch_ * bytes_of(real_type(precision_));
    cubes_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        cubes_.push_back({device_memory(on, most.numbers_bytes), device_memory(on, bytes)});
    }
}

kernels::array_argument moves_cubes::make(std::size_t which, kernel correlate,
                                          const program::move_numbers& numbers,
                                          const kernels::array_argument& shocks, std::uint64_t first_row,
                                          std::uint64_t paths, stream s) {
    const cube& into = cubes_[which];
    const std::vector<std::byte> packed = correlation_numbers(numbers, precision_);
    on_.upload(into.numbers.as<std::byte>(), packed.data(), packed.size(), s);

    kernels::array_argument out{};
    out.first = into.moves.as<std::byte>();
    out.slot_stride = pitch_;
    out.step_stride = numbers.factors * pitch_;

    // A file may have more shocks a step than the trade reads. Each step is then a job of its own.
    const bool is_dense = shocks.step_stride == numbers.factors * shocks.slot_stride;
    const std::size_t steps_at_once = is_dense ? numbers.steps : 1;
    for (std::size_t step = 0; step < numbers.steps; step += steps_at_once) {
        correlation_job job;
        job.numbers =
            into.numbers.as<std::byte>() + correlation_numbers_bytes(numbers.factors, step, precision_);
        job.shocks =
            static_cast<const std::byte*>(shocks.first) +
            (first_row * shocks.slot_stride + step * shocks.step_stride) * bytes_of(shock_type(precision_));
        job.moves = into.moves.as<std::byte>() + step * out.step_stride * bytes_of(real_type(precision_));
        job.shock_pitch = shocks.slot_stride;
        job.move_pitch = pitch_;
        job.paths = paths;
        job.factors = numbers.factors;
        job.steps = steps_at_once;
        make_moves(on_, correlate, best_correlation_variant(numbers.factors), precision_, job, s);
    }
    return out;
}

}  // namespace tilewalk::cuda
