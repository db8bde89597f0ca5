// SPDX-License-Identifier: Apache-2.0
// All random sources: each has a declaration and a line here, and a file of its own beside this one. Sources
// of cuRAND that differ only by a number share a file.
#include "engine/cuda/random/catalogue.h"

#include <array>
#include <string>
#include <vector>

#include "engine/config/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::random {

std::unique_ptr<random_source> open_philox(const opening& from);
std::unique_ptr<random_source> open_curand_philox(const opening& from);
std::unique_ptr<random_source> open_curand_xorwow(const opening& from);
std::unique_ptr<random_source> open_curand_mrg32k3a(const opening& from);
std::unique_ptr<random_source> open_curand_mt19937(const opening& from);
std::unique_ptr<random_source> open_curand_scrambled_sobol(const opening& from);

std::size_t no_scratch(std::uint64_t rows);
std::size_t curand_scratch(std::uint64_t rows);
std::size_t sobol_scratch(std::uint64_t rows);

std::span<const catalogue_entry> catalogue() {
    constexpr std::uint64_t any = ~std::uint64_t{0};
    static constexpr std::array entries{
        catalogue_entry{"philox", "Philox4x32-10, Tilewalk's own: the same bits on CPU and GPU", false, true,
                        false, any, no_scratch, open_philox},
        catalogue_entry{"curand_philox", "Philox4x32-10 of cuRAND", true, false, false, any, curand_scratch,
                        open_curand_philox},
        catalogue_entry{"curand_xorwow", "XORWOW of cuRAND, fast and the least random", true, false, false,
                        any, curand_scratch, open_curand_xorwow},
        catalogue_entry{"curand_mrg32k3a", "L'Ecuyer's MRG32k3a of cuRAND", true, false, false, any,
                        curand_scratch, open_curand_mrg32k3a},
        catalogue_entry{"curand_mt19937", "Mersenne Twister MT19937 of cuRAND", true, false, false, any,
                        curand_scratch, open_curand_mt19937},
        catalogue_entry{"curand_scrambled_sobol",
                        "scrambled Sobol points of cuRAND, shifted at random 32 times or more", true, false,
                        true, 20000, sobol_scratch, open_curand_scrambled_sobol},
    };
    return entries;
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

void check_normals(const catalogue_entry& source, std::uint64_t normals) {
    if (normals <= source.most_normals) return;
    throw error(error_kind::usage, "the random source '" + std::string(source.name) + "' has " +
                                       std::to_string(source.most_normals) +
                                       " normal shocks for a path, and this run takes " +
                                       std::to_string(normals));
}

}  // namespace tilewalk::random
