// SPDX-License-Identifier: Apache-2.0
// Kernels that fill a cube of shocks in memory: with the numbers that paths would draw in registers, bit for
// bit, or from the random bits of another generator. A row of the cube has neighbouring paths.
#pragma once

#include "kernels/draws.h"
#include "kernels/feeds/feed.h"
#include "kernels/inversion.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// `stores` is a template argument that stores 16 bytes at once: wide_stores of kernels/ptx.h on a GPU.

// Rows of a cube, whole tiles wide. Memory and rows are aligned to 16 bytes, as every store requires.
struct cube_argument {
    void* first;
    word64 pitch;  // elements from row to row
    word64 rows;
    word64 paths;
};

static constexpr int fill_threads = 256;

template <class shock>
static constexpr int fill_width = 16 / int(sizeof(shock));

template <class shock>
static constexpr word64 fill_blocks_per_row(word64 paths) {
    return paths / word64(fill_threads * fill_width<shock>);
}

template <class shock>
static constexpr shock* place_of(const cube_argument& in, word64 row, word64 path) {
    return static_cast<shock*>(in.first) + row * in.pitch + path;
}

// The numbers of one stream, as a cube holds them: number n is in row n / dimensions * per_step + slots[n %
// dimensions], or in row n if slots is null.
struct draws_arguments {
    cube_argument into;
    word64 seed;
    word64 first_path;
    word64 numbers;
    stream_key name;
    word32 dimensions;
    word32 per_step;
    const word32* slots;
};

static constexpr word64 row_of_number(const draws_arguments& a, word64 number) {
    if (a.slots == nullptr) return number;
    return number / a.dimensions * a.per_step + a.slots[number % a.dimensions];
}

// A block of threads draws one block of random numbers for each of its paths. A thread takes as many paths as
// fit 16 bytes, and writes them to `per_block` rows.
template <class draws>
static constexpr word64 blocks_to_draw(const draws_arguments& a) {
    return (a.numbers + (draws::per_block - 1)) / draws::per_block *
           fill_blocks_per_row<typename draws::shock>(a.into.paths);
}

template <class draws, shock_kind kind, class stores>
static void draw_shocks(const draws_arguments& a, word64 block, int thread) {
    using shock = typename draws::shock;
    constexpr int width = fill_width<shock>;
    const word64 across = fill_blocks_per_row<shock>(a.into.paths);
    const word64 number = block / across;
    const word64 path = (block % across * fill_threads + word64(thread)) * width;
    typename draws::block made[unsigned(width)];
    for (int w = 0; w < width; ++w) {
        const word64 of = a.first_path + path + word64(w);
        if constexpr (kind == shock_kind::normal) {
            made[w] = draws::normals(a.seed, of, word32(number), a.name);
        } else {
            made[w] = draws::uniforms(a.seed, of, word32(number), a.name);
        }
    }
    for (int i = 0; i < draws::per_block; ++i) {
        const word64 in_stream = number * draws::per_block + word64(i);
        if (in_stream >= a.numbers) break;
        const word64 row = row_of_number(a, in_stream);
        neighbours<shock, width> x;
        for (int w = 0; w < width; ++w) x.x[w] = made[w].x[i];
        stores::store(place_of<shock>(a.into, row, path), x);
    }
}

// The digital shift of randomisation `unit`: bits to add without carry to dimension `row` of all its points.
static constexpr word64 digital_shift(word64 seed, word64 unit, word64 row) {
    return low_word(path_block(seed, unit, word32(row), shift_stream));
}

struct bits_arguments {
    cube_argument into;
    const void* bits;   // words [row][path], aligned like the cube
    word64 bits_pitch;  // words from row to row
    word64 seed;        // the members below are for quasi-random points
    word64 unit;
};

template <class shock>
static constexpr word64 blocks_to_convert(const cube_argument& into) {
    return into.rows * fill_blocks_per_row<shock>(into.paths);
}

// Converts pseudo-random words, which are as wide as the shocks that they become.
template <class shock, shock_kind kind, class stores>
static void convert_bits(const bits_arguments& a, word64 block, int thread) {
    constexpr int width = fill_width<shock>;
    using word = typename format<shock>::word;
    const word64 across = fill_blocks_per_row<shock>(a.into.paths);
    const word64 row = block / across;
    const word64 path = (block % across * fill_threads + word64(thread)) * width;
    const auto got = *reinterpret_cast<const neighbours<word, width>*>(static_cast<const word*>(a.bits) +
                                                                       row * a.bits_pitch + path);
    neighbours<shock, width> x;
    for (int w = 0; w < width; ++w) x.x[w] = shock_of_bits<kind>(got.x[w]);
    stores::store(place_of<shock>(a.into, row, path), x);
}

// Converts 64-bit coordinates of points to normals, after a digital shift. Single uses their leading bits.
template <class shock, class stores>
static void convert_points(const bits_arguments& a, word64 block, int thread) {
    constexpr int width = fill_width<shock>;
    using word = typename format<shock>::word;
    const word64 across = fill_blocks_per_row<shock>(a.into.paths);
    const word64 row = block / across;
    const word64 path = (block % across * fill_threads + word64(thread)) * width;
    const word64 shift = digital_shift(a.seed, a.unit, row);
    const word64* from = static_cast<const word64*>(a.bits) + row * a.bits_pitch + path;
    neighbours<shock, width> x;
    for (int w = 0; w < width; ++w) {
        x.x[w] = normal_of_bits(word((from[w] ^ shift) >> (64 - 8 * int(sizeof(word)))));
    }
    stores::store(place_of<shock>(a.into, row, path), x);
}

}  // namespace tilewalk::kernels
