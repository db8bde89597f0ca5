// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): 128 random bits as a
// pure function of a 128-bit counter and a 64-bit key, for draws anywhere and in any order.
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels {

struct philox_block {
    word32 x0;
    word32 x1;
    word32 x2;
    word32 x3;
};

struct philox_key {
    word32 low;
    word32 high;
};

// The authors found that 7 rounds are the fewest to pass BigCrush, and recommend 10.
static constexpr int philox_rounds = 10, fewest_philox_rounds = 7;
static constexpr word32 philox_multiplier_0 = 0xD2511F53u;
static constexpr word32 philox_multiplier_1 = 0xCD9E8D57u;

static constexpr philox_key next_key(philox_key key) {
    return {key.low + 0x9E3779B9u, key.high + 0xBB67AE85u};
}

static constexpr philox_block philox_round(philox_block c, philox_key key) {
    const word64 p0 = wide_product(philox_multiplier_0, c.x0);
    const word64 p1 = wide_product(philox_multiplier_1, c.x2);
    return {word32(p1 >> 32) ^ c.x1 ^ key.low, word32(p1), word32(p0 >> 32) ^ c.x3 ^ key.high, word32(p0)};
}

// Rounds by recursion: GCC 12 vectorises a loop over paths only if it contains no loop over rounds.
template <int rounds = philox_rounds>
static constexpr philox_block philox(philox_block c, philox_key key) {
    const philox_block next = philox_round(c, key);
    if constexpr (rounds == 1) {
        return next;
    } else {
        return philox<rounds - 1>(next, next_key(key));
    }
}

// The keys of all rounds, made once for a launch: operands in constant memory, instead of work of each block.
struct philox_schedule {
    philox_key of[philox_rounds];
};

static constexpr philox_schedule schedule_of(word64 seed) {
    philox_schedule all{};
    philox_key key{word32(seed), word32(seed >> 32)};
    for (int round = 0; round < philox_rounds; ++round) {
        all.of[round] = key;
        key = next_key(key);
    }
    return all;
}

template <int rounds, int round>
static constexpr philox_block philox_with(philox_block c, const philox_schedule& keys) {
    if constexpr (round == rounds) {
        return c;
    } else {
        return philox_with<rounds, round + 1>(philox_round(c, keys.of[round]), keys);
    }
}

// The random numbers of a path. The key is the seed, or its schedule. The counter holds the path (40 bits), a
// block within it (24), the kind of numbers (2) and the stream's name (62). Threads of a warp share all of it
// but the path's lower word. No bits of the name are in the word that is multiplied first.
static constexpr int path_bits_of_counter = 40, block_bits_of_counter = 24;

// Kinds of numbers: normals and uniforms of paths, shifts of quasi-random points, seeds of other generators.
static constexpr word32 normal_stream = 0, uniform_stream = 1, shift_stream = 2, seed_stream = 3;

struct stream_key {
    word32 low = 0, high = 0;
};
static constexpr stream_key stream_key_of(word64 bits) {
    return {word32(bits) << 2, word32(bits >> 30)};
}

static constexpr word32 second_word(word64 path, stream_key name) {
    return (word32(path >> 32) & 3) | name.low;
}
static constexpr word32 third_word(word64 path, word32 kind) {
    return (kind << block_bits_of_counter) | (word32(path >> 34) << (block_bits_of_counter + 2));
}

template <int rounds = philox_rounds>
static constexpr philox_block path_block(word64 seed, word64 path, word32 block, word32 kind,
                                         stream_key name = {}) {
    return philox<rounds>({word32(path), second_word(path, name), block | third_word(path, kind), name.high},
                          {word32(seed), word32(seed >> 32)});
}

// The random blocks of one stream for path first + offset. `first` is a multiple of the thread's number of
// paths: no carry reaches the upper bits, and the thread's paths differ in one word only.
template <word32 kind, int rounds = philox_rounds>
class path_stream {
  public:
    constexpr path_stream() = default;
    constexpr path_stream(const philox_schedule& keys, word64 first, word32 offset, stream_key name = {})
        : keys_(&keys),
          path_(word32(first) | offset),
          second_(second_word(first, name)),
          third_(third_word(first, kind)),
          fourth_(name.high) {}

    constexpr philox_block operator[](word32 block) const {
        return philox_with<rounds, 0>({path_, second_, block | third_, fourth_}, *keys_);
    }

  private:
    const philox_schedule* keys_ = nullptr;
    word32 path_ = 0, second_ = 0, third_ = 0, fourth_ = 0;
};

// path_stream with fewer instructions, for three more registers. Half the products of the first two rounds
// depend on the path's lower word and name only, and are computed here. The others depend on the block and
// the path's upper bits: a GPU computes them once for a warp. On an H100 a path kernel in single gains 3 to 6
// %; one in double, which needs the registers, loses 3 %.
template <word32 kind, int rounds = philox_rounds>
class prepared_path_stream {
  public:
    constexpr prepared_path_stream() = default;
    constexpr prepared_path_stream(const philox_schedule& keys, word64 first, word32 offset,
                                   stream_key name = {})
        : keys_(&keys), second_(second_word(first, name) ^ keys.of[0].low), third_(third_word(first, kind)) {
        const word64 once = wide_product(philox_multiplier_0, word32(first) | offset);
        const word64 twice =
            wide_product(philox_multiplier_1, word32(once >> 32) ^ name.high ^ keys.of[0].high);
        x0_ = word32(twice >> 32) ^ keys.of[1].low;
        x1_ = word32(twice);
        x2_ = word32(once) ^ keys.of[1].high;
    }

    constexpr philox_block operator[](word32 block) const {
        const word64 once = wide_product(philox_multiplier_1, block | third_);
        const word64 twice = wide_product(philox_multiplier_0, word32(once >> 32) ^ second_);
        return philox_with<rounds, 2>({word32(once) ^ x0_, x1_, word32(twice >> 32) ^ x2_, word32(twice)},
                                      *keys_);
    }

  private:
    const philox_schedule* keys_ = nullptr;
    word32 second_ = 0, third_ = 0;
    word32 x0_ = 0, x1_ = 0, x2_ = 0;
};

}  // namespace tilewalk::kernels
