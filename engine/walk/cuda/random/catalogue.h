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
    // Allowed in single_fast only, since the CPU lacks the source and so can't reproduce its bits.
    bool is_for_single_fast = false;
    // Rounds of Philox by which path kernels draw the same numbers; 0: numbers can only be read from arrays.
    int rounds = 0;
    // Whether numbers belong to the name of what they drive, such as an asset, or else to a place on the
    // path.
    bool is_keyed = false;
    // Whether a run's units are sets of quasi-random points; estimate_of_units() gives the standard error.
    bool is_quasi = false;
    // Whether each job takes points in an order of dimensions of its own (engine/numerics/quasi/order.h).
    bool is_points = false;
    std::uint64_t most_normals = ~std::uint64_t{0};  // of a path
    // Device memory that the source needs for `rows` rows besides the cubes, including its library's.
    std::size_t (*scratch_bytes)(std::uint64_t rows) = nullptr;
    std::unique_ptr<random_source> (*open)(const opening& from) = nullptr;
};

// All sources. The first is the one for trades without points.
std::span<const catalogue_entry> catalogue();

// `source` itself, or the catalogue's first if it needs a GPU.
const catalogue_entry& on_any_device(const catalogue_entry& source);

enum class back_end { cpu, gpu };

// Throws tilewalk::error (usage) if the source is unknown, or if this back end lacks it.
const catalogue_entry& find(std::string_view name, back_end on);

const catalogue_entry& points();
// The setting by which trades that gain by points take them, and all others the first source.
inline constexpr const char* chosen_by_pilot = "auto";

// The source of one trade in a run whose setting is `name`. Throws as find() does.
const catalogue_entry& source_of(std::string_view name, bool has_points, back_end on);

// Throws tilewalk::error (usage) if the source does not allow the precision.
void check_precision(const catalogue_entry& source, program::precision of);

// Throws tilewalk::error (usage) if a path takes more normals than the source can make.
void check_normals(const catalogue_entry& source, std::uint64_t normals);

}  // namespace tilewalk::random
