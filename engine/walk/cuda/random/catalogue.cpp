// SPDX-License-Identifier: Apache-2.0
// A random source has a declaration and a line here, and a file. Some of cuRAND's sources share a file.
#include "engine/walk/cuda/random/catalogue.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::random {

std::unique_ptr<random_source> open_philox(const opening& from);
std::unique_ptr<random_source> open_philox_7(const opening& from);
std::unique_ptr<random_source> open_sobol(const opening& from);
std::unique_ptr<random_source> open_curand_philox(const opening& from);
std::unique_ptr<random_source> open_curand_xorwow(const opening& from);
std::unique_ptr<random_source> open_curand_mrg32k3a(const opening& from);
std::unique_ptr<random_source> open_curand_mt19937(const opening& from);
std::unique_ptr<random_source> open_curand_scrambled_sobol(const opening& from);

std::size_t no_scratch(std::uint64_t rows);
std::size_t points_scratch(std::uint64_t rows);
std::size_t curand_scratch(std::uint64_t rows);
std::size_t sobol_scratch(std::uint64_t rows);

std::span<const catalogue_entry> catalogue() {
    static constexpr std::array entries{
        catalogue_entry{.name = "philox",
                        .summary = "Philox4x32-10, Tilewalk's own: the same bits on CPU and GPU",
                        .needs_gpu = false,
                        .rounds = kernels::philox_rounds,
                        .is_keyed = true,
                        .scratch_bytes = no_scratch,
                        .open = open_philox},
        catalogue_entry{
            .name = "philox_7",
            .summary = "the same with the 7 rounds that pass BigCrush, faster, for single_fast alone",
            .is_for_single_fast = true,
            .rounds = kernels::fewest_philox_rounds,
            .is_keyed = true,
            .scratch_bytes = no_scratch,
            .open = open_philox_7},
        catalogue_entry{.name = "sobol",
                        .summary =
                            "Sobol points, scrambled, Tilewalk's own: the same bits on CPU and GPU, fewer "
                            "paths for the same digits",
                        .needs_gpu = false,
                        .is_keyed = true,
                        .is_quasi = true,
                        .is_points = true,
                        .scratch_bytes = points_scratch,
                        .open = open_sobol},
        catalogue_entry{.name = "curand_philox",
                        .summary = "Philox4x32-10 of cuRAND",
                        .scratch_bytes = curand_scratch,
                        .open = open_curand_philox},
        catalogue_entry{.name = "curand_xorwow",
                        .summary = "XORWOW of cuRAND, fast and the least random",
                        .scratch_bytes = curand_scratch,
                        .open = open_curand_xorwow},
        catalogue_entry{.name = "curand_mrg32k3a",
                        .summary = "L'Ecuyer's MRG32k3a of cuRAND",
                        .scratch_bytes = curand_scratch,
                        .open = open_curand_mrg32k3a},
        catalogue_entry{.name = "curand_mt19937",
                        .summary = "Mersenne Twister MT19937 of cuRAND",
                        .scratch_bytes = curand_scratch,
                        .open = open_curand_mt19937},
        catalogue_entry{.name = "curand_scrambled_sobol",
                        .summary = "scrambled Sobol points of cuRAND, shifted at random 32 times or more",
                        .is_quasi = true,
                        .most_normals = 20000,
                        .scratch_bytes = sobol_scratch,
                        .open = open_curand_scrambled_sobol},
    };
    return entries;
}

const catalogue_entry& on_any_device(const catalogue_entry& source) {
    return source.needs_gpu ? catalogue().front() : source;
}

const catalogue_entry& find(std::string_view name, back_end on) {
    std::vector<std::string> names;
    for (const auto& entry : catalogue()) {
        names.emplace_back(entry.name);
        if (entry.name != name) continue;
        if (entry.needs_gpu && on == back_end::cpu) {
            throw error(error_kind::usage,
                        "the random source '" + std::string(name) +
                            "' makes its numbers on a GPU, and this run is on the CPU; there it has '" +
                            std::string(catalogue().front().name) + "'");
        }
        return entry;
    }
    throw error(error_kind::usage, "there is no random source " + config::shown(name) +
                                       config::suggestion(name, names) + "; there are " +
                                       config::joined(names));
}

const catalogue_entry& points() {
    return *std::ranges::find_if(catalogue(), &catalogue_entry::is_points);
}

const catalogue_entry& source_of(std::string_view name, bool has_points, back_end on) {
    if (name != chosen_by_pilot) return find(name, on);
    return has_points ? points() : catalogue().front();
}

void check_precision(const catalogue_entry& source, program::precision of) {
    if (!source.is_for_single_fast || program::is_fast(of)) return;
    throw error(error_kind::usage, "the random source '" + std::string(source.name) +
                                       "' is for the precision single_fast alone, and this run's is " +
                                       std::string(program::name_of(of)) + "; for that there is '" +
                                       std::string(catalogue().front().name) + "'");
}

void check_normals(const catalogue_entry& source, std::uint64_t normals) {
    if (normals <= source.most_normals) return;
    throw error(error_kind::usage, "found " + std::to_string(normals) +
                                       " normal random numbers a path, expected at most the " +
                                       std::to_string(source.most_normals) + " of the random source '" +
                                       std::string(source.name) + "'");
}

}  // namespace tilewalk::random
