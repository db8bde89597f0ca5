// SPDX-License-Identifier: Apache-2.0
// Moves of correlated factors: a drift plus a triangular matrix (root) times shocks. Computed ahead of the
// paths, from a cube of shocks. For every step, factor i and path
//     move = drift[i];  for j = 0, 1, ... i in turn: move = fma(shock[j], root[i][j], move).
// Every kernel of this folder keeps this order, so it gives the bits of the product inside the path kernel.
//
// Each kernel is a class whose object is one thread:
//
//     template <class shock, class real, ...>
//     class NAME {
//       public:
//         static constexpr int threads;        // of a block
//         static constexpr int rows, paths;    // factors and paths whose moves a block makes
//         struct shared;                       // memory of a block
//         static constexpr word32 shared_bytes;
//         NAME(const arguments& a, word32 block, int thread);
//         int stages() const;                  // the same number for all threads of a block
//         void fetch(int stage, shared& s) const;      // barriers stand before and after
//         void use(int stage, const shared& s);
//         void finish() const;                 // after the last stage
//     };
#pragma once

#include "kernels/arithmetic.h"

namespace tilewalk::kernels::correlation {

// Arguments of a launch, with the same layout on host and device. Row step * factors + i of a cube holds
// shock (or move) i of the step, by path; rows are shock_pitch (or move_pitch) elements apart. `numbers` has
// for each step the drifts by factor, then the roots row by row, with i + 1 roots in row i.
struct arguments {
    const void* numbers;
    const void* shocks;
    void* moves;
    word64 shock_pitch;
    word64 move_pitch;
    word64 paths;
    word32 factors;
    word32 unused;
};

static constexpr word64 roots_before(word64 row) {
    return row * (row + 1) / 2;
}
static constexpr word64 numbers_per_step(word64 factors) {
    return factors + roots_before(factors);
}

template <class shock, class real>
struct step_arrays {
    const real* drifts;
    const real* roots;
    const shock* shocks;
    real* moves;

    static constexpr step_arrays of(const arguments& a, word64 step) {
        const real* numbers = static_cast<const real*>(a.numbers) + step * numbers_per_step(a.factors);
        const word64 row = step * a.factors;
        return {numbers, numbers + a.factors, static_cast<const shock*>(a.shocks) + row * a.shock_pitch,
                static_cast<real*>(a.moves) + row * a.move_pitch};
    }
    constexpr real root(int i, int j) const { return roots[roots_before(word64(i)) + word64(j)]; }
};

// Blocks of one step, along the factors and in all, if each makes moves of `rows` factors for `paths` paths.
static constexpr word64 row_tiles(const arguments& a, int rows) {
    return (a.factors + word64(rows) - 1) / word64(rows);
}
static constexpr word64 blocks_per_step(const arguments& a, int rows, int paths) {
    return row_tiles(a, rows) * ((a.paths + word64(paths) - 1) / word64(paths));
}

struct block_task {
    word64 step;
    int first_row;
    word64 first_path;
};

// Neighbouring blocks work on the same paths, so find their shocks in the cache. Blocks of the last factors,
// whose sums are longest, go first.
static constexpr block_task task_of(const arguments& a, word32 block, int rows, int paths) {
    const word64 row_count = row_tiles(a, rows);
    const word64 path_count = blocks_per_step(a, rows, paths) / row_count;
    const word64 paths_and_step = block / row_count;
    return {paths_and_step / path_count, int(row_count - 1 - block % row_count) * rows,
            paths_and_step % path_count * word64(paths)};
}

}  // namespace tilewalk::kernels::correlation
