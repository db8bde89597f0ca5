// SPDX-License-Identifier: Apache-2.0
// cuRAND's pseudo-random generators as sources: curand_philox, curand_xorwow, curand_mrg32k3a,
// curand_mt19937. A unit is its own stretch of cuRAND's sequence, row after row, `unit_paths` numbers a row.
// Every unit is made from its beginning, in calls of one fixed size, so that neither chunks nor the number of
// rows change a bit; then the chunk's part goes into the cube.
//
// - Philox, XORWOW and MRG32k3a skip ahead: each unit and kind of shock has 2^37 words of the seed's one
//   sequence. No two share a word, so a run is as random as one stretch of that sequence.
// - MT19937 can't skip: each unit and kind of shock starts from a 32-bit seed, all that cuRAND takes. Seeds
//   are a permutation of the units' numbers, so no two are equal; sequences of different seeds are stretches
//   of one cycle of 2^19937 - 1 numbers, which overlap with a chance of less than 2^-19800. Starting is slow,
//   so units are large.
//
// Our own functions turn cuRAND's bits into shocks: uniforms never reach 0 or 1, and no version of cuRAND
// changes the mathematics. The ordering is `legacy`, which cuRAND promises to keep for all versions and
// devices.
#include "engine/walk/cuda/random/curand.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "engine/walk/units.h"

namespace tilewalk::random {

namespace {

constexpr int legacy_ordering = 103;
constexpr std::uint64_t scratch_words_bytes = std::uint64_t{32} << 20;
// Most memory that cuRAND itself takes (with MT19937, 20 MB were seen).
constexpr std::uint64_t curand_bytes = std::uint64_t{32} << 20;
constexpr int sequence_bits = 37;
// Most rows of a unit: their numbers must fit into the 2^37 words that a unit has of the sequence.
constexpr std::uint64_t most_rows = std::uint64_t{1} << 20;

bool can_skip(curand_type type) {
    return type != curand_type::mt19937;
}

std::uint64_t unit_paths_of(curand_type type) {
    return can_skip(type) ? std::uint64_t{1} << 16 : std::uint64_t{1} << 20;
}

// A permutation of the 32-bit numbers, chosen by `seed`: four Feistel rounds on halves of 16 bits.
std::uint32_t permuted(std::uint32_t number, std::uint64_t seed) {
    std::uint32_t left = number >> 16, right = number & 0xffff;
    for (std::uint32_t round = 0; round < 4; ++round) {
        const auto mixed = kernels::path_block(seed, right, round, kernels::seed_stream).x0 & 0xffff;
        left = std::exchange(right, left ^ mixed);
    }
    return left << 16 | right;
}

class curand_source final : public random_source {
  public:
    curand_source(const opening& from, const curand_functions& functions, curand_type type)
        : from_(from), functions_(functions), type_(type), words_(from.on, scratch_words_bytes) {
        create();
    }

    void fill(const cube& into, std::uint64_t first_path, std::uint64_t paths, cuda::stream on) override {
        check_chunk(from_, into, first_path, paths);
        if (into.rows > most_rows) {
            throw error(error_kind::usage, "found " + std::to_string(into.rows) +
                                               " random numbers a path, expected at most the " +
                                               std::to_string(most_rows) + " of cuRAND's sources");
        }
        from_.on.free_bytes();  // makes the device current in this thread, as cuRAND requires
        run::for_each_piece(unit_paths(), first_path, paths,
                            [&](const run::unit_piece& piece) { fill_piece(into, piece, on); });
    }

    std::uint64_t unit_paths() const override { return unit_paths_of(type_); }

  private:
    void fill_piece(const cube& into, const run::unit_piece& piece, cuda::stream on) {
        start(piece.unit, into.kind, on);
        const std::uint64_t words_per_shock = arrays::bytes_of(from_.of) / sizeof(kernels::word32);
        const std::uint64_t rows_per_call = scratch_words_bytes / arrays::bytes_of(from_.of) / unit_paths();
        for (std::uint64_t row = 0; row < into.rows; row += rows_per_call) {
            generator_->call("curandGenerate", &curand_functions::curandGenerate, words_.as<unsigned int>(),
                             static_cast<std::size_t>(rows_per_call * unit_paths() * words_per_shock));
            bits_block made;
            made.first_row = row;
            made.rows = std::min(rows_per_call, into.rows - row);
            made.at = piece.at;
            made.paths = piece.paths;
            made.bits = words_.as<const std::byte>() + piece.from * arrays::bytes_of(from_.of);
            made.pitch = unit_paths();
            convert_bits(from_, into, made, on);
        }
    }

    void create() {
        generator_.emplace(functions_, static_cast<int>(type_));
        generator_->call("curandSetGeneratorOrdering", &curand_functions::curandSetGeneratorOrdering,
                         legacy_ordering);
    }

    void start(std::uint64_t unit, shock_kind kind, cuda::stream on) {
        const std::uint64_t sequence = 2 * unit + (kind == shock_kind::uniform ? 1 : 0);
        if (sequence >> (can_skip(type_) ? 64 - sequence_bits : 32) != 0) {
            throw error(error_kind::usage, "the run has more paths than cuRAND has numbers for: at most " +
                                               std::to_string(most_paths()));
        }
        // A new generator, because setting an unchanged seed does not rewind MT19937 (seen with cuRAND 10.4).
        if (!can_skip(type_)) create();
        generator_->call("curandSetStream", &curand_functions::curandSetStream,
                         reinterpret_cast<void*>(static_cast<std::uintptr_t>(on)));
        generator_->call(
            "curandSetPseudoRandomGeneratorSeed", &curand_functions::curandSetPseudoRandomGeneratorSeed,
            static_cast<unsigned long long>(
                can_skip(type_) ? from_.seed : permuted(static_cast<std::uint32_t>(sequence), from_.seed)));
        if (!can_skip(type_)) return;
        generator_->call("curandSetGeneratorOffset", &curand_functions::curandSetGeneratorOffset,
                         static_cast<unsigned long long>(sequence << sequence_bits));
    }

    std::uint64_t most_paths() const {
        return unit_paths() << ((can_skip(type_) ? 64 - sequence_bits : 32) - 1);
    }

    opening from_;
    const curand_functions& functions_;
    curand_type type_;
    cuda::device_memory words_;
    std::optional<curand_generator> generator_;
};

}  // namespace

std::unique_ptr<random_source> open_curand_source(const opening& from, const curand_functions& functions,
                                                  curand_type type) {
    return std::make_unique<curand_source>(from, functions, type);
}

std::size_t curand_scratch(std::uint64_t) {
    return scratch_words_bytes + curand_bytes;
}

std::unique_ptr<random_source> open_curand_philox(const opening& from) {
    return open_curand_source(from, curand_of_machine(), curand_type::philox);
}
std::unique_ptr<random_source> open_curand_xorwow(const opening& from) {
    return open_curand_source(from, curand_of_machine(), curand_type::xorwow);
}
std::unique_ptr<random_source> open_curand_mrg32k3a(const opening& from) {
    return open_curand_source(from, curand_of_machine(), curand_type::mrg32k3a);
}
std::unique_ptr<random_source> open_curand_mt19937(const opening& from) {
    return open_curand_source(from, curand_of_machine(), curand_type::mt19937);
}

}  // namespace tilewalk::random
