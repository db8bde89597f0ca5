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
    // Precisions that promise bits have no use for it: the CPU lacks it.
    bool is_for_single_fast = false;
    // Rounds of Philox by which paths make its numbers in registers, where they don't read them; 0: they
    // always do.
    int rounds = 0;
    // A number belongs to the name of what it moves; otherwise to its place among the shocks of a path, and
    // all trades of a run take the same.
    bool is_keyed = false;
    // The units of a run are sets of quasi-random points; estimate_of_units gives their standard error.
    bool is_quasi = false;
    // Shocks of a job are points of its own order of dimensions (engine/numerics/quasi/order.h).
    bool is_points = false;
    std::uint64_t most_normals = ~std::uint64_t{0};  // of a path
    // Bytes of device memory besides the cubes, including those of the source's library.
    std::size_t (*scratch_bytes)(std::uint64_t rows) = nullptr;
    std::unique_ptr<random_source> (*open)(const opening& from) = nullptr;
};

// All sources; the first is for trades without points.
std::span<const catalogue_entry> catalogue();

// The source, or, where that needs a GPU, the first in its place.
const catalogue_entry& on_any_device(const catalogue_entry& source);

enum class back_end { cpu, gpu };

// Throws tilewalk::error (usage) if there is no such source, or none for this back end.
const catalogue_entry& find(std::string_view name, back_end on);

// The source of points of our own.
const catalogue_entry& points();
// In place of a name: points for trades that gain by them, and the first source for others.
inline constexpr const char* chosen_by_pilot = "auto";

// The source of trades with points or without, in a run that takes `name`. Throws as find() does.
const catalogue_entry& source_of(std::string_view name, bool has_points, back_end on);

// Throws tilewalk::error (usage) if the source is for another precision.
void check_precision(const catalogue_entry& source, program::precision of);

// Throws tilewalk::error (usage) if a path takes more normals than the source has.
void check_normals(const catalogue_entry& source, std::uint64_t normals);

}  // namespace tilewalk::random
