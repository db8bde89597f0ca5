// SPDX-License-Identifier: Apache-2.0
#include "engine/decide/seeds.h"

#include <algorithm>
#include <array>

#include "engine/base/mixed.h"
#include "kernels/philox.h"
#include "kernels/shocks.h"

namespace tilewalk::decide {

namespace {

std::uint64_t mixed_with(std::uint64_t seed, std::uint64_t word) {
    return run::mixed((seed ^ word) + run::golden);
}
// Makes a seed of the run's seed and a word of at most eight letters, which enters as two words of 32 bits.
std::uint64_t block_of(std::uint64_t seed, std::uint64_t word) {
    const auto high = static_cast<std::uint32_t>(word >> 32), low = static_cast<std::uint32_t>(word);
    return kernels::low_word(kernels::path_block(seed, 0, 0, kernels::shift_stream, {high, low}));
}
std::uint64_t sum_of(std::uint64_t seed, std::uint64_t word) {
    return seed + word;
}

// A purpose, and the way its seed is made. Three ways remain, so that results of earlier versions hold.
struct entry {
    purpose what;
    std::uint64_t (*way)(std::uint64_t seed, std::uint64_t word);
    std::uint64_t word;
};
constexpr std::array table{
    entry{purpose::points, block_of, 0x70696c6f'00000074},      // "pilo", "t"
    entry{purpose::controls, block_of, 0x636f6e74'00726f6c},    // "cont", "rol"
    entry{purpose::importance, block_of, 0x696d706f'00007274},  // "impo", "rt"
    entry{purpose::treatments, sum_of, run::golden},
    entry{purpose::training, mixed_with, 0x747261696e},         // "train"
    entry{purpose::bounds, mixed_with, 0x626f756e64},           // "bound"
    entry{purpose::nested_bounds, mixed_with, 0x6e6573746564},  // "nested"
};
constexpr std::uint64_t word_of_parts = 0x70617274, word_of_rounds = 0x726f756e64;  // "part", "round"

}  // namespace

std::span<const purpose> all_purposes() {
    static constexpr auto all = [] {
        std::array<purpose, table.size()> out{};
        std::ranges::transform(table, out.begin(), &entry::what);
        return out;
    }();
    return all;
}

std::uint64_t seed_for(std::uint64_t seed, purpose what) {
    const entry& of = *std::ranges::find(table, what, &entry::what);
    return of.way(seed, of.word);
}

std::uint64_t seed_of_part(std::uint64_t seed, std::uint64_t number) {
    return mixed_with(mixed_with(seed, word_of_parts), number);  // parts of near seeds differ
}

std::uint64_t seed_of_round(std::uint64_t seed, std::uint64_t paths) {
    return mixed_with(mixed_with(seed, word_of_rounds), paths);
}

}  // namespace tilewalk::decide
