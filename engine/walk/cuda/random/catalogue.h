// SPDX-License-Identifier: Apache-2.0
// The catalogue of random sources, which make the shocks of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/walk/cuda/random/random_source.h"
#include "products/program/precision.h"

namespace tilewalk::random {

struct catalogue_entry {
    std::string_view name;
    std::string_view summary;
    bool needs_gpu = true;
    // Not for precisions that promise bits, since the CPU lacks it.
    bool is_for_single_fast = false;
    // Rounds of Philox with which paths make its numbers in registers; 0: paths always read them.
    int rounds = 0;
    // Numbers belong to the name of what they move; otherwise to a place among a path's shocks.
    bool is_keyed = false;
    // A run's units are sets of quasi-random points; estimate_of_units gives their standard error.
    bool is_quasi = false;
    // A job's shocks are points of its own order of dimensions (engine/numerics/quasi/order.h).
    bool is_points = false;
    std::uint64_t most_normals = ~std::uint64_t{0};  // per path
    // Device memory besides the cubes, including that of a library.
    std::size_t (*scratch_bytes)(std::uint64_t rows) = nullptr;
    std::unique_ptr<random_source> (*open)(const opening& from) = nullptr;
};

// The first is for trades without points.
std::span<const catalogue_entry> catalogue();

// The source, or the first one if this needs a GPU.
const catalogue_entry& on_any_device(const catalogue_entry& source);

enum class back_end { cpu, gpu };

// Throws tilewalk::error (usage) for an unknown source, or one that this back end lacks.
const catalogue_entry& find(std::string_view name, back_end on);

const catalogue_entry& points();
// Chooses points for trades that gain by them, and the first source for others.
inline constexpr const char* chosen_by_pilot = "auto";

// The source of a trade in a run that takes `name`. Throws as find() does.
const catalogue_entry& source_of(std::string_view name, bool has_points, back_end on);

// Throws tilewalk::error (usage) if the source is for another precision.
void check_precision(const catalogue_entry& source, program::precision of);

// Throws tilewalk::error (usage) if a path takes more normals than the source has.
void check_normals(const catalogue_entry& source, std::uint64_t normals);

}  // namespace tilewalk::random
